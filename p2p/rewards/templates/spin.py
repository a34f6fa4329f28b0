"""Spin about the vertical, in place."""

from p2p.contracts.intent import Category, Criterion, Statistic
from p2p.rewards.templates.bodies import Band, Body
from p2p.rewards.templates.criteria import at_least, at_most, below, on_feature, on_steps, stays_near, stays_upright
from p2p.rewards.templates.plan import Milestone, Plan, Stage, Template, Term
from p2p.rewards.templates.skill import Direction, Manner, Params
from p2p.rewards.templates.terms import effort, gate, gate_latex, refuse

SPUN_S = 0.5
"""Least time that a spin takes, half a turn included [s]."""
TURNING = 0.3
"""Rate from which on it counts as spinning [rad/s]; trained ants do so in 93 % of the steps."""
SECONDS_PER_TURN = 2.5
"""Time a trained ant needs [s]."""


class Spin(Template):
    """Turn on the spot, to the left or to the right."""

    name = "spin"
    reads = frozenset({"direction", "turns", "times", "repeatedly", "duration_s"})
    manners = frozenset({Manner.NO_FALL, Manner.UPRIGHT, Manner.IN_PLACE})

    def examples(self, body: Body) -> tuple[str, ...]:
        """With a number, a direction, an angle."""
        del body
        return ("spin in place", "spin left twice", "spin clockwise", "turn right 180 degrees")

    def missing(self, body: Body) -> str:
        """Why it cannot spin."""
        return f"{body.noun} lives in a vertical plane and cannot turn to the left or to the right"

    def plan(self, params: Params, body: Body, stage: Stage) -> Plan:
        """Yaw rate in the direction asked for, without leaving the spot."""
        turns = params.turns or float(params.times or 1)
        right = params.direction in (Direction.RIGHT, Direction.BACKWARD)
        if params.direction in (Direction.FORWARD, Direction.BACKWARD):
            raise refuse(f"spin {params.direction}", "a spin goes left or right; a flip goes forward or backward")
        signed = -turns if right else turns
        judged = max(body.judged_s, params.duration_s or 0.0, 1.0 + SECONDS_PER_TURN * turns)
        return Plan(
            label=f"Spin{'Right' if right else 'Left'}",
            summary=f"Turning to the {'right' if right else 'left'} on the spot",
            terms=_terms(body, right),
            main=_main(stage.goal("yaw_turns", signed), signed),
            guards=(
                *stays_upright(body, params),
                stays_near(body.spin_drift),
                *((_keeps_spinning(signed, judged),) if stage.alone else ()),
            ),
            definitions=gate(body),
            recipe={"total_timesteps": body.budget("spin"), "terminate_when_unhealthy": body.terminates},
            milestone=Milestone("yaw_turns", signed),
            seconds=1.0 + SECONDS_PER_TURN * turns,
            judged_s=judged,
        )


def _terms(body: Body, right: bool) -> tuple[Term, ...]:
    rate, top = f'{"-" if right else ""}info["yaw_rate"]', 2.0
    u, omega = gate_latex(body), r"-\omega_z" if right else r"\omega_z"
    gated = "" if body.gate == "1.0" else "upright * "
    return (
        Term("alive", 0.3, "upright", "U" if u else "1", "being on its feet"),
        Term("spin", 0.5, f"{gated}np.clip({rate}, -1.0, {top})", rf"{u}\mathrm{{clip}}({omega}, -1, {top:g})",
             f"turning to the {'right' if right else 'left'}"),
        Term("slip", 0.15, 'np.clip(info["speed"], 0.0, 2.0)', r"\mathrm{clip}(v, 0, 2)",
             "price of leaving the spot", sign=-1),
        effort(body.effort),
    )  # fmt: skip


def _main(target: float, signed: float) -> Criterion:
    side, turns = "left" if signed > 0 else "right", abs(signed)
    return Criterion(
        key=f"spins_{side}",
        title=f"Turns {turns:g} {'time' if turns == 1 else 'times'} to the {side}",
        description=f"The turns about the vertical since the start, left positive, reach {target:g}.",
        category=Category.DYNAMICS,
        predicate=on_feature(
            Statistic.MAX if signed > 0 else Statistic.MIN,
            "yaw_turns",
            Band(target) if signed > 0 else below(target),
            "turns",
            margin=turns,
        ),
        weight=2.0,
    )


def _keeps_spinning(signed: float, judged_s: float) -> Criterion:
    """Without it, one spike of the yaw rate would pass for a spin."""
    left = signed > 0
    bound = at_least("yaw_rate", TURNING) if left else at_most("yaw_rate", -TURNING)
    share = round(max(SPUN_S, 0.4 * abs(signed)) / judged_s, 3)
    return Criterion(
        key="keeps_spinning",
        title="Takes the time that a spin takes",
        description=f"In {share:.1%} of the steps or more it turns to the {'left' if left else 'right'} at "
        f"{TURNING:g} rad/s or faster.",
        category=Category.DYNAMICS,
        predicate=on_steps(Statistic.FRACTION, (bound,), Band(share), margin=share),
    )
