"""Every writer of texts from files, as a function of one text, with the judge of what it wrote.

`WRITERS` maps a name to `faults(text, folder)`: what is wrong, an empty list where nothing is.
"""

import io
import json
import os
import re
import shlex
from contextlib import redirect_stderr
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import yaml

from basepar_core.api import load
from basepar_core.base.symbolic_route import symbolic
from basepar_core.dynamics.closure import prepare
from basepar_core.errors import BaseparError, FileError
from basepar_core.files import yaml_nodes as yaml_text
from basepar_core.files.mechanism_file import loads
from basepar_core.imported.draft import WORLD, Connection, Draft, End, Inertia, Link
from basepar_core.imported.text import mechanism_text
from basepar_core.texts import quoting
from basepar_core.torque_code.program import torque_program
from cluster.dry_run import preview
from cluster.places import Keys, Kubernetes, Slurm, problems
from cluster.slurm import job_script
from workflows.cli import main
from workflows.drawing import mechanism as drawing
from workflows.export.base import export, latex_name
from workflows.export.torque_code import write
from workflows.report import html, mathml, page, svg
from workflows.reproduce import comparison
from workflows.views import base, mechanisms, store, terminal

from . import hostile

PLAIN = "harmless"


@cache
def four_bar():
    model = prepare(load("four-bar"))
    return model, symbolic(model, exact=False)


@cache
def base_code(name, form):
    return export(replace(four_bar()[1], mechanism=name), form)


@cache
def torque_code(name, form):
    model = replace(four_bar()[0], mechanism=replace(four_bar()[0].mechanism, name=name))
    return write(torque_program(model, range(12)), np.ones(12), form, [name, f"of {name}"])


def base_python(text, folder):
    made, plain = base_code(text, "python"), base_code(PLAIN, "python")
    return hostile.python_faults(made, text, plain, PLAIN)


def base_c(text, folder):
    return hostile.c_faults(base_code(text, "c"), base_code(PLAIN, "c"))


def torque_python(text, folder):
    made, plain = torque_code(text, "python"), torque_code(PLAIN, "python")
    return hostile.python_faults(made, text, plain, PLAIN)


def torque_c(text, folder):
    return hostile.c_faults(torque_code(text, "c"), torque_code(PLAIN, "c"))


def latex_text(text, folder):
    return hostile.latex_faults(quoting.latex(text))


def latex_label(text, folder):
    """A body's name, as a store may hold it."""
    made = latex_name(f"{text or 'x'}.mx")
    before, after = r"mx_{\mathrm{", "}}"
    if not (made.startswith(before) and made.endswith(after)):
        return [f"{made!r}"]
    return hostile.latex_faults(made[len(before) : -len(after)])


def csv_numbers(text, folder):
    def table(word):
        number = comparison.Number(word, word, word, word, comparison.Verdict.AGREES, word)
        one = comparison.Table(word, word, (number,))
        path = comparison.write_numbers(SimpleNamespace(tables=(one,)), folder / "numbers.csv")
        with path.open(newline="", encoding="utf-8") as file:
            return file.read().replace("\r\n", "\n")

    return hostile.csv_faults(table(text), table(PLAIN))


def yaml_scalar(text, folder):
    read = yaml.safe_load(f"- {quoting.yaml_word(text)}\n- {{a: {quoting.yaml_word(text)}}}\n")
    return [] if read == [text, {"a": text}] else [f"read back as {read!r}"]


def imported(text, folder):
    """A robot whose name, notes and links are hostile: the file has one meaning and reads."""
    axis = End((0, 0, 0), (0, 0, 1), (1, 0, 0))
    body = Link(text or "x", Inertia(1, (0, 0, 0), (1, 0, 0, 1, 0, 1)))
    joint = Connection(text or "x", "revolute", (WORLD, text or "x"), (axis, axis))
    draft = Draft(text, "URDF", (0, 0, -9), links=[body], connections=[joint])
    draft.notes, draft.dropped = [text], [text]
    made = mechanism_text(draft, 1.0)
    mechanism = loads(made)
    keys = ["name", "space", "gravity", "bodies", "joints", "coordinates", "assembly"]
    found = list(yaml.load(made, yaml.BaseLoader))
    faults = [] if found == [*keys, "excitation"] else [f"keys {found}"]
    seen = " ".join(quoting.visible(" ".join(text.split())).split())[:100].strip() or "unnamed"
    return faults + ([] if mechanism.name == seen else [f"named {mechanism.name!r}"])


