"""Fill in templates; measured, logged or typed text goes through `data` and is never read as an instruction."""

import re
import unicodedata
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, TemplateNotFound

from p2p.contracts.env import parts_in_words
from p2p.contracts.errors import UnknownName
from p2p.contracts.intent import score_in_words

MAX_DATA = 20_000
"""Characters of one piece of data, about 7,000 tokens."""
DATA = """<data name="{name}">
{text}
</data>"""
INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn")
"""Unicode's categories of what nobody sees: control characters, marks of direction, private characters."""
TAG = re.compile(r"<(?=\s*/?\s*data\b)", re.IGNORECASE)


def render(name: str, /, **values: object) -> str:
    """Render the template `name`.md.j2.

    Templates have the filters `data("name")` for text that nobody vouches for, and `number` for measured values; the
    partials `environment.md.j2` and `features.md.j2` read `env`, and `criteria.md.j2` reads `intent`.

    Args:
        name: Of the template, without its endings.
        values: What it speaks of; one that it names and does not get is an error.

    Raises:
        UnknownName: there is no such template.
    """
    templates = _templates()
    try:
        template = templates.get_template(f"{name}.md.j2")
    except TemplateNotFound as error:
        known = [found.removesuffix(".md.j2") for found in templates.list_templates(extensions=["j2"])]
        raise UnknownName("prompt", name, known) from error
    return template.render(**values).strip() + "\n"


def data(text: object, name: str = "data", most: int = MAX_DATA) -> str:
    """Mark a text as data: strip invisible characters, cut what is too long, escape tags.

    Args:
        text: What was measured, logged, or written by somebody else.
        name: What it is, in a word.
        most: Characters that are kept; the middle of a longer text is left out.
    """
    return DATA.format(name=re.sub(r"[^\w.-]", "_", name), text=TAG.sub("&lt;", clip(plain(str(text)), most)))


def plain(text: str) -> str:
    """Remove invisible characters; lines and tabs stay."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in INVISIBLE)


def clip(text: str, most: int) -> str:
    """Shorten a text of more than `most` characters to its beginning and end."""
    if len(text) <= most:
        return text
    half = most // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n[… {left_out:,} characters left out …]\n{text[len(text) - half :] if half else ''}"


def number(value: float | None) -> str:
    """Format a value with four significant digits; "–" for None."""
    return "–" if value is None else f"{value:.4g}"


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("p2p.prompts", ""),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # the texts are Markdown for a model, and no page
    )
    environment.globals |= {"parts_in_words": parts_in_words}
    environment.filters |= {"data": data, "number": number, "score": score_in_words}
    return environment
