r"""Docstring of a legacy reward function: a formula and its terms.

LaTeX: r = v_x
    - 0.1 \|a\|^2
Terms:
    speed: forward velocity
    ctrl: control penalty,
        spread over two lines
"""

import io
import re
import tokenize
from dataclasses import dataclass
from inspect import cleandoc
from typing import Any

_SECTION = re.compile(r"^(latex|terms|args|arguments|returns|raises|notes?|examples?):(.*)$", re.IGNORECASE)
_TERM = re.compile(r"^[-*]?\s*[`'\"]?(\w+)[`'\"]?\s*(?:\([^)]*\)\s*)?:\s*(.*)$")
_INVISIBLE = (tokenize.NL, tokenize.COMMENT, tokenize.ENCODING, tokenize.INDENT, tokenize.DEDENT)


@dataclass(frozen=True, slots=True)
class Description:
    """Self-description of a reward."""

    latex: str
    terms: dict[str, str]
    """Name -> description."""
    words: str

    def fields(self) -> dict[str, Any]:
        """Fields of a `RewardSpec` in JSON."""
        terms = [{"name": name, "description": text} for name, text in self.terms.items()]
        return {"latex": self.latex, "terms": terms, "description": self.words}


def read_docstring(docstring: str | None) -> Description:
    """Formula, terms and the text before them; missing parts stay empty."""
    # Lines by the lower-case name of the unindented heading over them; "" holds those before the first.
    sections: dict[str, list[str]] = {"": []}
    name = ""
    for line in cleandoc(docstring or "").splitlines():
        heading = _SECTION.match(line)
        if heading:
            name = heading[1].lower()
            sections[name] = [heading[2]]
        else:
            sections[name].append(line)
    latex = " ".join(line.strip() for line in sections.get("latex", []) if line.strip())
    words = " ".join(line.strip() for line in sections[""] if line.strip())
    return Description(latex, _terms(sections.get("terms", [])), words)


def with_raw_docstrings(source: str) -> str:
    r"""The source with every docstring made raw, so that `\theta` or `\xi` in one is text and no escape.

    Line numbers stay the same. Source that has no tokens, being broken, comes back as it is.
    """
    lines = source.splitlines(keepends=True)
    try:
        docstrings = list(_docstrings(source))
    except (tokenize.TokenError, SyntaxError):
        return source
    for token in docstrings:
        row = token.start[0] - 1
        column = token.start[1]
        lines[row] = f"{lines[row][:column]}r{lines[row][column:].removeprefix('u')}"
    return "".join(lines)


def _docstrings(source: str) -> list[tokenize.TokenInfo]:
    """String tokens that form a whole statement and have no prefix."""
    tokens = [t for t in tokenize.generate_tokens(io.StringIO(source).readline) if t.type not in _INVISIBLE]
    alone = []
    for index, token in enumerate(tokens):
        starts = index == 0 or tokens[index - 1].type == tokenize.NEWLINE
        ends = index + 1 < len(tokens) and tokens[index + 1].type == tokenize.NEWLINE
        if token.type == tokenize.STRING and starts and ends and token.string[0] in "'\"u":
            alone.append(token)
    return alone


def _terms(lines: list[str]) -> dict[str, str]:
    """Name -> description; a line indented deeper than the first term continues the previous one."""
    terms: dict[str, str] = {}
    name = ""
    depth = -1
    for line in lines:
        stripped = line.strip()
        indent = len(line) - len(line.lstrip())
        found = _TERM.match(stripped)
        if found and (depth < 0 or indent <= depth):
            name = found[1]
            depth = indent
            terms[name] = found[2]
        elif stripped and name:
            terms[name] = f"{terms[name]} {stripped}".strip()
    return terms
