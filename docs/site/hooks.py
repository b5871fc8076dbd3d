"""Pages of the site that are made from the program, and formulas as MathML.

mkdocs calls the functions named on_…: commands come from the parsers, mechanisms, sweeps and
studies from the shipped files, films from `basepar animate`. Nothing is written into docs/.
"""

import argparse
import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File, Files

TOP = Path(__file__).parents[2]
#: Films are kept here between builds, by what they show and what makes them.
FILMS = TOP / "build" / "films"
#: Files beside docs/ that are pages too.
BESIDE = {
    name: f"{name.lower()}"
    for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md")
}
#: What the theme would load: the search of pages that no server sends.
SHIM = "https://unpkg.com/iframe-worker/shim"
PAGE = ".md"
#: Folders of shipped files, the site's folder for them, and what one is called.
SHIPPED = {
    "basepar_core/library": ("library", "mechanism"),
    "workflows/examples/sweeps": ("sweeps", "sweep"),
    "workflows/examples/studies": ("studies", "study"),
}


def on_config(config: Any) -> Any:
    """A choice of versions where `mike` puts them beside each other; pages alone have none."""
    if "MIKE_DOCS_VERSION" in os.environ:
        config.extra["version"] = {"provider": "mike"}
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages and films."""
    for page, text in (*_beside(), *_commands(), *_shipped()):
        files.append(File.generated(config, page, content=text))
    for path in sorted((TOP / "basepar_core/library").glob("*.yaml")):
        film = File.generated(config, f"films/{path.stem}.svg", content=_film(path))
        files.append(film)
    shim = (TOP / "docs/site/iframe-worker.js").read_text(encoding="utf-8")
    files.append(File.generated(config, "assets/iframe-worker.js", content=shim))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Links that lead out of docs/ lead to their pages."""
    up = "../" * page.file.src_uri.count("/")
    for name, target in BESIDE.items():
        markdown = re.sub(rf"\]\((\.\./)+{name}", f"]({up}{target}", markdown)
    for folder, (place, _) in SHIPPED.items():
        markdown = re.sub(
            rf"\]\((?:\.\./)+{folder}/([\w-]+)\.yaml\)", rf"]({up}{place}/\1{PAGE})", markdown
        )
        markdown = re.sub(rf"\]\((?:\.\./)+{folder}/?\)", f"]({up}{place}/index.md)", markdown)
    return markdown


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """Formulas as MathML, which browsers draw without a script."""

    def drawn(found: re.Match[str]) -> str:
        text = re.sub(r"&lt;", "<", re.sub(r"&gt;", ">", re.sub(r"&amp;", "&", found[2])))
        return convert(text, display="block" if found[1] == "[" else "inline")

    if "arithmatex" not in html:
        return html
    return re.sub(r"\\([\[(])(.*?)\\[\])]", drawn, html, flags=re.DOTALL)


def on_post_page(output: str, page: Any, config: Any) -> str:
    """The theme's one address elsewhere, which search needs without a server, comes along."""
    return output.replace(SHIM, "../" * page.file.dest_uri.count("/") + "assets/iframe-worker.js")


def on_post_template(output: str, template_name: str, config: Any) -> str:
    """The same of the page that says that a page is not there."""
    return output.replace(SHIM, "/assets/iframe-worker.js")


def _beside() -> Iterator[tuple[str, str]]:
    for name, page in BESIDE.items():
        text = re.sub(r"\]\(docs/", "](", (TOP / name).read_text(encoding="utf-8"))
        for other, target in BESIDE.items():
            text = text.replace(f"]({other}", f"]({target}")
        yield page, text


def _commands() -> Iterator[tuple[str, str]]:
    """A page per command, from the parsers, and an index."""
    from workflows.cli.main import MODULES, parser

    grammar = next(one for one in parser()._actions if isinstance(one.choices, dict)).choices
    rows = ["| command | does |", "|---|---|"]
    for command in (one for module in MODULES for one in module.COMMANDS):
        yield f"commands/{command.name}.md", _command(command, grammar[command.name])
        rows.append(f"| [`{command.name}`]({command.name}.md) | {_cell(command.summary)} |")
    said = (
        "Every command has `--help` with an example and `--json` for programs "
        "([what programs read](../json.md))."
    )
    yield "commands/index.md", "\n".join(["# Commands", "", said, "", *rows, ""])


def _command(command: Any, parser: argparse.ArgumentParser) -> str:
    summary = f"{command.summary[:1].upper()}{command.summary[1:]}."
    body = command.description.strip().removeprefix(summary).strip()
    lines = [f"# basepar {command.name}", "", summary, "", body, ""]
    lines += ["```console", f"$ {command.example}", "```", ""]
    lines += ["| argument | meaning |", "|---|---|"]
    for action in parser._actions:
        if action.help == argparse.SUPPRESS:
            continue
        flags = ", ".join(f"`{flag}`" for flag in action.option_strings)
        takes = action.metavar or (
            " \\| ".join(map(str, action.choices)) if action.choices else ""
        )
        name = f"{flags} {f'`{takes}`' if takes else ''}" if flags else f"`{action.dest}`"
        lines.append(f"| {name} | {_cell(action.help or '')} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """A help text as a cell of a table."""
    text = text.replace("%%", "%").replace("\n", " ")
    return re.sub(r"([|*<_])", r"\\\1", text)


def _shipped() -> Iterator[tuple[str, str]]:
    """A page per shipped file, and an index of each folder."""
    import yaml

    for folder, (place, kind) in SHIPPED.items():
        names = sorted((TOP / folder).glob("*.yaml"))
        films = kind == "mechanism"
        cards = []
        for path in names:
            text = path.read_text(encoding="utf-8")
            said = " ".join(str(yaml.safe_load(text).get("description", "")).split())
            film = f"![{path.stem}, moving](../films/{path.stem}.svg)" if films else ""
            run = f"`basepar {'show' if films else kind} {path.stem}`"
            lines = [f"# {path.stem}", "", film, "", said, "", run, "", "```yaml", text, "```", ""]
            yield f"{place}/{path.stem}.md", "\n".join(lines)
            shown = f"[![{path.stem}](../films/{path.stem}.svg)]({path.stem}.md)" if films else ""
            cards.append(f"- {shown}\n\n    **[{path.stem}]({path.stem}.md)**\n\n    {said}\n")
        title = {"mechanism": "Gallery", "sweep": "Shipped sweeps", "study": "Shipped studies"}[
            kind
        ]
        head = f'# {title}\n\n<div class="cards" markdown>\n\n' if films else f"# {title}\n\n"
        yield f"{place}/index.md", head + "\n".join(cards) + ("\n</div>\n" if films else "")


def _film(path: Path) -> str:
    """A mechanism moving, as SVG."""
    makers = sorted((TOP / "workflows/moving").glob("*.*"))
    known = hashlib.sha256(b"".join(one.read_bytes() for one in (path, *makers))).hexdigest()
    kept = FILMS / f"{path.stem}-{known[:12]}.svg"
    if not kept.exists():
        from basepar_core.api import load
        from basepar_core.dynamics import prepare
        from workflows import moving

        kept.parent.mkdir(parents=True, exist_ok=True)
        moving.write(moving.film(prepare(load(path.stem))), kept, None)
    return kept.read_text(encoding="utf-8")
