"""JSON Schemas against the readers: what one rejects for its structure, the other does too."""

import json
import random
import re
import shutil
from copy import deepcopy
from pathlib import Path

import jsonschema
import pytest
import yaml

import workflows
from basepar_core.errors import FileError
from basepar_core.files import library_names, library_path, loads
from basepar_core.reduction import CRITERIA
from cluster.errors import ProfileError
from cluster.profile import load_profile
from sweeps.spec import Reduction, parse_family
from sweeps.spec.sweep_keys import REDUCTION
from tests.keys.schema import FOLDER, schemas, text
from tests.keys.tables import pages
from workflows.jobs import KINDS, schema_file, with_schema
from workflows.studies.families import parse_studies

ROOT = Path(workflows.__file__).parent
DOCS = Path(__file__).parents[1] / "docs"
MALFORMED = yaml.safe_load((Path(__file__).parent / "fixtures/malformed.yaml").read_text("utf-8"))
CHECKS = {
    kind: jsonschema.Draft7Validator(json.loads(schema_file(kind).read_text("utf-8")))
    for kind in KINDS
}
SHIPPED = {
    "mechanism": [library_path(name) for name in library_names()]
    + [ROOT / "reproduce" / "identification-mechanism.yaml"]
    + sorted((ROOT / "examples" / "mechanisms").glob("*.yaml")),
    "sweep": sorted((ROOT / "examples" / "sweeps").glob("*.yaml")),
    "study": sorted((ROOT / "examples" / "studies").glob("*.yaml")),
}
FILES = [(kind, path) for kind, paths in SHIPPED.items() for path in paths]
BLOCKS = re.compile(r"^```yaml\n(.*?)^```$", re.DOTALL | re.MULTILINE)
#: Words of a reader's message about structure: which keys, what kind of value, how many.
STRUCTURE = re.compile(
    r"unknown|missing|where .* expected|expected, not|is expected|are expected|is needed"
    r"|needs `axis`|leave it out|^no [a-z ]+ '.*' \(|no such value|no sampler|give all inertia"
    r"|give one of them|one of them$|; expected: |moment of inertia, about z"
    r"|gravity is a vector|a symbol (is|has)|a law of a coordinate|either rows or a file"
    r"|a variable is|at least one"
)
#: Messages that match and are about something else: they need other parts of the file, or the
#: value of an expression, and a schema knows neither.
MEANING = {
    "the name of something else": r"^coordinate '.*' is missing|no body is named",
    "the size of an expression": r"where something positive|something positive is expected",
    "the inside of an expression or unit": r"^Position |but .* is expected here",
    "the inside of an address": r"tls:// needs it",
    "a metric, which a program may have registered": r"known are torque_rms",
    "a symbol of the mechanism": r"is needed, unless|has no symbol|only symbols of `geometry`",
}


def plain(node):
    """A YAML tree as JSON has it, by the rules of YAML 1.2, which editors follow."""
    if isinstance(node, yaml.MappingNode):
        return {key.value: plain(value) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [plain(item) for item in node.value]
    if node.style or not re.fullmatch(r"true|false|null|~|[-+0-9.eE]*[0-9.]|", node.value):
        return node.value
    try:
        return {"": None, "~": None}.get(node.value, json.loads(node.value or "null"))
    except ValueError:  # +5, .5: a number there, and none in JSON; our schemas take both
        return node.value


def tree(source):
    return plain(yaml.compose(source, Loader=yaml.BaseLoader))


def mistakes(kind, source, folder):
    """Messages of the reader."""
    place = folder / f"{kind}.yaml"
    try:
        match kind:
            case "mechanism":
                loads(source, str(place))
            case "sweep":
                parse_family(source, str(place))
            case "study":
                parse_studies(source, str(place))
            case "profile":
                place.write_text(source, encoding="utf-8")
                load_profile(place)
    except (FileError, ProfileError) as error:
        return [one.message for one in error.mistakes]
    return []


def is_structural(message):
    other = any(re.search(pattern, message) for pattern in MEANING.values())
    return bool(STRUCTURE.search(message)) and not other


@pytest.mark.parametrize(("kind", "path"), FILES, ids=lambda one: getattr(one, "stem", one))
def test_shipped_files_are_valid_and_name_their_schema(kind, path):
    source = path.read_text(encoding="utf-8")
    CHECKS[kind].validate(tree(source))
    first = source.splitlines()[0]
    assert first.startswith("# yaml-language-server: $schema=")
    assert (path.parent / first.partition("=")[2]).resolve() == schema_file(kind).resolve()


def documented(page, kind):
    """Whole files of a kind in a page."""
    blocks = BLOCKS.findall((DOCS / page).read_text(encoding="utf-8"))
    return [(kind, block) for block in blocks if "…" not in block]


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        *(one for one in documented("mechanism-files.md", "mechanism") if "bodies:" in one[1]),
        *(one for one in documented("sweep-files.md", "sweep") if "mechanism" in one[1]),
        *(one for one in documented("study-files.md", "study") if "objectives:" in one[1]),
        *documented("profiles.md", "profile"),
    ],
)
def test_documented_files_are_valid(kind, source):
    CHECKS[kind].validate(tree(source))