@cache
def fragment(word):
    """What pages are made of, with a word wherever one may stand."""
    columns = [html.Column(word), html.Column(word, True)]
    found = SimpleNamespace(
        status={"versions": {"basepar": word}, "spec_hash": word, "title": word}
    )
    body = html.joined(
        [
            html.table(word, columns, [[word, word]], group=word),
            html.facts([(word, word)]),
            html.folded(word, html.paragraph(word, "hint")),
            html.with_unit(word, word),
            mathml.expression(f"!{word}"),
            mathml.nonzero(f"!{word}"),
            mathml.parameter(f"{word}.mx"),
            mathml.term(f"!{word}", f"{word}.mx"),
            html.Markup('<script type="application/json">{}</script>').format(
                html.Markup(quoting.script_json({word: [word]}))
            ),
        ]
    )
    parts = [html.Section("part", word, body)]
    return page.text(found, parts, header=html.paragraph(word), title=word)


def report(text, folder):
    # Titles of a page may be empty; what an empty text leaves out is no fault.
    return hostile.html_faults(fragment(text or " "), fragment(PLAIN)) + hostile.unseen_faults(
        fragment(text), "\n\t\u2061\u2062\u200b"
    )


@cache
def figure():
    from matplotlib.figure import Figure

    return Figure(figsize=(2, 1))


def plots(text, folder):
    """A figure's words and its label, as a page shows them."""

    def drawn(word):
        figure().clear()
        figure().text(0.1, 0.5, svg.plain(word), gid=svg.saying(word))
        return str(svg.embedded(figure(), word, "plot", 100))

    root = ElementTree.fromstring(drawn(text))
    shown = [e.text for e in root.iter("text")]
    twin = re.sub("[^\n]+", PLAIN, text)  # every line of a text is an element
    faults = hostile.html_faults(drawn(text), drawn(twin)) if text.strip() else []
    spelled = quoting.visible(text, "\n").translate({0x27E6: "[", 0x27E7: "]"})  # plots' own
    if text.strip() and "\n" not in text and shown != [spelled]:
        faults.append(f"shown as {shown}")
    return faults


def printed(text, show):
    """What a command prints, in a pipe and in a terminal with colours."""
    faults = []
    for colours in (False, True):
        file = io.StringIO()
        console = terminal._Plain(file=file, force_terminal=colours, width=100_000)
        before, terminal.out = terminal.out, console
        try:
            show()
        finally:
            terminal.out = before
        made = file.getvalue()
        if colours:  # ours; a text's own would be missing below, where it must be spelled
            made = re.sub("\x1b\\[[0-9;]*m", "", made)
        faults += hostile.unseen_faults(made, "\n")
        spelled = quoting.lines(text).strip().split("\n")
        missing = [line for line in spelled if line.expandtabs() not in made.expandtabs()]
        faults += [f"not shown: {line!r}" for line in missing if "\t" not in line]
    return faults


@cache
def shown_four_bar():
    return mechanisms.document(four_bar()[0])


def terminal_show(text, folder):
    document = {**shown_four_bar(), "mechanism": text, "description": text}
    return printed(text, lambda: mechanisms.show(document))


def terminal_base(text, folder):
    document = {**four_bar()[1].document(), "mechanism": text, "doubt": text or "x"}
    return printed(text, lambda: base.show(document))


def messages(text, folder):
    file = io.StringIO()
    with redirect_stderr(file):
        main._report(BaseparError(text), False)
    return hostile.unseen_faults(file.getvalue(), "\n\t")


def json_documents(text, folder):
    made = quoting.json_text({text: [text]})
    faults = [] if json.loads(made) == {text: [text]} else ["read back otherwise"]
    return faults + hostile.unseen_faults(made, "\n")


