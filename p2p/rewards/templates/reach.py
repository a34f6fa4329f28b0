"""Template: reach the target with the arm's tip."""

from p2p.contracts.intent import Category, Criterion, Statistic, Window
from p2p.rewards.templates.bodies import RobotFacts
from p2p.rewards.templates.criteria import below, on_feature
from p2p.rewards.templates.plan import Plan, Stage, Template, Term
from p2p.rewards.templates.skill import Params
from p2p.rewards.templates.terms import effort, jerk, refuse

NEAR = 0.03
"""Distance that counts as reached [m]."""
NEAR_THINGS = (0.02, 0.05)
"""Least and largest distance that counts as reached of a thing with a size [m]."""
OF_RADIUS = 0.6
"""The same as a share of the thing's radius, between these."""


class Reach(Template):
    """Bring the tip to the target and keep it there."""

    name = "reach"

    def examples(self, body: RobotFacts) -> tuple[str, ...]:
        """The plain form, and of a robot from a model file one with what is there."""
        return ("reach the target", f"touch the {body.thing.noun if body.thing is not None else 'target'} smoothly")

    def missing(self, body: RobotFacts) -> str:
        """Reason why the robot cannot reach."""
        return f"{body.noun} has no target to reach"

    def plan(self, params: Params, body: RobotFacts, stage: Stage) -> Plan:
        """A short distance, held until the end; swinging through the target is not enough."""
        if not stage.alone:
            raise refuse("reach the target", "it does not go with other steps")
        what, limit = "target", NEAR
        if body.thing is not None:
            low, high = NEAR_THINGS
            what, limit = body.thing.noun, round(min(max(OF_RADIUS * body.thing.radius, low), high), 2)
        paid, inside = round(limit * 2 / 3, 3), round(limit / 3, 3)
        near = f'tolerance(info["target_distance"], 0.0, {paid:g}, {{margin}})'
        main = Criterion(
            key="reaches_target",
            title=f"Is within {100 * limit:g} cm of the {what} at the end",
            description=f"The distance at the last step is at most {limit:g} m.",
            category=Category.DYNAMICS,
            predicate=on_feature(Statistic.FINAL, "target_distance", below(limit), "m", margin=0.1),
            weight=2.0,
        )
        ends_there = Criterion(
            key="stays_at_target",
            title=f"Stays at the {what}",
            description=f"Over the last quarter of the episode the mean distance is at most {limit:g} m.",
            category=Category.STABILITY,
            predicate=on_feature(
                Statistic.MEAN, "target_distance", below(limit), "m", margin=0.1, window=Window(last_share=0.25)
            ),
        )
        return Plan(
            label="ReachTarget",
            summary=f"Bringing the tip to the {what} and keeping it there",
            terms=(
                Term("distance", 5.0, 'info["target_distance"]', "d", "penalty for the distance", sign=-1),
                Term("near", 1.0, near, rf"\mathrm{{tol}}(d; 0, {paid:g})", f"being at the {what}", margin=0.1),
                *((_well_inside(inside, limit), jerk(0.3)) if body.thing is not None else ()),
                effort(body.effort),
            ),
            main=main,
            guards=(ends_there,),
            recipe={"total_timesteps": body.budget("reach"), "episode_s": 2.0},
            judged_s=params.duration_s or body.judged_s,
        )


def _well_inside(inside: float, limit: float) -> Term:
    """Pay most of what is left for the last centimetres: without it a Panda hovers about the limit."""
    paid = f'tolerance(info["target_distance"], 0.0, {inside:g}, {{margin}})'
    return Term("inside", 1.0, paid, rf"\mathrm{{tol}}(d; 0, {inside:g})", "being well inside the limit", margin=limit)
