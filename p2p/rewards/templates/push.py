"""Template: push the object to the goal."""

from p2p.contracts.intent import Category, Criterion, Statistic
from p2p.rewards.templates.bodies import RobotFacts
from p2p.rewards.templates.criteria import below, on_feature
from p2p.rewards.templates.plan import Plan, Stage, Template, Term
from p2p.rewards.templates.skill import Params
from p2p.rewards.templates.terms import effort, refuse

NEAR = 0.1
"""Distance of the object's centre to the goal's that counts as there [m]."""
TIP = slice(14, 17)
OBJECT = slice(17, 20)
"""Where Pusher-v5's observation holds the tip of the arm and the object; a test holds them against its description."""


class Push(Template):
    """Push the object on the table to the goal."""

    name = "push"

    def examples(self, body: RobotFacts) -> tuple[str, ...]:
        """The plain form."""
        del body
        return ("push the object to the goal", "reach the target")

    def missing(self, body: RobotFacts) -> str:
        """Reason why the robot cannot push."""
        return f"there is nothing for {body.noun} to push"

    def plan(self, params: Params, body: RobotFacts, stage: Stage) -> Plan:
        """The object near the goal; the tip near the object, as guidance."""
        if not stage.alone:
            raise refuse("push the object", "it does not go with other steps")
        near = 'tolerance(info["target_distance"], 0.0, 0.05, {margin})'
        main = Criterion(
            key="object_at_goal",
            title=f"The object ends within {100 * NEAR:g} cm of the goal",
            description=f"The distance of the object to the goal is at most {NEAR:g} m at the last step.",
            category=Category.DYNAMICS,
            predicate=on_feature(Statistic.FINAL, "target_distance", below(NEAR), "m", margin=0.15),
            weight=2.0,
        )
        is_pushed = Criterion(
            key="is_pushed",
            title="The object was pushed closer",
            description="The object's distance to the goal falls by 5 cm or more over the episode.",
            category=Category.DYNAMICS,
            predicate=on_feature(Statistic.CHANGE, "target_distance", below(-0.05), "m", margin=0.1),
        )
        return Plan(
            label="PushToGoal",
            summary="Pushing the object to the goal",
            terms=(
                Term("distance", 1.0, 'info["target_distance"]', "d", "penalty for the object's distance", sign=-1),
                Term("touch", 0.5, "tip", r"\|p_t - p_o\|", "penalty for the tip's distance to the object", sign=-1),
                Term("near", 1.0, near, r"\mathrm{tol}(d; 0, 0.05)", "the object at the goal", margin=0.3),
                effort(body.effort),
            ),
            main=main,
            guards=(is_pushed,),
            definitions={
                "tip": (f"np.linalg.norm(next_obs[{TIP.start}:{TIP.stop}] - next_obs[{OBJECT.start}:{OBJECT.stop}])")
            },
            recipe={"total_timesteps": body.budget("push")},
            judged_s=params.duration_s or body.judged_s,
        )
