from p2p.agents.model.reward_author import WrittenReward, problems_of


def test_a_reward_is_compiled_before_a_review_is_spent_on_it() -> None:
    broken = WrittenReward(reasoning="r", source="def reward_fn(obs, action, next_obs, info)\n    return 0.0, {}\n")
    assert problems_of(broken) == ["source: line 1: not valid Python: expected ':'."]
    whole = WrittenReward(
        reasoning="r", source="def reward_fn(obs, action, next_obs, info):\n    return 0.0, {'a': 0.0}\n"
    )
    assert problems_of(whole) == []
