"""What stands around exported formulas in their files: templates, in Python and in C."""

from collections.abc import Mapping
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from basepar_core.texts import c_comment, python_comment, python_text


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader(__package__, "."),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    texts = (c_comment, python_comment, python_text, repr)
    made.filters |= {one.__name__: one for one in texts}
    return made


def filled(name: str, facts: Mapping[str, object]) -> str:
    """A file's text without its last line end.

    Texts of a mechanism's file go through a filter of the language: any letter may be in them.
    """
    return _environment().get_template(f"{name}.jinja").render(facts)
