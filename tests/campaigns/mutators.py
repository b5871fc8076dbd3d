"""Mutations of files: of bytes, of lines, of words, and of what the file says (YAML, JSON, XML).

Everything is drawn from the generator that is passed in: a seed names a mutation for good.
"""

import contextlib
import json
import random
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import yaml
from lxml import etree

from basepar_core.certificate.checker.checking import digest

#: In the place of a value: extremes, wrong kinds, units, and what other languages would run.
EXTREMES = (
    "1e400", "-1e400", "1e300", "-1e300", "1e-400", "1e-300", "-0", "0", "-1", "nan", "inf",
    "-inf", "1e999999999", "1e-999999999", "9" * 400, "0." + "0" * 400 + "1", "1/0", "1/3",
    "1_000", "0x10", "2^2^2^2^2", "2^0.5", "(-1)^(1/2)", "9^9^9", "lx1^99999", "sqrt(-1)",
    "sqrt(1e300)", "tan(90 deg)", "(" * 3000 + "1" + ")" * 3000, "1" + "+1" * 3000,
    "-" * 3000 + "1", "sin(" * 500 + "1" + ")" * 500, "1 m", "1 kg", "3 deg", "1 rad/s", "1 m^99",
    "1 Hz", "60 rpm", "5 m/0 s", "1 e", "", " ", "~", "null", "true", "false", "yes", "[]", "{}",
    "a", "ground", "ẞ", "ﬀ", "x" * 100_000, "１２", "٣", "0.1", "²", "\u202e1", "\U0001f600",
    "é" * 300, "\x00", "\x7f", "1000000000000", "1e12", "1e18", "9223372036854775808",
    "-9223372036854775809", "2147483648", "1,5", "1;5", "1 2", "+1", "--1", ".", "e", "1e", "1e+",
    "1:30", "2026-11-22", "0b1", "0o7", "*a", "&a 1", "!!python/object:os.system x", "<<",
    "../../etc/passwd", "/dev/null", "file.csv", "min()", "max(1)", "abs(1, 2)", "a.b", "J.1",
    "A.viscous", "stroke(D)", "stroke()", "{a: {a: {a: 1}}}", "tls://[x]:8786",
    "tls://host:99999999", "tcp://[::1]:8786", "1e400 GB", "1 GB GB", "-4 GB", "nan GB",
)  # fmt: skip
#: Words that mean something somewhere, put where they do not belong.
WORDS = (
    "revolute", "prismatic", "spherical", "universal", "cylindrical", "planar", "fixed",
    "floating", "fourier", "states", "data", "sines", "constant_speed", "rest_to_rest", "sobol",
    "grid", "table", "product", "chain", "tpe", "nsga2", "cmaes", "slurm", "ssh", "kubernetes",
    "laptop", "address", "numeric", "precise", "auto", "none", "torque_rms", "condition",
    "minimize", "theorem", "proved", "free", "ball", "hinge", "slide", "continuous", "mesh",
    "world", "rank", "margin", "mass",
)  # fmt: skip

#: Values that a file may well have, so that more than its reading is tried.
MILD = ("0", "1", "2", "3", "-1", "0.5", "-0.25", "1e-9", "1e-20", "1e9", "1e30", "100", "7/3")

Mutation = Callable[[random.Random, bytes], bytes]


def extreme(rng: random.Random) -> str:
    """A value that no file should have where it lands."""
    if rng.random() < 0.02:
        return "7" * 100_000
    if rng.random() < 0.3:
        return rng.choice(MILD)
    return rng.choice(EXTREMES if rng.random() < 0.8 else WORDS)


# Bytes


def flipped(rng: random.Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 4, 30))):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def spliced(rng: random.Random, content: bytes) -> bytes:
    """A stretch deleted, doubled, moved, or replaced by noise."""
    start = rng.randrange(len(content) + 1)
    stop = min(len(content), start + rng.choice((1, 1, 2, 8, 60, 400)))
    part = content[start:stop]
    where = rng.randrange(len(content) + 1)
    match rng.randrange(4):
        case 0:
            return content[:start] + content[stop:]
        case 1:
            return content[:start] + part * rng.choice((2, 2, 3, 200)) + content[stop:]
        case 2:
            return content[:where] + part + content[where:]
    return content[:start] + rng.randbytes(len(part)) + content[stop:]


