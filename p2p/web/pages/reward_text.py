"""Formulas and sources of rewards as HTML that a page can hold."""

from functools import cache
from html import unescape
from xml.etree.ElementTree import Element, tostring

from latex2mathml.converter import convert_to_element
from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

LONGEST_FORMULA = 4000
"""Characters; a longer one is shown as it was written."""
ELEMENTS = frozenset(
    (
        "math",
        "mrow",
        "mi",
        "mn",
        "mo",
        "ms",
        "mtext",
        "mspace",
        "mfrac",
        "msqrt",
        "mroot",
        "mstyle",
        "merror",
        "mpadded",
        "mphantom",
        "mfenced",
        "menclose",
        "msub",
        "msup",
        "msubsup",
        "munder",
        "mover",
        "munderover",
        "mmultiscripts",
        "mprescripts",
        "none",
        "mtable",
        "mtr",
        "mtd",
    )
)
ATTRIBUTES = frozenset(
    (
        "display",
        "displaystyle",
        "scriptlevel",
        "mathvariant",
        "stretchy",
        "fence",
        "form",
        "separator",
        "accent",
        "accentunder",
        "movablelimits",
        "largeop",
        "symmetric",
        "minsize",
        "maxsize",
        "lspace",
        "rspace",
        "width",
        "height",
        "depth",
        "voffset",
        "linethickness",
        "columnalign",
        "rowalign",
        "columnspacing",
        "rowspacing",
        "columnlines",
        "rowlines",
        "notation",
        "xmlns",
    )
)


def formula(latex: str) -> Markup:
    """A formula as MathML; one that is no LaTeX, or draws more than a formula, is shown as it was written.

    Models write these: the converter escapes nothing, and knows links and styles.
    """
    as_written = Markup("<code>{}</code>").format(latex)
    if not latex or len(latex) > LONGEST_FORMULA:
        return as_written
    try:
        math = convert_to_element(latex, display="block")
    except Exception:  # the converter raises whatever its parser runs into
        return as_written
    if not all(_is_of_a_formula(element) for element in math.iter()):
        return as_written
    for element in math.iter():  # it writes signs as references, which are escaped when the whole is
        element.text = unescape(element.text) if element.text else element.text
        element.tail = unescape(element.tail) if element.tail else element.tail
    return Markup(tostring(math, encoding="unicode"))


def highlighted(source: str) -> Markup:
    """Python with a class for each kind of word."""
    return Markup(highlight(source, PythonLexer(stripnl=False), _formatter()))


def _is_of_a_formula(element: Element) -> bool:
    return element.tag in ELEMENTS and ATTRIBUTES.issuperset(element.attrib)


@cache
def _formatter() -> HtmlFormatter:
    return HtmlFormatter(nowrap=True, classprefix="py-")
