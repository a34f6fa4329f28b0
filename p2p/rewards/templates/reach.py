"""Template: reach the target with the arm's tip."""

from p2p.contracts.intent import Category, Criterion, Statistic, Window
from p2p.rewards.templates.bodies import RobotFacts
from p2p.rewards.templates.criteria import below, on_feature
from p2p.rewards.templates.plan import Plan, Stage, Template, Term
from p2p.rewards.templates.skill import Params
from p2p.rewards.templates.terms import effort, refuse

NEAR = 0.03
"""Distance that counts as reached [m]."""


class Reach(Template):
    """Bring the tip to the target and keep it there."""

    name = "reach"

    def examples(self, body: RobotFacts) -> tuple[str, ...]:
        """The plain form."""
        del body
        return ("reach the target", "touch the target smoothly")

    def missing(self, body: RobotFacts) -> str:
        """Reason why the robot cannot reach."""
        return f"{body.noun} has no target to reach"

    def plan(self, params: Params, body: RobotFacts, stage: Stage) -> Plan:
        """A short distance, held until the end; swinging through the target is not enough."""
        if not stage.alone:
            raise refuse("reach the target", "it does not go with other steps")
        near = 'tolerance(info["target_distance"], 0.0, 0.02, {margin})'
        main = Criterion(
            key="reaches_target",
            title=f"Is within {100 * NEAR:g} cm of the target at the end",
            description=f"The distance at the last step is at most {NEAR:g} m.",
            category=Category.DYNAMICS,
            predicate=on_feature(Statistic.FINAL, "target_distance", below(NEAR), "m", margin=0.1),
            weight=2.0,
        )
        ends_there = Criterion(
            key="stays_at_target",
            title="Stays at the target",
            description=f"Over the last quarter of the episode the mean distance is at most {NEAR:g} m.",
            category=Category.STABILITY,
            predicate=on_feature(
                Statistic.MEAN, "target_distance", below(NEAR), "m", margin=0.1, window=Window(last_share=0.25)
            ),
        )
        return Plan(
            label="ReachTarget",
            summary="Bringing the tip to the target and keeping it there",
            terms=(
                Term("distance", 5.0, 'info["target_distance"]', "d", "penalty for the distance", sign=-1),
                Term("near", 1.0, near, r"\mathrm{tol}(d; 0, 0.02)", "being at the target", margin=0.1),
                effort(body.effort),
            ),
            main=main,
            guards=(ends_there,),
            recipe={"total_timesteps": body.budget("reach"), "episode_s": 2.0},
            judged_s=params.duration_s or body.judged_s,
        )