def shell_word(text, folder):
    if "\0" in text or "\ud800" in text or len(text) > 200:
        return []  # no word of a command line can hold it
    said = hostile.bash(f"printf '%s' {quoting.shell(text)}", folder)
    faults = [] if said == text else [f"bash reads {said!r}"]
    return faults + hostile.unseen_faults(quoting.shell(text), "")


def hints(text, folder):
    """What to type next, of a store with a hostile name."""
    if "\0" in text or "\ud800" in text or len(text) > 200:
        return []
    file = io.StringIO()
    before, terminal.out = terminal.out, terminal._Plain(file=file, width=80)
    try:
        own = replace(four_bar()[0].mechanism, name="no-such-mechanism")
        store.show_next_steps({"store": text or "x", "counts": {}}, own)
    finally:
        terminal.out = before
    line = next(line for line in file.getvalue().splitlines() if " report " in line)
    word = line.split(" report ", 1)[1]
    said = hostile.bash(f"printf '%s' {word}", folder)
    return [] if os.path.abspath(said) == os.path.abspath(text or "x") else [f"typed {said!r}"]


def slurm_script(text, folder):
    """The job's own words, run by bash with printf in the worker's place."""
    if not text or len(text) > 200:
        return []
    keys = Keys(*(f"/keys {text}/{name}.pem" for name in ("a", "b", "c")))
    place = Slurm(workers=1, python=f"/opt/{text}/python")
    if list(problems(place)):
        return []  # refused before anything is written
    script = job_script(place, "basepar-1", "tls://here:1", keys)
    body = [line for line in script.splitlines() if not line.startswith("#SBATCH")]
    run = "\n".join(body).replace("\nexec ", "\nprintf '%s\\0' ", 1)
    words = hostile.bash(run, folder).split("\0")
    options = [line for line in script.splitlines() if line.startswith("#SBATCH --output")]
    read = shlex.split(options[0].removeprefix("#SBATCH "))
    wanted = f"--output=/keys {text}/%A_%a.log".replace(text, text.replace("%", "%%"), 1)
    faults = [] if words[0] == f"/opt/{text}/python" else [f"started {words[0]!r}"]
    faults += [] if keys.key in words else ["other keys"]
    expected = str(Path(wanted.removeprefix("--output=")))
    return faults + ([] if read == [f"--output={expected}"] else [f"output {read}"])


def kubernetes(text, folder):
    place = Kubernetes(image="i", workers=1, python=text)
    if list(problems(place)):
        return []
    read = list(yaml.safe_load_all(preview(place)))
    command = read[0]["spec"]["template"]["spec"]["containers"][0]["command"]
    wanted = text.replace("$(", "$$(")
    return [] if command[0] == wanted and len(read) == 4 else [f"{command}"]


def drawings(text, folder):
    model, _ = four_bar()
    named = replace(model, mechanism=replace(model.mechanism, name=text))
    title = drawing.figure_of(named).axes[0].title
    title.figure.canvas.draw()
    return [] if "$" not in title.get_text().replace(r"\$", "") else ["a formula"]


def reading(text, folder):
    """A file's name is read as it is, or refused in words that can be printed."""
    source = load("four-bar").source.replace(
        "name: four-bar", f'name: "{quoting.python_text(text)}"', 1
    )
    try:
        name = loads(source).name
    except FileError as error:
        return [] if str(error) else ["no reason"]
    if name != text.strip():
        return [f"read as {name!r}"]
    return hostile.unseen_faults(name, "\u200b") + (["long"] if len(name) > 100 else [])


def yaml_nodes(text, folder):
    node, mistakes = yaml_text.read(f'{{a: "{quoting.python_text(text)}"}}')
    good = not mistakes and node is not None and node.entries["a"].value == text
    return [] if good or mistakes else ["read otherwise"]


WRITERS = {
    one.__name__: one
    for one in (
        base_python,
        base_c,
        torque_python,
        torque_c,
        latex_text,
        latex_label,
        csv_numbers,
        yaml_scalar,
        imported,
        report,
        plots,
        terminal_show,
        terminal_base,
        messages,
        json_documents,
        shell_word,
        hints,
        slurm_script,
        kubernetes,
        reading,
        yaml_nodes,
    )
}
