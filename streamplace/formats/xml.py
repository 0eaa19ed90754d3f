"""Parser of XML without DTDs and entities, so that nothing is fetched or expanded."""

import re
from xml.etree.ElementTree import Element, ParseError

import defusedxml.ElementTree
from defusedxml import DefusedXmlException

from streamplace.errors import FormatError

BEFORE_ROOT = r"\A(?:\s|<\?.*?\?>|<!--.*?-->|<!(?!--)[^>]*>|\]>)*+<(?:\w+:)?"
"""What a document has before the name of its root."""


def root_pattern(name: str) -> re.Pattern[str]:
    """Return the beginning of a document whose root has a name, in any namespace."""
    return re.compile(BEFORE_ROOT + name + r"(?=[\s/>])", re.DOTALL)


def parse_xml(text: str, where: str, kind: str = "") -> Element:
    """Return the root of an XML document.

    Parameters
    ----------
    kind
        The name that the root must have, without its namespace; empty: any name.

    Raises
    ------
    FormatError
        If the text is not XML, has a DTD, entities or references outside the document, or its root
        has another name.
    """
    try:
        root: Element = defusedxml.ElementTree.fromstring(text, forbid_dtd=True)
    except ParseError as error:
        raise FormatError(f"{where}: not XML: {' '.join(str(error).split())}") from None
    except DefusedXmlException:
        raise FormatError(f"{where}: has a DTD or entities, which are not allowed") from None
    except (LookupError, ValueError) as error:  # an unknown encoding
        raise FormatError(f"{where}: not XML: {' '.join(str(error).split())}") from None
    if kind and kind_of(root) != kind:
        article = "an" if kind[0] in "aeiou" else "a"
        raise FormatError(f"{where}: must be {article} <{kind}> (got <{kind_of(root):.40}>)")
    return root


def kind_of(element: Element) -> str:
    """Return an element's name without its namespace."""
    return element.tag.rpartition("}")[2]


def inside(element: Element, *path: str) -> list[Element]:
    """Return the descendants at a path of element names, in any namespace."""
    found = [element]
    for name in path:
        found = [child for parent in found for child in parent if kind_of(child) == name]
    return found


def attribute(element: Element, name: str, where: str) -> str:
    """Return a required attribute.

    Raises
    ------
    FormatError
        If it is missing or empty.
    """
    value = element.get(name)
    if not value:
        raise FormatError(f"{where}: <{kind_of(element):.40}>: missing attribute {name!r}")
    return value