@pytest.mark.parametrize("base", MALFORMED["good"])
def test_good_files_are_valid(base):
    CHECKS["mechanism"].validate(tree(MALFORMED["good"][base]))


def changed(case):
    source = MALFORMED["good"][case["base"]]
    for old, new in case["replace"]:
        source = source.replace(old, new, 1)
    return source


@pytest.mark.parametrize("case", MALFORMED["cases"], ids=lambda case: case["name"])
def test_structural_mistakes_are_invalid(case, tmp_path):
    source = changed(case)
    found = [one for one in mistakes("mechanism", source, tmp_path) if is_structural(one)]
    try:
        instance = tree(source)
    except (yaml.YAMLError, TypeError):
        return  # no YAML, or a list as a key, is no instance of anything
    if found:
        assert not CHECKS["mechanism"].is_valid(instance), found


def mutations(whole):
    """Every structural change of a tree that one step makes: (what, path, what stands there)."""

    def paths(node, path=()):
        yield path, node
        if isinstance(node, dict | list):
            alike = range(min(2, len(node)))  # of a list's items, which are alike, the first two
            for key in node if isinstance(node, dict) else alike:
                yield from paths(node[key], (*path, key))

    for path, node in paths(whole):
        steps = {"other": [[1], {"zzz": 1}, "word", 7, "", True, [], {}] if path else []}
        if isinstance(node, dict):
            steps["without"] = [{k: v for k, v in node.items() if k != one} for one in node]
            steps["misspelt"] = [
                {f"{k}q" if k == one else k: v for k, v in node.items()} for one in node
            ]
            steps["further"] = [{**node, "zzz": 1}]
        if isinstance(node, list) and node:
            steps["shorter"], steps["longer"] = [node[:-1]], [[*node, node[-1]]]
        for what, values in steps.items():
            for value in values:
                yield what, path, value


def mutated(whole, path, value):
    """The tree with a value at a path."""
    if not path:
        return value
    new = deepcopy(whole)
    node = new
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    return new


PROFILES = [block for _, block in documented("profiles.md", "profile")]
MUTATED = [
    *((kind, tree(path.read_text(encoding="utf-8"))) for kind, path in FILES),
    *(("mechanism", tree(good)) for good in MALFORMED["good"].values()),
    *(("profile", tree(block)) for block in PROFILES),
]


#: Mutations drawn, of all of all files of a kind.
DRAWN = [
    *(("mechanism", 25), ("sweep", 40), ("study", 40), ("profile", 150)),
    *(
        pytest.param(kind, count, marks=pytest.mark.slow)
        for kind, count in (("mechanism", 400), ("sweep", 120), ("study", 120))
    ),
]


@pytest.mark.parametrize(("kind", "count"), DRAWN)
@pytest.mark.filterwarnings("ignore")
def test_schema_and_reader_agree_on_mutations(kind, count, tmp_path):
    every = [(whole, one) for of, whole in MUTATED if of == kind for one in mutations(whole)]
    shutil.copytree(ROOT / "examples" / "mechanisms", tmp_path / "mechanisms")
    (place := tmp_path / "place").mkdir()
    drawn = random.Random(f"{kind} {count}").sample(every, count)
    disagreements, rejected = [], 0
    for whole, (what, path, value) in drawn:
        instance = mutated(whole, path, value)
        what = f"{what} at {path}: {str(value)[:60]}"
        found = mistakes(kind, json.dumps(instance, ensure_ascii=False), place)
        valid = CHECKS[kind].is_valid(instance)
        structural = [one for one in found if is_structural(one)]
        rejected += bool(structural)
        if valid and structural:
            disagreements.append(f"valid, and rejected: {what}: {structural[0]}")
        if not valid and not found:
            disagreements.append(f"invalid, and accepted: {what}")
    assert not disagreements, "\n".join(disagreements)
    assert count / 2 < rejected < count  # most of them, and some are accepted


def test_schemas_and_tables_are_current():
    wanted = {FOLDER / f"{kind}.json": text(schema) for kind, schema in schemas().items()}
    for place, one in (wanted | pages()).items():
        assert place.read_text(encoding="utf-8") == one, f"{place}: python -m tests.keys --write"
    assert set(wanted) == set(FOLDER.iterdir())


def test_keys_of_a_reduction_are_its_fields():
    assert set(REDUCTION.names) == set(Reduction.__dataclass_fields__)
    assert all(one in REDUCTION.keys[0].what for one in CRITERIA)


def test_a_file_names_one_schema(tmp_path):
    once = with_schema("name: x\n", "mechanism", tmp_path)
    assert with_schema(once, "mechanism", tmp_path) == once
    address, rest = once.removeprefix("# yaml-language-server: $schema=").split("\n", 1)
    assert rest == "name: x\n"
    assert (tmp_path / address).resolve() == schema_file("mechanism").resolve()
    assert not Path(address).is_absolute()
