"""Template: stand up from lying."""

from p2p.contracts.intent import Category, Criterion, Statistic
from p2p.contracts.observe import Milestone
from p2p.rewards.templates.bodies import Band, RobotFacts
from p2p.rewards.templates.criteria import at_least, at_most, on_steps
from p2p.rewards.templates.plan import Plan, Stage, Template, Term
from p2p.rewards.templates.skill import Manner, Params
from p2p.rewards.templates.terms import effort, number

HOLD_S = 1.0
"""How long it must stand, where the sentence does not say [s]."""


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
        return f"{body.noun} does not lie on the ground at the start"

    def plan(self, params: Params, body: RobotFacts, stage: Stage) -> Plan:
        """Torso and head high, upright."""
        del stage
        hold = params.duration_s or HOLD_S
        low = body.stand.low
        terms = (
            Term("height", 1.0, f'tolerance(info["height"], {number(low)}, np.inf, {{margin}})',
                 rf"\mathrm{{tol}}(z; {low:g}, \infty)", "raising the torso", margin=low),
            Term("head", 0.5, 'tolerance(info["top_height"], 1.4, np.inf, 1.4)', r"\mathrm{tol}(h; 1.4, \infty)",
                 "raising the head"),
            Term("upright", 0.3, '(1.0 + info["up"]) / 2.0', "(1 + u_z)/2", "turning the torso upright"),
            effort(body.effort),
        )  # fmt: skip
        where = (at_least("height", body.stand.low), at_least("up", 0.7), at_most("torso_contact", 0.5))
        main = Criterion(
            key="stands",
            title=f"Stands for {hold:g} s",
            description=f"For {hold:g} s without a break the torso is upright at {body.stand.low:g} m or higher, off "
            "the floor.",
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
            guards=(ends_upright,),
            recipe={"total_timesteps": body.budget("stand_up"), "terminate_when_unhealthy": False},
            milestone=Milestone(feature="time", amount=hold + 3.0),
            seconds=hold + 3.0,
            judged_s=max(body.judged_s, hold + 3.0),
        )
