"""Every program and every command of a page runs, in order, in one empty folder."""

import pytest

import basepar
from workflows.cli.main import main

from .blocks import DOCS, blocks, pages

#: Seconds each; the others are read in the tests of every day.
PAGES = [
    pytest.param(page, id=str(page.relative_to(DOCS)), marks=pytest.mark.slow)
    for page in pages()
    if any(b.language in ("python", "console") and not b.why for b in blocks(page))
]


@pytest.mark.parametrize("page", PAGES)
def test_blocks_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for block in blocks(page):
        if block.title:
            (tmp_path / block.title).write_text(block.text, encoding="utf-8")
        if block.why:
            continue
        if block.given:
            small(block.given)
        if block.language == "python":
            code = compile("\n" * block.line + block.text, str(page), "exec")
            exec(code, names)
        for words in block.commands:
            status = main(words)
            said = capsys.readouterr()
            assert status == 0, f"{page.name}:{block.line}: basepar {' '.join(words)}\n{said.err}"


def small(store):
    """A store of some variants of the four-bar, with β."""
    space = {"plan": "sobol", "candidates": 16, "variables": {"lx1": [0.2, 0.6]}}
    evaluate, path = {"beta": True}, {"path": store}
    basepar.sweep(
        {"mechanism": "four-bar", "space": space, "evaluate": evaluate, "store": path}, workers=1
    )
