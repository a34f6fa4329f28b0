"""Template: walk, run, hop, crawl, swim."""

from dataclasses import replace
from math import inf

from p2p.contracts.intent import Category, Criterion, Statistic, Window
from p2p.contracts.observe import Milestone
from p2p.rewards.templates.bodies import Band, Pacing, RobotFacts
from p2p.rewards.templates.criteria import below, has_not_fallen_at_the_end, on_feature, stays_upright
from p2p.rewards.templates.gaits import (
    FourLegGait,
    definitions_of_gait,
    gait_of,
    stride_s,
    terms_of_gait,
)
from p2p.rewards.templates.move_guards import (
    AXIS,
    SIGN,
    STEPPING_GAITS,
    bounces_by,
    guards,
    keeps_moving,
    slides_by,
    uses_its_legs,
)
from p2p.rewards.templates.plan import Plan, Stage, Template, Term
from p2p.rewards.templates.skill import Direction, HeightLevel, Manner, Pace, Params
from p2p.rewards.templates.terms import alive, effort, gate, gate_latex, height_band, number, refuse, trunk
from p2p.rewards.templates.top_speeds import beyond, fastest

_PACE_OF_GAIT = {"run": Pace.FAST, "gallop": Pace.FAST}
_LIKE = {"trot": "run"}
"""Gaits that need what another one needs."""
_ELSE = {"bound": "gallop", "amble": "walk"}
"""Gaits of four legs -> what they mean on others."""
_FOUR_LEGS_ALONE = frozenset({"pace"})
"""Gaits that are nothing on other than four legs."""
GAIT_STEPS = 900_000
"""Training steps of a gait of four legs, in which feet must keep an order."""
BALANCING_STEPS = 2_400_000
"""Training steps of robots from model files that stand on one or two legs, at most: a training ends when its verdict is
clear. Unitree's H1 with seeds 2 and 3 met everything in 33 and 24 of 50 rollouts after 1,200,000, and in all 50 after
1,680,384 and 1,560,576."""
EXACT = 0.15
"""How far a speed that is said may be missed, as a share of it; 80 % of it is not it."""
STEP_S = 2.0
"""Time a movement lasts in a sequence when the sentence gives none [s]."""


