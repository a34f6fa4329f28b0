"""Advice on a judge function that failed, in a sentence."""

import re

FIXES = (
    (r"NameError: name 'judge'", "Define judge(features) at the top level of the file."),
    (r"ZeroDivisionError", "Guard the divisor: a rollout may be one step long, and a feature constant."),
    (r"KeyError", "Read only features that exist; the rules list their names."),
    (
        r"IndexError|zero-size|empty|at least one array",
        "Accept rollouts of any length from one step on: check the length first.",
    ),
    (r"expected a dict", 'Return {"score": float(...), "evidence": "..."}.'),
    (r"not finite|nan|inf\b", "Keep every number finite: guard divisions and logarithms."),
    (r"longer than|took|time", "Compute with whole arrays instead of loops over steps."),
    (r"TypeError|AttributeError|ValueError", "features is a dict from name to a numpy array of shape (T,)."),
    (r"tells nothing apart", "Let the score grow with what the criterion asks for."),
)
"""What is found in the words of a failure -> the fix; the first that fits."""
GATE = "line "
"""How the gate's messages begin, which hold their fixes already."""


def with_fix(problem: str) -> str:
    """The error with advice."""
    if problem.startswith((GATE, "not valid Python")):
        return problem
    fix = next((fix for pattern, fix in FIXES if re.search(pattern, problem)), "")
    return f"{problem.rstrip()} {fix}".rstrip()
