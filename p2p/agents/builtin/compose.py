"""Compose plans into readable source of a reward class."""

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from textwrap import indent
from typing import TypeVar

from p2p.contracts.intent import Bound, Comparison
from p2p.contracts.observe import Counter
from p2p.rewards.templates.bodies import RobotFacts
from p2p.rewards.templates.plan import Plan, Term, milestones_of
from p2p.rewards.templates.terms import number

PROGRESS = 1.5
"""What each finished phase of a sequence is worth per time step: more than staying in the one before."""
_STEPS = ("first", "second", "third")
_COUNTING = {"counted": ("count", "within"), "full": ("count_full", "within_full")}
"""Number that is counted -> the method that counts it, and the attribute that tells whether one is under way."""
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Summand:
    """A term with the steps of the sequence that pay it."""

    term: Term
    step: str | None
    """Variable that is true in its step; None when it is paid in all of them."""


def compose(prompt: str, plans: Sequence[Plan], body: RobotFacts) -> str:
    """Source of a module with one reward class.

    Args:
        prompt: The sentence, which becomes the module's docstring.
        plans: One plan per step of the sentence.
        body: The robot.
    """
    plans = _without_clashes(plans)
    summands = _summands(plans)
    definitions = {name: text for plan in plans for name, text in plan.definitions.items()}
    compute = _compute(summands, definitions, plans)
    class_name = "Then".join(re.sub(r"\W", "", plan.label) for plan in plans)
    text = prompt.replace("\\", "").replace('"', "'").strip()
    imports = [f'"""{text[:1].upper()}{text[1:]}"""', ""]
    if "np." in compute:
        imports += ["import numpy as np", ""]
    if "tolerance(" in compute:
        imports.append("from p2p.rewards.tolerance import tolerance")
    header = "\n".join([*imports, "from p2p.training.reward_function import RewardFunction", "", ""])
    parts = [
        header,
        f"class {class_name}(RewardFunction):",
        indent(_docstring(plans), "    "),
        "",
        indent(_tables(summands, plans), "    "),
        "",
        indent("\n".join([*_state(plans), compute]), "    "),
        "",
        indent(_properties(summands, plans, body), "    "),
    ]
    return re.sub(r"[ \t]+\n", "\n", "\n".join(parts)) + "\n"


def _docstring(plans: Sequence[Plan]) -> str:
    first, *rest = (plan.summary for plan in plans)
    if not rest:
        return f'"""{first}."""'
    return "\n".join([f'"""{first};', *(f"then {text[:1].lower()}{text[1:]};" for text in rest)])[:-1] + '.\n"""'


def _without_clashes(plans: Sequence[Plan]) -> list[Plan]:
    """Rename definitions of the same name and different text, by step."""
    seen: dict[str, str] = {}
    found = []
    for position, plan in enumerate(plans, start=1):
        for name, text in plan.definitions.items():
            if seen.setdefault(name, text) != text:
                new = f"{name}_{position}"
                word = re.compile(rf"(?<![\"\w]){name}(?![\"\w])")
                terms = tuple(replace(term, expression=word.sub(new, term.expression)) for term in plan.terms)
                definitions = {new if k == name else k: word.sub(new, v) for k, v in plan.definitions.items()}
                plan = replace(plan, terms=terms, definitions=definitions)
        found.append(plan)
    return found


def _summands(plans: Sequence[Plan]) -> list[Summand]:
    """Pay terms of all steps throughout; number different terms of the same name.

    What each step charges stays its own: a swimmer that paid in its strokes the price of acting of standing still
    kicked once and coasted.
    """
    if len(plans) == 1:
        return [Summand(term, None) for term in plans[0].terms]
    shared = []
    for term in plans[0].terms:
        alike = [other for plan in plans for other in plan.terms if _same(term, other)]
        if len(alike) == len(plans) and (term.sign > 0 or len({other.weight for other in alike}) == 1):
            shared.append(max(alike, key=lambda term: term.weight))
    found = [Summand(term, None) for term in shared]
    taken = {term.name for term in shared} | {"progress"}
    for step, plan in zip(_STEPS, plans, strict=False):
        for term in plan.terms:
            if any(_same(term, other) for other in shared):
                continue
            name = term.name
            again = 2
            while name in taken:
                name = f"{term.name}_{again}"
                again = again + 1
            taken.add(name)
            found.append(Summand(replace(term, name=name), step))
    if all(milestone.feature == "time" for milestone in milestones_of(plans)):
        # Time goes by itself: paid for it, a walker stood still from the start, so as not to fall before it is paid.
        return found
    progress = Term("progress", PROGRESS, "self.phase", r"\phi", "phases of the sequence that are done")
    return [*found, Summand(progress, None)]