def truncated(rng: random.Random, content: bytes) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def recoded(rng: random.Random, content: bytes) -> bytes:
    """Another encoding, NUL bytes, a byte order mark, other ends of lines."""
    text = content.decode(errors="replace")
    ways: tuple[Callable[[], bytes], ...] = (
        lambda: text.encode("utf-16"),
        lambda: text.encode("utf-32-le"),
        lambda: text.replace("a", "ä").encode("latin-1", "replace"),
        lambda: b"\xef\xbb\xbf" + content,
        lambda: b"\xef\xbb\xbf" * 3 + content,
        lambda: content.replace(b"\n", b"\r\n"),
        lambda: content.replace(b"\n", b"\r"),
        lambda: text.replace("\n", "\u2028").encode(),
        lambda: content.replace(b" ", b"\t"),
        lambda: content.replace(b" ", "\u00a0".encode()),
        lambda: content + b"\x00" * rng.choice((1, 1000)),
        lambda: content.replace(b"1", b"\x00", 1),
        lambda: content + b"\xff\xfe",
        lambda: b"",
        lambda: b"\n" * 5000,
        lambda: content * rng.choice((2, 3)),
        lambda: b"\x1b[2J" + content,
    )
    return rng.choice(ways)()


# Lines and words


def relined(rng: random.Random, content: bytes) -> bytes:
    lines = content.split(b"\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(6):
        case 0:
            lines[i], lines[j] = lines[j], lines[i]
        case 1:
            lines.insert(j, lines[i])
        case 2:
            del lines[min(i, j) : max(i, j) + 1 if rng.random() < 0.3 else min(i, j) + 1]
        case 3:
            lines[i] = rng.choice((b"  ", b" ", b"\t")) + lines[i]
        case 4:
            lines[i] = lines[i].lstrip()
        case 5:
            lines[i:i] = [lines[i]] * rng.choice((10, 3000))
    return b"\n".join(lines)


def reworded(rng: random.Random, content: bytes) -> bytes:
    """A word or number replaced by an extreme, or two of them exchanged."""
    text = content.decode(errors="replace")
    numbers = rng.random() < 0.5
    found = list(re.finditer(r"-?\d[\d.]*(?:e-?\d+)?" if numbers else r"[A-Za-z_]\w*", text))
    if not found:
        return spliced(rng, content)
    one = rng.choice(found)
    new = extreme(rng) if rng.random() < 0.7 else rng.choice(found)[0]
    return (text[: one.start()] + new + text[one.end() :]).encode(errors="replace")


def renumbered(rng: random.Random, content: bytes) -> bytes:
    """Some numbers replaced by what a file may well have: what is read has to be computed."""
    text = content.decode(errors="replace")
    for _ in range(rng.choice((1, 1, 2, 4))):
        found = list(re.finditer(r"(?<![\w.])\d[\d.]*(?:e-?\d+)?", text))
        if found:
            one = rng.choice(found)
            text = text[: one.start()] + rng.choice(MILD).lstrip("-") + text[one.end() :]
    return text.encode(errors="replace")


# Trees


def _places(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    if isinstance(tree, dict | list):
        for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
            found += _places(value, (*path, key))
    return found


def _leaves(tree: Any) -> Iterator[Any]:
    if isinstance(tree, dict | list):
        for value in tree.values() if isinstance(tree, dict) else tree:
            yield from _leaves(value)
    else:
        yield tree


def _deep(rng: random.Random, value: Any) -> Any:
    for _ in range(rng.choice((3, 14, 90))):  # what the writers of trees can write
        value = [value] if rng.random() < 0.5 else {"a": value}
    return value


def changed(rng: random.Random, tree: Any) -> Any:
    """A tree with one place changed."""
    tree = deepcopy(tree)
    places = _places(tree)
    if not places:
        return extreme(rng)
    path = rng.choice(places)
    parent, key = tree, path[-1]
    for step in path[:-1]:
        parent = parent[step]
    value = parent[key]
    match rng.randrange(12):
        case 0:
            del parent[key]
        case 1 if isinstance(parent, dict):
            new = extreme(rng)
            renamed = {(new if name == key else name): x for name, x in parent.items()}
            parent.clear()
            parent.update(renamed)
        case 2 if isinstance(parent, list):
            parent[key:key] = [value] * rng.choice((1, 5, 2000))
        case 3:
            parent[key] = [value]
        case 4:
            parent[key] = {"a": value}
        case 5:
            parent[key] = _deep(rng, value)
        case 6:
            source: Any = tree
            for step in rng.choice(places):
                source = source[step]
            parent[key] = deepcopy(source)
        case 7:
            parent[key] = rng.choice(([], {}, "", None, True, 0, -1, 1.5, 10**30))
        case 8 if isinstance(value, list):
            rng.shuffle(value)
        case 9 if isinstance(value, dict) and value:
            parent[key] = list(value.values())
        case 10 if isinstance(parent, dict):
            parent[rng.choice(WORDS)] = deepcopy(value)
        case _:
            parent[key] = extreme(rng)
    return tree


class _Dumper(yaml.SafeDumper):
    """Writes what occurs twice twice; anchors come from `EXTREMES`."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def of_yaml(rng: random.Random, content: bytes) -> bytes:
    tree = yaml.load(content, Loader=yaml.BaseLoader)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        tree = changed(rng, tree)
    if sum(len(str(one)) for one in _leaves(tree)) > 2_000_000:
        raise ValueError("a tree that takes minutes to write tries only what writes it")
    plain = rng.random() < 0.25
    text = yaml.dump(
        tree, Dumper=_Dumper, allow_unicode=True, sort_keys=False, default_flow_style=None
    )
    text = text.replace("'", "") if plain else text
    return text.encode(errors="replace")


def of_json(rng: random.Random, content: bytes) -> bytes:
    tree = json.loads(content)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        tree = changed(rng, tree)
    if isinstance(tree, dict) and "digest" in tree and rng.random() < 0.8:
        tree["digest"] = digest(tree)  # mathematics has to reject it
    text = json.dumps(tree, ensure_ascii=rng.random() < 0.5)
    if rng.random() < 0.1:  # numbers as JSON has them, and as Python also reads
        text = re.sub(r'"(-?\d+(?:\.\d+)?)"', r"\1", text)
    if rng.random() < 0.1:
        found = list(re.finditer(r": (\"[^\"]*\"|\d+)", text))
        one = rng.choice(found)
        bare = rng.choice(("NaN", "Infinity", "1e400", "-0", "9" * 5000, "[" * 10_000, "tru"))
        text = f"{text[: one.start()]}: {bare}{text[one.end() :]}"
    return text.encode(errors="replace")


def of_xml(rng: random.Random, content: bytes) -> bytes:
    root = etree.fromstring(content)
    for _ in range(rng.choice((1, 1, 2, 4))):
        elements = [one for one in root.iter() if isinstance(one.tag, str)]
        one = rng.choice(elements)
        if one.attrib and rng.random() < 0.7:
            key = rng.choice(sorted(one.attrib))
            texts = one.attrib[key].split()
            if len(texts) > 1 and rng.random() < 0.6:
                texts[rng.randrange(len(texts))] = extreme(rng)
                new = " ".join(texts)
            else:
                new = extreme(rng)
            match rng.randrange(8):
                case 0:
                    del one.attrib[key]
                case 1:
                    one.attrib["axis"] = one.attrib[key]
                case _:
                    one.attrib[key] = "".join(c for c in new if c.isprintable())
            continue
        above = one.getparent()
        match rng.randrange(5):
            case 0 if above is not None:
                above.remove(one)
            case 1:
                one.append(deepcopy(rng.choice(elements)))
            case 2:
                one.tag = rng.choice(("link", "joint", "inertial", "body", "geom", "mimic", "x"))
            case 3:
                one.text = extreme(rng).replace("\x00", "").replace("\x7f", "")
            case 4 if above is not None:
                above.append(deepcopy(one))
    return etree.tostring(root)


def of_csv(rng: random.Random, content: bytes) -> bytes:
    rows = [line.split(",") for line in content.decode().splitlines()]
    for _ in range(rng.choice((1, 1, 1, 3, 30))):
        row = rng.randrange(len(rows)) if rng.random() < 0.75 else 0
        column = rng.randrange(len(rows[0]))
        match rng.randrange(8):
            case 0:
                del rows[row][rng.randrange(len(rows[row])) if rows[row] else 0 : column + 1]
            case 1:
                rows[row].append(extreme(rng))
            case 2:
                value = extreme(rng)  # a whole column
                rows[1:] = [[*r[:column], value, *r[column + 1 :]] for r in rows[1:]]
            case 3:
                scale = rng.choice((0.0, -1.0, 1e300, 1e-300, 1e154, 1e200, float("nan")))
                rows[1:] = [_scaled(r, column, scale) for r in rows[1:]]
            case 4:
                rng.shuffle(rows)
            case 5:
                del rows[rng.choice((1, 2, 5, 9, 20, len(rows))) :]
            case _:
                if column < len(rows[row]):
                    rows[row][column] = extreme(rng)
        if not rows or not rows[0]:
            break
    return "\n".join(map(",".join, rows)).encode(errors="replace")


def _scaled(row: list[str], column: int, scale: float) -> list[str]:
    try:
        return [*row[:column], repr(float(row[column]) * scale), *row[column + 1 :]]
    except (ValueError, IndexError):
        return row


TREES: dict[str, Mutation] = {
    "yaml": of_yaml,
    "json": of_json,
    "xml": of_xml,
    "csv": of_csv,
}
UNFIT = (yaml.YAMLError, ValueError, etree.LxmlError, RecursionError, IndexError)
PLAIN: tuple[Mutation, ...] = (flipped, spliced, truncated, recoded, relined, reworded, reworded)


def mutated(rng: random.Random, content: bytes, language: str) -> bytes:
    """A mutation: of numbers, of what the file says, or of how it is written."""
    share = rng.random()
    if share < 0.4:
        return renumbered(rng, content)
    if share < 0.8:
        # What an earlier mutation left may be no tree any more, or none that can be written.
        with contextlib.suppress(*UNFIT):
            return TREES[language](rng, content)
    return rng.choice(PLAIN)(rng, content)
