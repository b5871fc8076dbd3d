"""A page: one HTML file that loads nothing, and runs only what its policy names.

A content security policy in the page forbids every request, and every script but those that the
page was made with, each by its digest. What they show they read from data that are no program.
"""

import base64
import hashlib
from collections.abc import Sequence
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from basepar_core.texts import script_json, visible

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
#: Line ends, and what formulas and plots need: products and calls without a sign, empty spans.
_UNSEEN_OF_OURS = "\n\t\u2061\u2062\u200b"


def text_beside(package: str, name: str) -> str:
    """A style sheet or a script that stands beside a package's modules."""
    return (resources.files(package) / name).read_text(encoding="utf-8")


def page(
    version: str,
    title: str,
    style: str,
    body: Markup,
    scripts: Sequence[str] = (),
    asks: bool = False,
) -> str:
    """A whole page.

    Parameters
    ----------
    version
        Of the program that made what is shown.
    title
        Of its window.
    style
        Its style sheet; the palette goes before it.
    body
        With its scripts where they belong (`script`).
    scripts
        All that may run.
    asks
        Whether it may ask whoever served it for more; nobody else in any case.
    """
    policy = _POLICY
    if scripts:
        digests = [hashlib.sha256(_marked(text).encode()).digest() for text in scripts]
        allowed = [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]
        policy = f"{policy}; script-src {' '.join(allowed)}"
    if asks:
        policy += "; connect-src 'self'"
    loader = PackageLoader(__package__, ".")
    shell = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    whole = shell.get_template("shell.html").render(
        policy=policy,
        version=version,
        title=title,
        style=Markup(text_beside(__package__, "palette.css") + style),
        body=body,
    )
    return visible(whole, _UNSEEN_OF_OURS)


def script(text: str) -> Markup:
    """A script's element; it runs where the page names its text."""
    return Markup("<script>{}</script>").format(Markup(_marked(text)))


def _marked(text: str) -> str:
    """A script so that a page is XML too, whose readers forgive nothing."""
    return f"//<![CDATA[\n{text}\n//]]>"


def data(name: str, document: Any) -> Markup:
    """What scripts read, by its id; never a program, whatever is in it.

    A document that is Markup is its own JSON, as `script_json` made it.
    """
    text = document if isinstance(document, Markup) else script_json(document)
    return Markup('<script type="application/json" id="{}">{}</script>').format(name, Markup(text))
