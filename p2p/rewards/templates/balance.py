"""Template: keep the pole up."""

from p2p.contracts.intent import Category, Criterion, Statistic
from p2p.rewards.templates.bodies import Band, RobotFacts
from p2p.rewards.templates.criteria import at_least, at_most, between, on_steps
from p2p.rewards.templates.plan import Plan, Stage, Template, Term
from p2p.rewards.templates.skill import Manner, Params
from p2p.rewards.templates.terms import refuse

LEAN = 0.2
"""Angle at which Gymnasium ends an episode of the single pole [rad]."""
TIP = 1.0
"""Height of the upper tip at which Gymnasium ends an episode of the double pole [m]."""
DOUBLE = "InvertedDoublePendulum-v5"


class Balance(Template):
    """Keep one pole, or two on top of each other, upright."""

    name = "balance"
    reads = frozenset({"duration_s"})
    manners = frozenset({Manner.CENTRED, Manner.UPRIGHT, Manner.NO_FALL})

    def examples(self, body: RobotFacts) -> tuple[str, ...]:
        """Sentences with and without a wish about the cart."""
        del body
        return ("keep the pole balanced", "balance the pole in the middle", "keep the pole up smoothly")

    def missing(self, body: RobotFacts) -> str:
        """Reason why the robot cannot balance a pole."""
        return f"{body.noun} has no pole"

    def plan(self, params: Params, body: RobotFacts, stage: Stage) -> Plan:
        """The pole upright at every step, the cart near the middle."""
        if not stage.alone:
            raise refuse("balance the pole", "it does not go with other steps")
        double = body.env_id == DOUBLE
        centred = Manner.CENTRED in params.manners
        limit = 0.3 if centred else 0.9
        near_middle = Criterion(
            key="near_middle",
            title=f"Keeps the cart within {limit:g} m of the middle",
            description=f"The cart is within {limit:g} m of the middle of its rail at 95% of the steps.",
            category=Category.POSTURE,
            predicate=on_steps(Statistic.FRACTION, (between("cart_position", -limit, limit),), Band(0.95), margin=0.6),
            weight=0.5,
            required=centred,
        )
        up = at_least("pole_height", TIP) if double else at_most("pole_angle", LEAN)
        main = Criterion(
            key="pole_up",
            title="Keeps the pole up",
            description=f"At 99% of the steps {up.feature} is {up.comparison.replace('_', ' ')} {up.threshold:g}.",
            category=Category.STABILITY,
            predicate=on_steps(Statistic.FRACTION, (up,), Band(0.99), margin=0.6),
            weight=2.0,
        )
        return Plan(
            label="BalancePoles" if double else "BalancePole",
            summary="Keeping the pole upright, with the cart near the middle",
            terms=DOUBLE_TERMS if double else SINGLE_TERMS,
            main=main,
            guards=(near_middle,),
            recipe={"total_timesteps": body.budget("balance"), "terminate_when_unhealthy": True},
            judged_s=params.duration_s or body.judged_s,
        )


SINGLE_TERMS = (
    Term("alive", 1.0, "1.0", "1", "every step the pole is up"),
    Term("lean", 2.5, 'info["pole_angle"]', r"|\theta|", "penalty for the pole's lean", sign=-1),
    Term("off_centre", 0.1, 'abs(info["cart_position"])', "|x|", "penalty for leaving the middle", sign=-1),
)


DOUBLE_TERMS = (
    Term("alive", 1.0, "1.0", "1", "every step the poles are up"),
    Term("sag", 2.0, '1.2 - info["pole_height"]', "(1.2 - h)", "penalty for a low tip", sign=-1),
    Term("off_centre", 0.2, 'abs(info["cart_position"])', "|x|", "penalty for leaving the middle", sign=-1),
    Term("wobble", 0.02, 'info["joint_speed"]', r"\overline{|\dot q|}", "penalty for turning joints", sign=-1),
)
