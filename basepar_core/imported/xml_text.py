"""XML from anyone: parsed without a document type, entities or network."""

from typing import Any

from basepar_core.errors import Mistake


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
    try:
        root = etree.fromstring(text, parser)
    except etree.XMLSyntaxError as error:
        return Mistake("", f"is not XML: {error.msg}", error.lineno)
    if root.getroottree().docinfo.doctype:
        return Mistake("", "has a document type (<!DOCTYPE …>); remove it and its entities")
    return root