class Move(Template):
    """Move in a direction at a pace."""

    name = "move"
    reads = frozenset(
        {
            "direction",
            "gait",
            "pace",
            "speed",
            "speed_range",
            "fastest",
            "level",
            "height",
            "height_range",
            "duration_s",
        }
    )
    manners = frozenset({Manner.NO_FALL, Manner.UPRIGHT, Manner.STRAIGHT})

    def examples(self, body: RobotFacts) -> tuple[str, ...]:
        """One sentence per gait and direction."""
        gait = next(g for g in ("run", "swim", "move") if g in body.gaits)
        found = [f"{gait} forward as fast as you can", f"{gait} backward", "move forward slowly", "move at 0.5 m/s"]
        if "hop" in body.gaits:
            found.append("hop forward without falling")
        if "crawl" in body.gaits:
            found.append("crawl forward")
        if _sideways_possible(body):
            found += ["walk to the left", "walk to the right"]
        return tuple(found)

    def missing(self, body: RobotFacts) -> str:
        """Reason why the robot cannot move."""
        return f"{body.noun} cannot move from its place"

    def plan(self, params: Params, body: RobotFacts, stage: Stage) -> Plan:
        """Speed along the direction, on its feet, at little effort."""
        direction = params.direction or Direction.FORWARD
        if body.four_feet is None and params.gait in _ELSE:
            params = replace(params, gait=_ELSE[params.gait])
        _check(params, body, direction)
        pacing = _pacing(params, body, direction)
        gait = params.gait or "move"
        how = gait_of(body, gait)
        band = height_band(params, body) if gait != "crawl" else Band(0.0, body.low)
        if body.described and 1 <= body.legs <= 2 and band is None:
            body = _paid_for_standing(body)
        definitions = {**gate(body)}
        if band is not None:
            definitions["held"] = f'tolerance(info["height"], {number(band.low)}, {number(band.high)}, 0.35)'
        seconds = params.duration_s or STEP_S
        distance = SIGN[direction] * round(0.8 * min(pacing.judged.low, 2.0) * seconds, 2)
        steps = _steps(body, direction, pacing) if how is None else GAIT_STEPS
        clock_s = None
        if how is not None:
            clock_s = stride_s(how, body, (pacing.aim or pacing.judged).low)
            definitions |= definitions_of_gait(how, clock_s)
        if (
            params.gait == "crawl"
            or params.level is HeightLevel.LOW
            or params.height is not None
            or params.height_range is not None
        ):
            steps = int(1.4 * steps)
        recipe: dict[str, object] = {"total_timesteps": steps, "terminate_when_unhealthy": body.terminates}
        if body.upright is None:
            recipe["episode_s"] = body.judged_s
        feet = ", on its feet" if body.upright else ""
        summary = f"Moving {direction} at {_words(pacing.judged)}{feet}"
        return Plan(
            label=f"{gait.title()}{direction.title()}",
            summary=summary,
            terms=(
                *alive(body),
                *_terms(direction, pacing, body, band, gait, how),
                *_line(direction, body, stage),
                effort(body.effort),
            ),
            main=_main(direction, pacing, stage, distance),
            guards=(
                *stays_upright(body, params),
                *guards(direction, pacing, body, band, gait, stage),
                *((keeps_moving(direction, pacing), *uses_its_legs(body, gait, stage)) if stage.last else ()),
                *(has_not_fallen_at_the_end(body, params.duration_s or body.judged_s) if stage.last else ()),
            ),
            definitions=definitions,
            recipe=recipe,
            clock_s=clock_s,
            milestones=(Milestone(feature=f"displacement_{AXIS[direction]}", amount=distance),),
            seconds=seconds + 1.0,
            judged_s=params.duration_s or body.judged_s,
        )


def _paid_for_standing(body: RobotFacts) -> RobotFacts:
    """The robot, paid at each step for standing at its height: else it does best to fall, and be charged no more."""
    low, high, margin = (number(share * body.standing) for share in (0.88, 1.25, 0.3))
    gate = f'{body.gate} * tolerance(info["height"], {low}, {high}, {margin})'
    budgets = {**body.budgets, "move": BALANCING_STEPS}
    return replace(body, gate=gate, alive="upright", alive_weight=1.0, budgets=budgets)


def _steps(body: RobotFacts, direction: Direction, pacing: Pacing) -> int:
    """Training steps without a gait: those of the paces that it lies in."""
    asked = pacing.judged
    around = [
        pace.fewest_steps
        for pace in _paces(body, direction).values()
        if pace.judged.low <= asked.low and asked.high <= pace.judged.high
    ]
    return max([body.budget("move"), *around])


def _paces(body: RobotFacts, direction: Direction) -> dict[Pace, Pacing]:
    return {**body.paces, **body.backward} if direction is Direction.BACKWARD else {**body.paces}


def _check(params: Params, body: RobotFacts, direction: Direction) -> None:
    gait = params.gait or "move"
    if gait in _FOUR_LEGS_ALONE and body.four_feet is None:
        raise refuse(gait, f"{body.noun} has no four legs, of which the two of a side would go together")
    if gait_of(body, gait) is None and _LIKE.get(gait, gait) not in body.gaits:
        raise refuse(gait, f"{body.noun} can only {' or '.join(sorted(body.gaits))}")
    if AXIS[direction] == "y" and not _sideways_possible(body):
        raise refuse(f"{gait} to the {direction}", f"{body.noun} can only move forward or backward")
    if params.speed == 0.0:
        raise refuse("0 m/s", "to stay where it is, say 'stand still'")
    asked = params.speed or (params.speed_range or (0.0,))[0]
    if asked > (limit := beyond(body)):
        fast = body.paces[Pace.FAST].judged.low
        raise refuse(
            f"{asked:g} m/s",
            f"{body.noun} cannot go that fast; {fast:g} m/s is fast for it, {limit:g} out of reach",
        )
    if params.level is not None and not body.has("height"):
        raise refuse(params.level, f"{body.noun} has no height")


