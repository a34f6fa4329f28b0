"""Template: stand up from lying."""

from p2p.contracts.intent import Category, Criterion, Statistic
from p2p.contracts.observe import Milestone
from p2p.rewards.templates.bodies import Band, RobotFacts
from p2p.rewards.templates.criteria import at_least, at_most, ends_on_its_feet, on_steps
from p2p.rewards.templates.plan import Plan, Stage, Template, Term
from p2p.rewards.templates.skill import Manner, Params
from p2p.rewards.templates.terms import effort, number

HOLD_S = 1.0
"""How long it must stand, where the sentence does not say [s]."""
UP_S = 2.0
"""When it is to be up [s]."""
HELD = 1.2
"""Share of the weight that is held at first: the robot hangs, and learns to put its feet below itself."""
HELD_UP_TO = 1.3
"""Height from which on nothing is held, as a share of the lowest that counts as standing, below which all is."""
STOOD_S = 4.0
"""Time after which a training episode that stands has succeeded [s]."""
OVER = 1.1
"""Height that is paid in full, as a share of the lowest that counts as standing."""
RISING = 0.8
"""Share of the lowest standing height that the torso has to be above after `UP_S`, and by as much less before, or the
training episode ends: what stays down teaches nothing more, nor what sinks below it again."""
_NETWORKS: dict[str, object] = {
    "net_arch": [256, 256],
    "activation": "relu",
    "batch_size": 128,
    "learning_rate": 1.5e-4,
    "gamma": 0.99,
}
"""As the preset of a humanoid that runs for a million steps, in smaller steps; that of one that lies was found by
Gymnasium's reward."""


class StandUp(Template):
    """Get from lying to standing."""

    name = "stand_up"
    reads = frozenset({"duration_s"})
    manners = frozenset({Manner.UPRIGHT})

    def examples(self, body: RobotFacts) -> tuple[str, ...]:
        """Sentences with and without a time."""
        del body
        return ("stand up", "stand up and stay upright", "stand up for 2 seconds")

    def missing(self, body: RobotFacts) -> str:
        """Reason why the robot cannot stand up."""
        may = '; `lying = "side"` in a file beside its model lets it' if body.described else ""
        return f"{body.noun} does not lie on the ground at the start{may}"

    def plan(self, params: Params, body: RobotFacts, stage: Stage) -> Plan:
        """Torso and head high, upright."""
        del stage
        hold = params.duration_s or HOLD_S
        judged = max(body.judged_s, hold + 3.0)
        low = body.stand.low
        top = number(OVER * low)
        latex = rf"\mathrm{{tol}}(u_z; 0.8, 1)\,\mathrm{{tol}}(z; {top}, \infty)"
        terms = (
            Term("height", 1.0, f'np.clip(info["height"], 0.0, {top}) / {top}', rf"\mathrm{{clip}}(z, 0, {top})/{top}",
                 "raising the torso"),
            Term("upright", 0.3, '(1.0 + info["up"]) / 2.0', "(1 + u_z)/2", "turning the torso upright"),
            Term("stands", 2.0, "standing", latex, "standing", margin=round(0.3 * low, 3)),
            Term("feet", 2.0, 'standing * info["feet_down"]', rf"{latex}\,c_f", "standing with its feet on the floor"),
            effort(body.effort),
        )  # fmt: skip
        where = (at_least("height", low), at_least("up", 0.7), at_most("torso_contact", 0.5))
        main = Criterion(
            key="stands",
            title=f"Stands for {hold:g} s",
            description=f"For {hold:g} s without a break the torso is upright at {low:g} m or higher, off the floor.",
            category=Category.POSTURE,
            predicate=on_steps(Statistic.LONGEST_HOLD, where, Band(hold), margin=hold),
            weight=2.0,
        )
        ends_upright = Criterion(
            key="on_its_feet",
            title="Stands on its feet",
            description="For half a second without a break its feet are down and its trunk is off the floor, upright.",
            category=Category.STABILITY,
            predicate=on_steps(
                Statistic.LONGEST_HOLD,
                (at_least("feet_down", 0.5), at_least("up", 0.7), at_most("torso_contact", 0.5)),
                Band(0.5),
                margin=0.5,
            ),
        )
        return Plan(
            label="StandUp",
            summary="Raising torso and head from lying to standing",
            terms=terms,
            main=main,
            guards=(ends_upright, ends_on_its_feet(body, judged, (at_least("height", low),))),
            definitions={
                "upright": 'tolerance(info["up"], 0.8, 1.0, 0.6)',
                "standing": f'upright * tolerance(info["height"], {top}, np.inf, m["stands"])',
            },
            recipe={
                "total_timesteps": body.budget("stand_up"),
                "terminate_when_unhealthy": False,
                "end_when": [f"height/min(time, {UP_S:g}) <= {number(RISING * low / UP_S)}"],
                "end_when_lost": [f"height >= {number(RISING * low)}"],
                "curriculum": {
                    "assistance": {
                        "goal": [f"time >= {STOOD_S:g}", f"height >= {number(low)}"],
                        "share": HELD,
                        "heights": [low, round(HELD_UP_TO * low, 3)],
                    }
                },
                **_NETWORKS,
            },
            milestones=(Milestone(feature="time", amount=hold + 3.0),),
            seconds=hold + 3.0,
            judged_s=judged,
        )
