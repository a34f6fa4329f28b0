"""Jump: everything of the robot leaves the floor."""

from p2p.contracts.intent import Category, Criterion, Statistic
from p2p.rewards.templates.bodies import Band, Body
from p2p.rewards.templates.criteria import at_least, on_feature, on_steps, stays_near, stays_upright
from p2p.rewards.templates.plan import Milestone, Plan, Stage, Template, Term
from p2p.rewards.templates.skill import Manner, Params
from p2p.rewards.templates.terms import alive, effort, gate, gate_latex, number, refuse

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
            guards=(*stays_upright(body, params), stays_near(body.jump.drift)),
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
        predicate = on_feature(Statistic.MAX, "clearance", Band(clearance), "m", margin=round(clearance, 4))
        description = f"At least once the lowest point of the whole robot is {clearance:g} m above where it rests."
    else:
        where = (at_least("clearance", clearance),)
        predicate = on_steps(Statistic.COUNT, where, Band(float(times)), margin=float(times))
        description = f"{times} times the lowest point of the whole robot is {clearance:g} m above where it rests."
    return Criterion(
        key="jumps",
        title=f"Jumps {words}" + (f" {times} times" if times > 1 else ""),
        description=description,
        category=Category.DYNAMICS,
        predicate=predicate,
        weight=2.0,
    )
