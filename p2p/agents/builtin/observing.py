"""What a policy must be told to follow a sentence: the order of its steps, its counts, and the turns it asks for."""

from collections.abc import Sequence

from p2p.analysis.config_audit import features_read, not_shown
from p2p.contracts.env import EnvSpec
from p2p.contracts.observe import Observe
from p2p.rewards.templates.plan import Plan, milestones_of


def observed(plans: Sequence[Plan], env: EnvSpec) -> Observe | None:
    """What the reward of these plans remembers and the observation does not show; None where that is nothing."""
    milestones = milestones_of(plans)
    counter = next((plan.counter for plan in plans if plan.counter), None)
    code = [text for plan in plans for text in (*(term.expression for term in plan.terms), *plan.definitions.values())]
    clock_s = next((plan.clock_s for plan in plans if plan.clock_s), None)
    read = features_read("\n".join(code)) - ({"time"} if clock_s else set())  # by the clock
    features = not_shown({one.feature for one in milestones} | read, env)
    told = dict.fromkeys(name for plan in plans for name in plan.tells if name in env.feature_names)
    features = (*features, *(name for name in told if name not in features))
    if not (features or milestones or counter or clock_s):
        return None
    return Observe(features=features, milestones=milestones, counter=counter, clock_s=clock_s)


def told_in_words(observe: Observe) -> str:
    """What the policy is told, as a sentence."""
    told = [name.replace("_", " ") for name in observe.features]
    told += [f"which of {len(observe.milestones) + 1} phases it is in, and for how long"] if observe.milestones else []
    told += ["how many it has counted"] if observe.counter else []
    told += [f"a clock of {observe.clock_s:g} s"] if observe.clock_s else []
    text = f"The policy is told {', '.join(told)}: no single state shows it."
    simulated = [one.name for one in observe.inputs if not one.on_robot]
    return text + (f" A robot cannot compute {', '.join(simulated)} by itself." if simulated else "")