def _phases(step: str, plans: Sequence[Plan]) -> tuple[int, int]:
    """First and last phase of a step."""
    index = _STEPS.index(step)
    first = len(milestones_of(plans[: index + 1]))
    return first, first + (len(plans[index].milestones) - 1 if index < len(plans) - 1 else 0)


def _in_step(first: int, last: int) -> str:
    return f"self.phase == {first}" if first == last else f"{first} <= self.phase <= {last}"


def _same(one: Term, other: Term) -> bool:
    return replace(one, weight=other.weight) == other


def _tables(summands: Sequence[Summand], plans: Sequence[Plan]) -> str:
    weights = [f'    "{s.term.name}": {s.term.weight!r},' for s in summands]
    lines = ["weights = {", *weights, "}"]
    margins = [f'    "{s.term.name}": {s.term.margin!r},' for s in summands if s.term.margin is not None]
    if margins:
        lines += ["margins = {", *margins, "}"]
    if len(plans) > 1:
        milestones = milestones_of(plans)
        lines += ["milestones = (", *(f'    ("{one.feature}", {one.amount!r}),' for one in milestones), ")"]
        if either := [str(index) for index, one in enumerate(milestones) if one.either]:
            lines += [f"either_way = ({', '.join(either)},)"]
    return "\n".join(lines)


def _compute(summands: Sequence[Summand], definitions: dict[str, str], plans: Sequence[Plan]) -> str:
    rows = [f'        "{s.term.name}": {_summand(s)},' for s in summands]
    body: list[str] = []
    for name, text in reversed(definitions.items()):  # a definition may read those before it
        if _used(name, [*rows, *body]):
            body.insert(0, f"    {name} = {text}")
    margins = any(s.term.margin is not None for s in summands)
    tables = "w, m = self.weights, self.margins" if margins else "w = self.weights"
    lines = ["def compute(self, obs, action, next_obs, info):", f"    {tables}"]
    lines += [f"    {name} = self.{_COUNTING[name][0]}(info)" for name in _counters(plans)]
    if hold := _first(plan.hold for plan in plans):
        lines.append(f"    held = self.hold({_met(hold.where)}, info)")
    if len(plans) > 1:
        lines.append("    self.advance(info)")
        lines += [f"    {step} = {_in_step(*_phases(step, plans))}" for step in _STEPS if _used(step, rows)]
    return "\n".join([*lines, *body, "    terms = {", *rows, "    }", "    return sum(terms.values()), terms"])


def _used(name: str, rows: Sequence[str]) -> bool:
    return any(re.search(rf"(?<![\"\w]){name}(?![\"\w])", row) for row in rows)


def _summand(summand: Summand) -> str:
    term = summand.term
    sign = "-" if term.sign < 0 else ""
    gate = f"{summand.step} * " if summand.step else ""
    weight = f'{sign}w["{term.name}"]' if not gate else f'{gate}{sign}w["{term.name}"]'
    if term.expression == "1.0":
        return weight
    expression = term.expression.replace("{margin}", f'm["{term.name}"]')
    top = ast.parse(expression, mode="eval").body
    torn_apart = isinstance(top, ast.BinOp) and isinstance(top.op, ast.Add | ast.Sub)
    return f"{weight} * ({expression})" if torn_apart else f"{weight} * {expression}"


def _state(plans: Sequence[Plan]) -> list[str]:
    """Methods that keep state between steps; none if nothing is counted or held and nothing follows."""
    counters = _counters(plans)
    hold = _first(plan.hold for plan in plans)
    found = []
    if len(plans) > 1:
        found.append(f"    {_begin(plans)}")
    found += [f"    self.{name}, self.{_COUNTING[name][1]} = 0, True" for name in counters]
    if hold:
        found.append("    self.since = 0.0")
    if found:
        found = ["\n".join(["def __init__(self):", *found, ""])]
    if len(plans) > 1:
        found.append(_PHASES_CODE.format(begin=_begin(plans), reached="\n        ".join(_reached(plans))))
    for name, one in counters.items():
        method, within = _COUNTING[name]
        low, high = number(one.low), number(one.high)
        found.append(
            _COUNTER_CODE.format(method=method, name=name, within=within, feature=one.feature, low=low, high=high)
        )
    if hold:
        found.append(_HOLD_CODE.format(seconds=number(hold.seconds)))
    return found


def _counters(plans: Sequence[Plan]) -> dict[str, Counter]:
    """What is counted, by the variable that its number is read as."""
    found = {"counted": _first(plan.counter for plan in plans), "full": _first(plan.full for plan in plans)}
    return {name: counter for name, counter in found.items() if counter is not None}


