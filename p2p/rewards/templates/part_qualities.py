"""Qualities of a skill measured on parts of a robot: feet and toes, steps, head, landing."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from p2p.contracts.intent import Category, Comparison, Criterion, Predicate, Sampling, Statistic, Window
from p2p.rewards.templates.bodies import Band
from p2p.rewards.templates.criteria import at_least, below, between, on_feature
from p2p.rewards.templates.jump_criteria import clearance_of
from p2p.rewards.templates.plan import Term
from p2p.rewards.templates.quality import SETTLED, Addition, Quality, Use, criterion_of, mostly
from p2p.rewards.templates.terms import number

SOFT = 0.7
"""Impact of a soft landing, as a share of that of a fall from the height of the jump on legs that do not yield."""
AIMED_AT = 0.7
"""Share of the limit from which on the landing of a counted jump is fined: rollouts differ, and all must keep it."""
LANDING_S = 2.4
"""Weight of that fine times the control period [s]: a step that goes over that share by a whole limit costs what a pay
of 1 brings in so long."""
SOFTENING: Mapping[str, object] = {"weights": {"landing": [[0.0, 0.01], [0.15, 0.01], [0.5, 1.0]]}}
"""Curriculum of that fine: jumping first, softly then. With all of it from the start a hopper stood still."""
SOFT_STEPS = 1_500_000
"""Fewest training steps of a counted jump that is to land softly."""
HEEL_UP = -0.25
"""Pitch of a foot whose heel is off the floor [rad]; 0 is a foot that lies flat, negative has the toes down."""
ON_TOES = 80.0
"""Percentage of the time a foot is down in which its heel must be off the floor."""
SMALL_STEP = 0.4
LONG_STEP = 0.8
"""How far a small and a long step carry a foot, as shares of the torso's height while it stands (proposals). Every foot
steps once in two steps of a walk, so that a person's foot is carried by about as much as that height.
"""
SMALL_SHARE = 90.0
LONG_SHARE = 60.0
"""Percentile of the steps that must be small, and long: feet that tremble as they land make steps of no length."""
HEAD_RATE = 0.3
"""Vertical speed of a head that is kept still [m/s]."""
HEAD_SHARE = 0.8
"""Share of the steps in which the head must be as asked for."""
HEADS: Mapping[str, tuple[float, float]] = {"HalfCheetah-v5": (0.1, -0.02), "Humanoid-v5": (0.18, 0.155)}
"""Environment -> height of the head over the torso from which on it is up, and up to which it is down [m].

