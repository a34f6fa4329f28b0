"""Plans from skills: each step depends on those before it."""

from collections.abc import Container, Sequence
from dataclasses import replace
from itertools import chain, count

from p2p.contracts.errors import UnknownPhrase
from p2p.contracts.intent import MOST_CRITERIA, Criterion, Window
from p2p.contracts.observe import Milestone
from p2p.rewards.templates import template
from p2p.rewards.templates.bodies import RobotFacts
from p2p.rewards.templates.criteria import along_its_heading, in_its_own_frame, moves_smoothly, spares_effort
from p2p.rewards.templates.plan import Plan, Stage, Template, Term
from p2p.rewards.templates.skill import Manner, Skill
from p2p.rewards.templates.terms import effort, jerk

JERK = 0.1
SAVING = 0.3
"""Weights of the terms for "smoothly" and "with little effort"."""
STEP_S = 2.0
"""Time that a movement lasts in a sequence where the sentence gives none [s]."""
PACED_SHARE = 0.6
"""Share of that time, from its end, in which it must have its pace: before, it comes to speed."""
HEADING = 2.0
"""Weight of the price for each turn away from the heading that a step before turned to."""
_TURNED_OVER = frozenset({"flip", "rear", "stand_up"})
_OF_THE_LAST_STEP = frozenset(
    {
        "calm_joints",
        "little_effort",
        "keeps_height",
        "keeps_line",
        "off_its_trunk",
        "keeps_going",
        "keeps_hopping",
        "turns_no_more",
    }
)
"""Guards that read means, which the steps after theirs would change."""
_OF_EACH_STEP = frozenset({"keeps_moving", "bends_its_joints", "moves_its_body"})
"""Guards of how a movement gets on, which are read where its speed is."""


def plans_of(skills: Sequence[Skill], body: RobotFacts) -> tuple[Plan, ...]:
    """One plan per skill.

    Raises:
        UnknownPhrase: something that is said does not go with its skill.
    """
    found: list[Plan] = []
    done: dict[str, float] = {}
    names = tuple(skill.name for skill in skills)
    for index, skill in enumerate(skills):
        kind = template(skill.name)
        kind.check(skill.params)
        stage = Stage(
            first=index == 0,
            last=index == len(skills) - 1,
            done=dict(done),
            either=frozenset(one.feature for plan in found for one in plan.milestones if one.either),
            then=names[index + 1 :],
        )
        plan = _with_manners(_planned(kind, skill, body, stage), skill)
        if skill.name == "move" and "spin" in names[:index]:
            plan = _along_the_heading(plan, done["yaw_turns"] if _is_known("yaw_turns", found) else None)
        found.append(plan)
        for milestone in plan.milestones:
            done[milestone.feature] = done.get(milestone.feature, 0.0) + milestone.amount
    return tuple(found)


def criteria_of(skills: Sequence[Skill], plans: Sequence[Plan]) -> tuple[Criterion, ...]:
    """Criteria of the whole sentence; each step is measured after the previous one.

    Raises:
        UnknownPhrase: that would be more than an intent can hold.
    """
    found: dict[str, Criterion] = {}
    before: str | None = None
    for index, plan in enumerate(plans):
        last = index == len(plans) - 1
        main = plan.main.model_copy(update={"key": _unused(plan.main.key, found), "after": before})
        found[main.key] = main
        for guard in plan.guards:
            if guard.key in _OF_EACH_STEP and len(plans) > 1:
                key = _unused(guard.key, found)
                found[key] = _where(main, guard, key)
                continue
            kept = _guard(guard, skills, last, before)
            if kept is not None:
                found[kept.key] = _first_or_wider(found.get(kept.key, kept), kept)
        before = main.key
    if len(found) > MOST_CRITERIA:
        raise UnknownPhrase(
            f"It asks for {len(found)} things to be judged; at most {MOST_CRITERIA} can be. Ask for less."
        )
    return tuple(found.values())


def _first_or_wider(first: Criterion, other: Criterion) -> Criterion:
    """Of two guards with one key the first, unless the other is as strict about fewer bounds.

    Where a step is to be low, being low is no fall.
    """
    one, two = first.predicate, other.predicate
    if one is None or two is None or one.model_copy(update={"where": two.where}) != two:
        return first
    return other if set(two.where) < set(one.where) else first


def _unused(key: str, taken: Container[str]) -> str:
    """A key that is not taken yet: "moves_forward", "moves_forward_2"."""
    numbered = (f"{key}_{number}" for number in count(2))
    return next(one for one in chain((key,), numbered) if one not in taken)