def _sideways_possible(body: RobotFacts) -> bool:
    return body.has("velocity_y", "height")


def _pacing(params: Params, body: RobotFacts, direction: Direction) -> Pacing:
    if params.speed is not None:
        slack = max(EXACT * params.speed, min(0.05, 0.5 * params.speed))  # standing is no slow speed
        judged = Band(round(params.speed - slack, 3), round(params.speed + slack, 3))
        aim = Band(round(0.95 * params.speed, 3), round(1.05 * params.speed, 3))
        return Pacing(judged, aim, margin=_margin(params.speed, body))
    if params.speed_range is not None:
        low, high = params.speed_range
        if high == inf:
            return Pacing(Band(low), Band(round(1.1 * low, 3)), margin=_margin(low, body))
        low = low or round(0.25 * high, 3)  # "at most" still requires movement
        inner = round(0.2 * (high - low), 3)
        aim = Band(round(low + inner, 3), round(high - inner, 3))
        return Pacing(Band(low, high), aim, margin=_margin(high, body))
    gait = params.gait or "move"
    if params.pace is None and gait == "crawl":
        return body.crawl
    if params.pace is None and gait == "hop" and body.hop is not None:
        return body.hop
    pace = params.pace or _PACE_OF_GAIT.get(gait, Pace.MODERATE)
    found = _paces(body, direction)[pace]
    if params.fastest:
        return Pacing(
            Band(fastest(body, direction, found.judged.low)),
            top=inf,
            scale=found.scale if found.aim is None else found.judged.low,
        )
    if params.pace is None and gait in ("move", "hop", "swim", "trot", "pace", "bound", "amble"):
        return Pacing(Band(found.judged.low), found.aim, found.margin, found.top, found.scale)
    return found


def _margin(speed: float, body: RobotFacts) -> float:
    """Of a stated speed; one of 1 m/s pays a swimmer, which is as slow as it glides, for doing nothing."""
    return round(speed if body.swims else max(1.0, speed), 3)


def _velocity(direction: Direction) -> str:
    sign = "-" if SIGN[direction] < 0 else ""
    return f'{sign}info["velocity_{AXIS[direction]}"]'


def _terms(
    direction: Direction, pacing: Pacing, body: RobotFacts, band: Band | None, gait: str, how: FourLegGait | None
) -> list[Term]:
    gated = "upright * held * " if band else "upright * "
    if body.gate == "1.0" and not band:
        gated = ""
    v = ("-" if SIGN[direction] < 0 else "") + f"v_{AXIS[direction]}"
    latex = gate_latex(body) + (r"H\," if band else "")
    if pacing.aim is None:
        credit = f"np.clip({_velocity(direction)}, {number(-min(2.0, pacing.scale))}, {number(pacing.top)})"
        credit += "" if pacing.scale == 1.0 else f" / {number(pacing.scale)}"
        top = r"\infty" if pacing.top == inf else f"{pacing.top:g}"
        latex += rf"\mathrm{{clip}}({v}, {-min(2.0, pacing.scale):g}, {top})"
        latex += "" if pacing.scale == 1.0 else f"/{pacing.scale:g}"
    else:
        low, high = pacing.aim.low, pacing.aim.high
        credit = f"tolerance({_velocity(direction)}, {number(low)}, {number(high)}, {{margin}})"
        latex += rf"\mathrm{{tol}}({v}; {low:g}, {high:g})"
    margin = pacing.margin if pacing.aim else None
    described = f"moving {direction} at {_words(pacing.aim or pacing.judged)}"
    found = [Term(direction.value, body.main_weight, gated + credit, latex, described, margin=margin)]
    if band:
        found.append(Term("height", 0.3, "upright * held", r"U\,H", "holding the torso at the height asked for"))
    found += trunk(body)
    if how is not None:
        found += terms_of_gait(how, body)
    elif gait in STEPPING_GAITS and body.has("foot_idle_time"):  # every leg takes part
        penalty = 'np.clip(info["foot_idle_time"] - 0.5, 0.0, 1.5)'
        latex = r"\mathrm{clip}(t_f - 0.5, 0, 1.5)"
        found.append(Term("idle_leg", 0.2, penalty, latex, "penalty for a leg that rests", sign=-1))
    if bounces_by(body, gait) is not None:
        penalty = 'np.clip(info["velocity_z"] ** 2, 0.0, 1.0)'
        found.append(Term("bounce", 1.0, penalty, r"\dot z^2", "penalty for going up and down", sign=-1))
    if how is None and slides_by(body, gait) and body.feet:
        slipping = " + ".join(f'np.clip(info["slip:{foot}"], 0.0, 2.0)' for foot in body.feet_names)
        penalty = f"({slipping}) / {number(body.feet)}"
        found.append(Term("slip", 0.3, penalty, r"\overline{v_f}", "penalty for feet that slide", sign=-1))
    return found