Standing it is 0.1 m over a cheetah's, which is level then, and 0.19 m over a humanoid's.
"""
TOES: Mapping[str, Mapping[str, str]] = {
    "Walker2d-v5": {"foot": "contact_foot_geom", "foot_left": "contact_foot_left_geom"},
    "Hopper-v5": {"foot": "contact_foot_geom"},
}
"""Environment -> foot that has a heel and toes -> feature of its contact."""
_DROPS: dict[str, Any] = json.loads(Path(__file__).with_name("stiff_drops.json").read_text(encoding="utf-8"))


def softest(env_id: str, clearance: float) -> float | None:
    """Largest impact of a soft landing from a height [weights]; None if no fall of that robot was measured."""
    drops = _DROPS["impact"].get(env_id)
    if drops is None:
        return None
    heights = [float(height) for height in drops]
    impacts = np.array(list(drops.values()))
    impacts = np.minimum.accumulate(impacts[::-1])[::-1]  # from higher up it topples, which is no softer landing
    return round(SOFT * float(np.interp(clearance, heights, impacts)), 2)


def _soft_landing(use: Use) -> Addition:
    clearance = clearance_of(use.plan) if use.skill.name == "jump" else use.body.jump.high
    limit = softest(use.body.env_id, clearance)
    if limit is None:
        raise use.unmeasured(f"no landing of {use.body.noun} was found that is softer than a fall")
    aloft = Window(after=(at_least("airborne", 0.5), at_least("clearance", round(clearance / 2, 4))))
    found = criterion_of(
        "lands_softly",
        f"Lands softly, with at most {limit:g} times its weight",
        f"After it was {clearance / 2:g} m above the floor, the force on it, averaged over a step, never exceeds "
        f"{limit:g} times its weight: {SOFT:.0%} of that of a fall from {clearance:g} m on legs that do not yield.",
        Category.DYNAMICS,
        on_feature(Statistic.MAX, "impact", below(limit), "1", margin=limit, window=aloft),
    )
    if use.plan.counter is None:  # a flip, or jumps again and again
        weight = round(min(10.0, max(3.0, 0.1 / use.body.dt)), 1)
        return Addition((found,), (_landing(weight, limit, 0.6),), summary="landing softly")
    # Its take-off may press harder than a soft landing.
    return Addition(
        (found,),
        (_landing(round(LANDING_S / use.body.dt, 1), limit, AIMED_AT, "(counted > 0) * "),),
        fewest_steps=SOFT_STEPS,
        recipe={"curriculum": SOFTENING},
        summary="landing softly",
    )


def _landing(weight: float, limit: float, share: float, after: str = "") -> Term:
    """Price of the impact over a share of the limit; `after` says when it is due."""
    penalty = f'{after}np.clip(info["impact"] / {number(limit)} - {share:g}, 0.0, 2.0)'
    latex = rf"{'[n > 0]' if after else ''}\mathrm{{clip}}(F/{limit:g} - {share:g}, 0, 2)"
    return Term("landing", weight, penalty, latex, "penalty for hard landings", sign=-1)


def _on_toes(use: Use) -> Addition:
    feet = TOES.get(use.body.env_id)
    if feet is None:
        raise use.impossible(f"{use.body.noun} has no feet with heels and toes")
    found = []
    penalties = []
    for foot, contact in feet.items():
        side = "left " if foot.endswith("_left") else "right " if len(feet) > 1 else ""
        predicate = Predicate(
            statistic=Statistic.PERCENTILE,
            percent=ON_TOES,
            feature=f"pitch:{foot}",
            at=Sampling.WHILE,
            where=(at_least(contact, 0.5),),
            window=SETTLED,
            comparison=Comparison.AT_MOST,
            threshold=HEEL_UP,
            unit="rad",
            margin=0.4,
        )
        found.append(
            criterion_of(
                f"on_its_toes_{side.strip()}" if side else "on_its_toes",
                f"Keeps its {side}heel off the floor",
                f"In {ON_TOES:g}% of the steps in which the {side}foot is down, its toes point down by "
                f"{-HEEL_UP:g} rad or more.",
                Category.POSTURE,
                predicate,
            )
        )
        penalty = f'info["{contact}"] * np.clip((info["pitch:{foot}"] + 0.4) / 0.4, 0.0, 1.0)'
        words = f"penalty for the {side}heel on the floor"
        latex = r"c_f\,\mathrm{clip}((\theta_f + 0.4)/0.4, 0, 1)"
        penalties.append(Term(f"{side.replace(' ', '_')}heel", 0.5, penalty, latex, words, sign=-1))
    return Addition(tuple(found), tuple(penalties), summary="on its toes")


def _steps(use: Use) -> Addition:
    """Step length: distance of each foot from take-off to touch-down."""
    feet = sorted(name.removeprefix("contact_") for name in use.body.features if name.startswith("contact_"))
    if not feet:
        raise use.impossible(f"{use.body.noun} has no feet")
    small = use.value == "small"
    share, percent = (SMALL_STEP, SMALL_SHARE) if small else (LONG_STEP, LONG_SHARE)
    limit = round(share * standing(use), 2)
    band = below(limit) if small else Band(limit)
    words = f"at most {limit:g} m" if small else f"{limit:g} m or more"
    found = [_steps_of(foot, use.value, band, percent, words, number) for number, foot in enumerate(feet, start=1)]
    lengths = " + ".join(f'np.clip(info["step_length:{foot}"] / {limit:g}, 0.0, 2.0)' for foot in feet)
    if small:
        lengths = " + ".join(f'np.clip(info["step_length:{foot}"] / {limit:g} - 0.8, 0.0, 1.0)' for foot in feet)
        term = Term(
            "steps",
            round(1.0 / len(feet), 2),
            lengths,
            r"\mathrm{clip}(s/L - 0.8, 0, 1)",
            "penalty for longer steps",
            sign=-1,
        )
    else:
        lengths = " + ".join(f'np.clip(info["step_length:{foot}"] / {limit:g}, 0.0, 1.2)' for foot in feet)
        term = Term("steps", round(0.5 / len(feet), 2), lengths, r"\mathrm{clip}(s/L, 0, 1.2)", "long steps")
    return Addition(tuple(found), (term,), summary=f"with {use.value} steps")


def standing(use: Use) -> float:
    """Torso height of a standing robot [m]."""
    stand = use.body.stand
    return stand.low if stand.high == float("inf") else (stand.low + stand.high) / 2


def _steps_of(foot: str, kind: str, band: Band, percent: float, words: str, index: int) -> Criterion:
    small = kind == "small"
    predicate = Predicate(
        statistic=Statistic.PERCENTILE,
        percent=percent,
        feature=f"step_length:{foot}",
        at=Sampling.ONSET,
        where=(at_least(f"contact_{foot}", 0.5),),
        window=SETTLED,
        comparison=Comparison.AT_MOST if small else Comparison.AT_LEAST,
        threshold=band.high if small else band.low,
        unit="m",
        margin=band.high if small else band.low,
    )
    return criterion_of(
        f"{kind}_steps_{index}",
        f"Takes {kind} steps with {foot.removesuffix('_geom')}: {words}",
        f"Of the times that {foot} comes down, it was carried {words} in {percent if small else 100 - percent:g}%.",
        Category.GAIT,
        predicate,
    )


def _head(use: Use) -> Addition:
    """Head above the torso, or held still."""
    if use.body.env_id not in HEADS:
        raise use.impossible(f"{use.body.noun} has no head of its own; say it of the torso, as in 'with a high torso'")
    if use.value == "still":
        found = mostly(
            "head_still", "Keeps its head still", (between("velocity_z:head", -HEAD_RATE, HEAD_RATE),), HEAD_SHARE
        )
        penalty = 'np.clip(abs(info["velocity_z:head"]), 0.0, 2.0)'
        return Addition(
            (found,),
            (Term("nodding", 0.3, penalty, r"|\dot z_h|", "penalty for a head that goes up and down", sign=-1),),
        )
    up, down = HEADS[use.body.env_id]
    over = 'info["height:head"] - info["height"]'
    latex = "z_h - z"
    if use.value == "up":
        where = (at_least("height:head - height", up),)
        pay = f"tolerance({over}, {number(up + 0.01)}, np.inf, {{margin}})"
        latex = rf"\mathrm{{tol}}({latex}; {up + 0.01:g}, \infty)"
    else:
        where = (between("height:head - height", -10.0, down),)
        pay = f"tolerance({over}, -np.inf, {number(down - 0.01)}, {{margin}})"
        latex = rf"\mathrm{{tol}}({latex}; -\infty, {down - 0.01:g})"
    found = mostly(f"head_{use.value}", f"Keeps its head {use.value}", where, HEAD_SHARE)
    return Addition((found,), (Term("head", 0.5, pay, latex, f"keeping the head {use.value}", margin=0.15),))


_ON_FEET = frozenset({"move", "still", "posture"})

PART_QUALITIES: dict[str, Quality] = {
    "soft_landing": Quality("land softly", _soft_landing, frozenset({"jump", "flip"})),
    "on_toes": Quality("on tiptoe", _on_toes, _ON_FEET),
    "steps": Quality("with % steps", _steps, frozenset({"move"})),
    "head": Quality("with the head %", _head, _ON_FEET | {"rear", "spin"}),
}
"""Name -> what it adds."""
PART_KEYS = frozenset(
    {"lands_softly", "on_its_toes", "on_its_toes_left", "on_its_toes_right", "head_up", "head_down", "head_still"}
    | {f"{size}_steps_{number}" for size in ("small", "long") for number in range(1, 5)}
)
"""Criteria of these."""
