"""Criteria, written by hand, of sentences that the built-in author does not understand."""

from p2p.contracts.intent import Bound, Category, Comparison, Criterion, Intent, Predicate, Statistic

AT_LEAST, AT_MOST = Comparison.AT_LEAST, Comparison.AT_MOST


def _turns_over(feature: str, turns: float) -> Criterion:
    right = turns > 0
    return Criterion(
        key="rolls_over",
        title="Rolls over once",
        description=f"{feature} reaches {turns:g}.",
        category=Category.DYNAMICS,
        predicate=Predicate(
            statistic=Statistic.MAX if right else Statistic.MIN,
            feature=feature,
            comparison=AT_LEAST if right else AT_MOST,
            threshold=turns,
            unit="turns",
            margin=1.0,
        ),
        weight=2.0,
    )


_ON_THE_FLOOR = Criterion(
    key="on_the_floor",
    title="Stays on the floor",
    description="It is off the floor in at most 5 % of the steps.",
    category=Category.DYNAMICS,
    predicate=Predicate(
        statistic=Statistic.FRACTION,
        where=(Bound(feature="airborne", comparison=AT_LEAST, threshold=0.5),),
        comparison=AT_MOST,
        threshold=0.05,
        unit="1",
        margin=0.2,
    ),
)

BY_HAND = (
    Intent(
        prompt="roll forward on the ground",
        env_id="HalfCheetah-v5",
        criteria=(_turns_over("pitch_turns", -0.95), _ON_THE_FLOOR),
        episode_s=6.0,
    ),
    Intent(
        prompt="roll over to the right",
        env_id="Ant-v5",
        criteria=(_turns_over("roll_turns", 0.95), _ON_THE_FLOOR),
        episode_s=6.0,
    ),
)


def written_by_hand(env_id: str, sentence: str) -> Intent | None:
    """The criteria of a sentence; None where the author's are used."""
    return next((intent for intent in BY_HAND if intent.env_id == env_id and intent.prompt == sentence), None)
