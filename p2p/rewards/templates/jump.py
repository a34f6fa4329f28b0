"""Jump: everything of the robot leaves the floor."""

from p2p.contracts.intent import Category, Criterion, Statistic, Window
from p2p.rewards.templates.bodies import Band, Body
from p2p.rewards.templates.criteria import at_least, at_most, on_feature, on_steps, stays_near, stays_upright
from p2p.rewards.templates.plan import Milestone, Plan, Stage, Template, Term
from p2p.rewards.templates.skill import Manner, Params
from p2p.rewards.templates.terms import alive, effort, gate, gate_latex, number, refuse

ALOFT_S = 0.1
"""How long a jump is above half its height [s]: free flight takes 0.2 s for 0.1 m."""
STARTED = Window(after=(at_most("airborne", 0.5),))
"""From when it is on the floor: some robots are dropped at their start, which is no jump."""
REPEATED = 3
"""Jumps that "repeatedly" asks for in one episode."""


class Jump(Template):
    """Jump once, several times, or as high as possible."""

    name = "jump"
    reads = frozenset({"gait", "times", "repeatedly", "highest", "height", "duration_s"})
    manners = frozenset({Manner.NO_FALL, Manner.UPRIGHT, Manner.IN_PLACE, Manner.LANDING})

    def examples(self, body: Body) -> tuple[str, ...]:
        """By number and by height."""
        return (
            "jump",
            "jump repeatedly",
            "jump 3 times",
            "jump as high as possible",
            f"jump {body.jump.once:g} m high",
        )

    def missing(self, body: Body) -> str:
        """Why it cannot jump."""
        return f"{body.noun} cannot leave the floor"

    def plan(self, params: Params, body: Body, stage: Stage) -> Plan:
        """Clearance under the lowest point, in place, on its feet."""
        _check(params, body, stage)
        clearance = params.height or (body.jump.high if params.highest else body.jump.once)
        times = params.times or (REPEATED if params.repeatedly else 1)
        return Plan(
            label="JumpHigh" if params.highest else "Jump",
            summary=f"Getting the whole body {clearance:g} m off the floor, on the spot and upright",
            terms=(*alive(body), *_terms(body, clearance), effort(0.02)),
            main=_main(clearance, times),
            guards=(*stays_upright(body, params), stays_near(body.jump.drift), *_guards(clearance, times)),
            definitions=gate(body),
            recipe={"total_timesteps": body.budget("jump"), "terminate_when_unhealthy": body.terminates},
            milestone=Milestone("clearance", round(clearance, 3)),
            seconds=2.0,
            judged_s=params.duration_s or body.judged_s,
        )


def _check(params: Params, body: Body, stage: Stage) -> None:
    if not stage.last and (params.times or 1) > 1:
        raise refuse("several jumps", "in a sequence they must come last")
    if params.height is not None and params.height > 3 * body.jump.high:
        raise refuse(
            f"{params.height:g} m", f"{body.noun} cannot jump that high; about {body.jump.high:g} m is high for it"
        )


def _terms(body: Body, clearance: float) -> list[Term]:
    jump, u = body.jump, gate_latex(body)
    lift = max(jump.lift, clearance)
    found = [
        Term("lift", jump.lift_weight, f'upright * np.clip(info["clearance"], 0.0, {number(lift)}) / {number(lift)}',
             rf"{u}\mathrm{{clip}}(h, 0, {lift:g})/{lift:g}", "height of the lowest point above the floor"),
        Term("rise", 1.0, f'upright * tolerance(info["height"], {number(jump.rise)}, np.inf, {{margin}})',
             rf"{u}\mathrm{{tol}}(z; {jump.rise:g}, \infty)", "height of the torso", margin=jump.rise_margin),
        Term("drift", jump.drift_weight, 'np.clip(info["displacement"], 0.0, 3.0)', r"\mathrm{clip}(d, 0, 3)",
             "price of leaving the spot", sign=-1),
    ]  # fmt: skip
    if jump.slip_weight:
        slip = Term("slip", jump.slip_weight, 'info["speed"]', "v", "price of horizontal speed", sign=-1)
        found.append(slip)
    return found


def _main(clearance: float, times: int) -> Criterion:
    words = f"{clearance:g} m off the floor"
    if times == 1:
        band, margin = Band(clearance), round(clearance, 4)
        predicate = on_feature(Statistic.MAX, "clearance", band, "m", margin=margin, window=STARTED)
        description = f"At least once the lowest point of the whole robot is {clearance:g} m above where it rests."
    else:
        where = (at_least("clearance", clearance),)
        predicate = on_steps(Statistic.COUNT, where, Band(float(times)), margin=float(times), window=STARTED)
        description = f"{times} times the lowest point of the whole robot is {clearance:g} m above where it rests."
    return Criterion(
        key="jumps",
        title=f"Jumps {words}" + (f" {times} times" if times > 1 else ""),
        description=description,
        category=Category.DYNAMICS,
        predicate=predicate,
        weight=2.0,
    )


def _guards(clearance: float, times: int) -> tuple[Criterion, ...]:
    aloft = Criterion(
        key="flies",
        title="Is in the air for as long as a jump takes",
        description=f"For {ALOFT_S:g} s without a break its lowest point is {clearance / 2:g} m above where it rests.",
        category=Category.DYNAMICS,
        predicate=on_steps(
            Statistic.LONGEST_HOLD,
            (at_least("clearance", round(clearance / 2, 4)),),
            Band(ALOFT_S),
            margin=ALOFT_S,
            window=STARTED,
        ),
    )
    return (aloft,) if times == 1 else (aloft, _lands_between(times))


def _lands_between(times: int) -> Criterion:
    """Without it, one high jump in which the legs kick would count as several."""
    return Criterion(
        key="lands_between",
        title="Comes down between the jumps",
        description=f"It comes to be on the floor {times} times or more, the start included.",
        category=Category.DYNAMICS,
        predicate=on_steps(Statistic.COUNT, (at_most("airborne", 0.5),), Band(float(times)), margin=float(times)),
    )
