from collections.abc import Mapping

import numpy as np
import pytest
from made_up_rows import HEAD, function, proven, rows

from p2p.worker.reward_source.loader import LoadedReward
from p2p.worker.vectorise import NotVectorised, prove, row_info, vectorise

BY_HAND = (
    HEAD
    + """
class R(RewardFunction):
    latex, terms = "r", {"x": "", "y": ""}
    def compute(self, obs, action, next_obs, info):
        x = float(obs[0])
        if x < -50.0:
            x = -50.0
        return x + info["speed"], {"x": x, "y": info["speed"]}
    def compute_batch(self, obs, action, next_obs, info):
        RETURN
"""
)
RIGHT = 'x = np.maximum(obs[:, 0], -50.0); return x + info["speed"], {"x": x, "y": info["speed"]}'


def try_proof(vector_source, reward_source):
    obs, action, next_obs, info = rows()
    vector = vectorise(LoadedReward(vector_source))
    prove(vector, LoadedReward(reward_source), obs, action, next_obs, info, info["_episode_start"])
    return vector


def test_a_batch_written_by_hand_is_preferred_once_proven():
    source = BY_HAND.replace("RETURN", RIGHT)
    assert proven(source).hand_written
    assert not vectorise(LoadedReward(source), use_compute_batch=False).hand_written


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (
            'return obs[:, 0], {"x": obs[:, 0], "y": info["speed"]}',
            "the total differs at row 0: .* for one row, .* for many",
        ),
        ('return obs[:, 0] + info["speed"], {"x": info["speed"], "y": obs[:, 0]}', "the term 'x' differs at row 0"),
        ('return obs[:, 0] + info["speed"], {"y": info["speed"], "x": obs[:, 0]}', "has the terms y, x for many rows"),
        ('return obs[:, 0] + info["speed"], {"x": obs[:, 0]}', "has the terms x for many rows, and x, y for one"),
        (
            'return obs[:, 0] + info["speed"], {"x": obs[:, 0], "y": 0.0}',
            r"returned the term 'y' in shape \(\), not \(60,\)",
        ),
        ('return obs, {"x": obs[:, 0]}', r"returned the total in shape \(60, 8\), not \(60,\)"),
        ('obs[0] = 0; return obs[:, 0], {"x": obs[:, 0]}', "raised ValueError: assignment destination is read-only"),
        ('return obs[:, 0] + info["speed"], {"x": obs[:, 0], "y": info["speed"]}', "the total differs at row"),
    ],
)
def test_a_batch_written_by_hand_is_refused_when_it_is_wrong(result, reason):
    with pytest.raises(NotVectorised, match=reason):
        proven(BY_HAND.replace("RETURN", result))


def test_made_up_rows_show_branches_that_the_recording_does_not():
    wrong = 'x = obs[:, 0]; return x + info["speed"], {"x": x, "y": info["speed"]}'
    source = BY_HAND.replace("RETURN", wrong)
    obs, action, next_obs, info = rows()
    totals = vectorise(LoadedReward(source))(obs, action, next_obs, info)[0]
    right = vectorise(LoadedReward(source), use_compute_batch=False)(obs, action, next_obs, info)[0]
    np.testing.assert_array_equal(totals, right)
    with pytest.raises(NotVectorised, match="differs at row"):
        proven(source)


def test_a_reward_with_a_memory_differs_from_one_without():
    memory = function("reward_fn.n = getattr(reward_fn, 'n', -1) + 1\nx = obs[0] + reward_fn.n")
    with pytest.raises(NotVectorised, match="the total differs at row 1: "):
        try_proof(function("x = obs[0]"), memory)


def test_the_reward_begins_anew_with_each_episode():
    first = function("reward_fn.n = getattr(reward_fn, 'n', -1) + 1\nx = obs[0] + (reward_fn.n == 0) * 0.0")
    try_proof(function("x = obs[0]"), first)


def test_a_value_where_the_reward_raises_is_a_difference():
    with pytest.raises(NotVectorised, match="where the reward raises ValueError"):
        try_proof(function("x = 0.0"), function("x = 0.0 * math.sqrt(20.0 + obs[0])"))


def test_only_the_columns_that_the_reward_asks_for_are_read():
    asked = []

    class Lazy(Mapping):
        def __getitem__(self, name):
            asked.append(name)
            return rows(30)[3][name]

        def __contains__(self, name):
            return name in rows(1)[3]

        def __iter__(self):
            raise AssertionError("nobody asked for all names")

        def __len__(self):
            raise AssertionError("nobody asked how many there are")

    vector = vectorise(LoadedReward(function('x = info["speed"] + info.get("height", 0.0) + info.get("other", 1.0)')))
    obs, action, next_obs, info = rows(30)
    totals, _, _ = vector(obs, action, next_obs, Lazy())
    np.testing.assert_allclose(totals, info["speed"] + info["height"] + 1.0)
    assert sorted(asked) == ["height", "speed"]


def test_the_arguments_stay_as_they_are():
    source = function(
        'obs[0] = 1.0\naction *= 2.0\ninfo["speed"] = 0.0\ninfo["forces"][0] = 5.0\nx = obs.sum() + action.sum()'
    )
    given, kept = rows(), rows()
    vectorise(LoadedReward(source))(*given)
    for array, copy in zip((*given[:3], *given[3].values()), (*kept[:3], *kept[3].values()), strict=True):
        np.testing.assert_array_equal(array, copy)


def test_a_row_of_info_holds_plain_numbers_and_copies_of_arrays():
    info = rows()[3]
    row = row_info(info, 20)
    assert [type(row[name]) for name in ("speed", "steps", "healthy")] == [float, int, bool]
    assert row["_episode_start"] is True
    row["forces"][0] = np.nan
    assert np.isfinite(info["forces"]).all()


def test_rows_that_part_often_are_refused_and_others_are_not():
    source = function("xs = []\nfor o in obs:\n    if o > 0:\n        xs.append(o)\nx = float(len(xs))")
    vector = vectorise(LoadedReward(source))
    obs, action, next_obs, info = rows(500)
    with pytest.raises(NotVectorised, match="line 8: goes more than 32 different ways through the code"):
        vector(obs, action, next_obs, info)
    assert vector(np.abs(obs), action, next_obs, info)[0].tolist() == [8.0] * 500
