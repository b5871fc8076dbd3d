"""XML from anyone: parsed without a document type, entities or network."""

import re
from typing import Any

from basepar_core.errors import Mistake

#: A declaration with what stands before it; parsers of robots' files read on over blank lines and
#: versions that there are not, XML's own do not.
_DECLARATION = re.compile(rb"""(\s*)<\?xml\b[^>]*?(encoding=["'][\w.-]+["'])?\s*\?>""")


def parse(text: bytes) -> Any | Mistake:
    """The root of a document, or what is wrong with it.

    A document type could name files and define entities that grow without bound; robots' files
    have none, so any is rejected. (lxml bounds the growth, and reads no file, before it is seen.)
    """
    from lxml import etree

    parser = etree.XMLParser(
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        remove_comments=True,
        remove_pis=True,
    )
    if found := _DECLARATION.match(text):
        lines = b"\n" * found[0].count(b"\n")
        text = b'<?xml version="1.0" %s?>' % (found[2] or b"") + lines + text[found.end() :]
    try:
        root = etree.fromstring(text, parser)
    except etree.XMLSyntaxError as error:
        return Mistake(
            "", f"is not XML, as URDF, SDF and MJCF files are: {error.msg}", error.lineno
        )
    if root.getroottree().docinfo.doctype:
        return Mistake("", "has a document type (<!DOCTYPE …>); remove it and its entities")
    return root