def _begin(plans: Sequence[Plan]) -> str:
    """Statement that begins a sequence; `missed` is whether its first milestone has not been met at some step."""
    if plans[0].milestones[0].momentary:
        return "self.phase, self.origin, self.missed = 0, {}, False"
    return "self.phase, self.origin = 0, {}"


def _reached(plans: Sequence[Plan]) -> list[str]:
    """Lines that ask whether the step's milestone is reached."""
    change = "(info[feature] - self.origin.get(feature, 0.0)) / amount"
    either = any(one.either for one in milestones_of(plans))
    waits = plans[0].milestones[0].momentary
    if not either and not waits:
        return [f"if {change} >= 1.0:"]
    lines, done = [f"change = {change}"], "change >= 1.0"
    if either:
        done = f"{done} or (self.phase in self.either_way and change <= -1.0)"
    if waits:
        lines.append("self.missed = self.missed or change < 1.0")
        done = f"self.missed and ({done})" if either else f"self.missed and {done}"
    return [*lines, f"if {done}:"]


def _met(bounds: Sequence[Bound]) -> str:
    """Whether all bounds are met, as an expression."""
    texts = []
    for bound in bounds:
        value = f'info["{bound.feature}"]'
        if bound.absolute:
            value = f"abs({value})"
        low = "" if bound.comparison is Comparison.AT_MOST else f"{bound.threshold:g} <= "
        high = bound.threshold if bound.comparison is Comparison.AT_MOST else bound.upper
        texts.append(f"{low}{value}" + ("" if high is None else f" <= {high:g}"))
    return " and ".join(texts)


def _first(found: Iterable[_T | None]) -> _T | None:
    """The first that is there; of a sequence one step counts, and one holds."""
    return next((one for one in found if one is not None), None)


_COUNTER_CODE = '''\
def {method}(self, info):
    """Number of times that {feature} has reached {high}; before each it is below {low}."""
    if info.get("_episode_start", False):
        self.{name}, self.{within} = 0, True
    if not self.{within} and info["{feature}"] >= {high}:
        self.{name}, self.{within} = self.{name} + 1, True
    elif self.{within} and info["{feature}"] < {low}:
        self.{within} = False
    return self.{name}
'''

_HOLD_CODE = '''\
def hold(self, good, info):
    """Share of {seconds} s for which it has been good without a break."""
    if info.get("_episode_start", False) or not good:
        self.since = info["time"]
    return min((info["time"] - self.since) / {seconds}, 1.0)
'''

_PHASES_CODE = '''\
def advance(self, info):
    """Go on to the next phase of the sequence when a feature has changed by as much as this one asks for."""
    if info.get("_episode_start", False):
        {begin}
    if self.phase < len(self.milestones):
        feature, amount = self.milestones[self.phase]
        {reached}
            self.phase, self.origin = self.phase + 1, dict(info)
'''


def _properties(summands: Sequence[Summand], plans: Sequence[Plan], body: RobotFacts) -> str:
    texts = "\n".join(f'        "{s.term.name}": "{s.term.description}",' for s in summands)
    # The docstring as an expression.
    lines = _docstring(plans).strip('"\n').split("\n")
    if len(lines) == 1:
        description = f'"{lines[0]}"'
    else:
        description = (
            "(\n" + "\n".join(f'        "{line}{" " if line.endswith(";") else ""}"' for line in lines) + "\n    )"
        )
    return (
        f"@property\ndef latex(self):\n    return {_latex(summands, plans, body)}\n\n"
        f"@property\ndef terms(self):\n    return {{\n{texts}\n    }}\n\n"
        f"@property\ndef description(self):\n    return {description}"
    )


def _latex(summands: Sequence[Summand], plans: Sequence[Plan], body: RobotFacts) -> str:
    """The formula as a string literal, with weights by name."""
    pieces = []
    for summand in summands:
        sign = "-" if summand.term.sign < 0 else "+"
        name = summand.term.name.replace("_", r"\_")
        latex = "" if summand.term.latex == "1" else rf"\,{summand.term.latex}"
        gate = ""
        if summand.step:
            first, last = _phases(summand.step, plans)
            gate = rf"[\phi={first}]\," if first == last else rf"[{first}\le\phi\le{last}]\,"
        pieces.append(rf"{sign} {gate}w_{{\mathrm{{{name}}}}}{latex}")
    lines = [f'r"{piece} "' for piece in pieces]
    lines[0] = lines[0].replace('r"+ ', 'r"r = ').replace('r"- ', 'r"r = -')
    if any("U" in summand.term.latex for summand in summands) and body.gate_latex:
        lines.append(rf'r"\quad U = {body.gate_latex}"')
    return "(\n" + "\n".join(f"        {line}" for line in lines) + "\n    )"