def _line(direction: Direction, body: RobotFacts, stage: Stage) -> list[Term]:
    """Terms that keep a straight line and its heading; empty if the robot cannot leave the line.

    In a sequence a turn may have come before: then only the speed across the line costs something.
    """
    if body.sideways is None or (body.upright is None and not stage.alone):
        return []
    across = "x" if AXIS[direction] == "y" else "y"
    words = "penalty for drifting off the line"
    if body.upright is None:
        # A swimmer's head swings to either side with every stroke; only where that leads to is drift.
        penalty = f'np.clip(abs(info["displacement_{across}"]), 0.0, 1.0)'
        latex = rf"|d_{across}|"
        found = [Term("sideways", 0.15, penalty, latex, words, sign=-1)]
    else:
        penalty = f'upright * np.clip(abs(info["velocity_{across}"]), 0.0, 1.0)'
        found = [Term("sideways", 0.5, penalty, rf"U\,|v_{across}|", words, sign=-1)]
    if body.has("yaw_turns") and stage.alone:
        penalty = 'np.clip(abs(info["yaw_turns"]), 0.0, 0.5)'
        weight = 3.0 if body.described else 0.3
        found.append(Term("heading", weight, penalty, r"|\psi|", "penalty for turning away from its heading", sign=-1))
    return found


def _main(direction: Direction, pacing: Pacing, stage: Stage, distance: float) -> Criterion:
    axis = AXIS[direction]
    words = _words(pacing.judged)
    if not stage.last:
        target = stage.goal(f"displacement_{axis}", distance)
        forth = distance > 0
        band = Band(target) if forth else below(target)
        return Criterion(
            key=f"moves_{direction}",
            title=f"Moves {abs(distance):g} m {direction}",
            description=f"The place along {AXIS[direction]} reaches {target:g} m from the start.",
            category=Category.GAIT,
            predicate=on_feature(
                Statistic.MAX if forth else Statistic.MIN,
                f"displacement_{AXIS[direction]}",
                band,
                "m",
                margin=abs(distance),
            ),
            weight=2.0,
        )
    low, high = pacing.judged.low, pacing.judged.high
    signed = Band(low, high) if SIGN[direction] > 0 else Band(-high, -low)
    finite = [abs(end) for end in (signed.low, signed.high) if abs(end) != inf]
    window = Window() if stage.alone else Window(last_share=0.7)
    speed = on_feature(
        Statistic.MEAN, f"velocity_{axis}", signed, "m/s", margin=round(0.7 * min(finite), 3), window=window
    )
    return Criterion(
        key=f"moves_{direction}",
        title=f"Moves {direction} at {words}",
        description=f"The mean velocity {'to the left' if axis == 'y' else 'forward'} is {_words(signed)}.",
        category=Category.GAIT,
        predicate=speed,
        weight=2.0,
    )


def _words(band: Band) -> str:
    if band.high == inf:
        return f"{band.low:g} m/s or more"
    if band.low == -inf:
        return f"{band.high:g} m/s or less"
    return f"{band.low:g} to {band.high:g} m/s"