def _where(main: Criterion, guard: Criterion, key: str) -> Criterion:
    """A guard, read in the part of the episode in which the step's main criterion is."""
    assert main.predicate is not None, "the speed of a movement is measured"
    assert guard.predicate is not None, "and so is how it gets on"
    claim = guard.predicate.model_copy(update={"window": main.predicate.window})
    words = f"{guard.description} Read where {main.key!r} is."
    return guard.model_copy(update={"key": key, "after": main.after, "predicate": claim, "description": words})


def seconds_of(plans: Sequence[Plan]) -> float:
    """Length of the judged episode [s]."""
    if len(plans) == 1:
        return plans[0].judged_s
    return max(5.0, round(sum(plan.seconds for plan in plans) + 1.0, 2))


def _planned(kind: Template, skill: Skill, body: RobotFacts, stage: Stage) -> Plan:
    """Plan of one step. A movement before another step keeps its pace, for its own time."""
    if skill.name != "move" or stage.last:
        return kind.plan(skill.params, body, stage)
    plan = kind.plan(skill.params, body, replace(stage, first=False, last=True))
    seconds = skill.params.duration_s or STEP_S
    predicate = plan.main.predicate
    assert predicate is not None, "the speed of a movement is measured"
    window = Window(within_s=seconds, last_share=PACED_SHARE)
    words = f" Read in the last {PACED_SHARE:.0%} of the {seconds:g} s of this step."
    main = plan.main.model_copy(
        update={
            "predicate": predicate.model_copy(update={"window": window}),
            "title": f"{plan.main.title}, for {seconds:g} s",
            "description": plan.main.description + words,
        }
    )
    return replace(plan, main=main, milestones=(Milestone(feature="time", amount=seconds),), seconds=seconds)


def _is_known(feature: str, plans: Sequence[Plan]) -> bool:
    """Whether the steps so far say where `feature` is to be: none of them may go either way."""
    own = [one for plan in plans for one in plan.milestones if one.feature == feature]
    return bool(own) and not any(milestone.either for milestone in own)


def _along_the_heading(plan: Plan, turned: float | None) -> Plan:
    """Like the plan, in the robot's own frame: after a turn, "forward" is along the heading.

    Args:
        plan: Of a movement after a turn.
        turned: Turns since the episode's start at which it is to go; None where they are not known beforehand.
    """

    def read(criterion: Criterion) -> Criterion:
        return along_its_heading(criterion, "Along its own heading, after the turn.")

    terms = [
        replace(term, expression=in_its_own_frame(term.expression), latex=term.latex.replace("v_", "v'_"))
        for term in plan.terms
    ]
    if turned is not None:
        away = f'np.clip(abs(info["yaw_turns"] {-turned:+g}), 0.0, 0.5)'
        words = "penalty for leaving the heading it turned to"
        terms.append(Term("heading", HEADING, away, rf"|\psi - {turned:g}|", words, sign=-1))
    return replace(
        plan,
        summary=f"{plan.summary}, along its heading",
        terms=tuple(terms),
        definitions={name: in_its_own_frame(text) for name, text in plan.definitions.items()},
        main=read(plan.main),
        guards=tuple(read(guard) for guard in plan.guards),
    )


def _with_manners(plan: Plan, skill: Skill) -> Plan:
    terms = list(plan.terms)
    guards = list(plan.guards)
    if Manner.SMOOTH in skill.params.manners:
        if all(term.name != "jerk" for term in terms):  # a gait of four legs has its own
            terms.append(jerk(JERK))
        guards.append(moves_smoothly())
    if Manner.SAVING in skill.params.manners:
        terms = [term for term in terms if term.name != "effort"] + [effort(SAVING)]
        guards = [guard for guard in guards if guard.key != "little_effort"] + [spares_effort()]
    return replace(plan, terms=tuple(terms), guards=tuple(guards))


def _guard(guard: Criterion, skills: Sequence[Skill], last: bool, before: str | None) -> Criterion | None:
    """A guard adapted to the sequence; None if another step contradicts it."""
    if len(skills) == 1:
        return guard
    names = {skill.name for skill in skills}
    if guard.key == "stays_in_place" and "move" in names:
        return None
    if guard.key in _OF_THE_LAST_STEP or (guard.key == "stays_upright" and names & _TURNED_OVER):
        return guard.model_copy(update={"after": before}) if last else None
    return guard
