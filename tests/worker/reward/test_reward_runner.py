import numpy as np
import pytest

from p2p.contracts.errors import RewardFailed
from p2p.contracts.training import TrainConfig
from p2p.envs import catalog
from p2p.worker.engine.vec_env import VecEnv
from p2p.worker.reward.evaluator import steps_of
from p2p.worker.reward.inputs import RewardInputs
from p2p.worker.reward.recorded_steps import StepCounter
from p2p.worker.reward.runner import RewardRunner
from p2p.worker.reward_source.info_names import names_read
from p2p.worker.reward_source.loader import LoadedReward


def function(body, parameters="obs, action, next_obs, info"):
    return f"def reward_fn({parameters}):\n    {body}\n"


class Stage:
    """Environments with a reward, played block after block."""

    def __init__(self, source, n=3):
        self.env = VecEnv(TrainConfig(), catalog.load("HalfCheetah-v5"), n)
        self.env.reset(range(n), list(range(n)))
        self.inputs = RewardInputs(self.env.simulation)
        self.runner, self.counter = RewardRunner(LoadedReward(source), n), StepCounter(n)

    def play(self, steps, actions=1.0):
        """Totals and terms, shape (steps, n, 1 + n_terms), and the block."""
        for _ in range(steps):
            self.env.step(np.full((self.env.n, 6), actions, dtype=np.float32))
        block = self.env.take_block()
        columns = self.inputs.read(block)
        table, self.names = self.counter.checked(self.runner.run, steps_of(block, columns))
        self.counter.advance(block.starts)
        return block.grid(table), block, columns


def test_the_total_and_its_terms_come_for_every_step(class_reward):
    stage = Stage(class_reward)
    table, block, columns = stage.play(2)
    assert stage.names == ("speed", "ctrl")
    assert table[:, :, 2] == pytest.approx(-0.6)
    assert np.array_equal(table[:, :, 0], table[:, :, 1] + table[:, :, 2])
    assert np.array_equal(table[:, :, 1], block.grid(columns["x_velocity"]))


def test_an_episode_start_is_seen_on_exactly_the_first_steps_of_each_environment():
    stage = Stage(function('s = float(info["_episode_start"]); return s, {"s": s}'))
    seen = [stage.play(1)[0][:, :, 0].tolist(), stage.play(1)[0][:, :, 0].tolist()]
    stage.env.reset([1], [None])
    assert [*seen, stage.play(2)[0][:, :, 0].tolist()] == [[[1, 1, 1]], [[0, 0, 0]], [[0, 1, 0], [0, 0, 0]]]


def test_a_rewards_state_begins_anew_with_the_episode_of_its_own_environment():
    counter = (
        "n = 0\ndef reward_fn(obs, action, next_obs, info):\n    global n\n    n += 1\n    return n, {'n': float(n)}\n"
    )
    stage = Stage(counter)
    stage.play(1)
    stage.env.reset([2], [None])
    assert stage.play(2)[0][:, :, 0].tolist() == [[2, 2, 1], [3, 3, 2]]


def test_what_a_reward_writes_into_its_arguments_changes_nothing():
    stage = Stage(function('obs[:] = 9; action[:] = 9; next_obs[:] = 9; return 0.0, {"z": 0.0}'))
    _, block, _ = stage.play(2)
    assert (block.actions == 1.0).all()
    assert not (block.before.observations == 9).any()
    assert not (block.after.observations == 9).any()


def test_numbers_reach_a_reward_as_plain_python_ones():
    body = (
        'kinds = type(info["time"]), type(info["_episode_start"]); ok = kinds == (float, bool); return ok, {"ok": ok}'
    )
    assert (Stage(function(body)).play(1)[0] == 1.0).all()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            'return 1.0, {"good": 1.0, "bad": float("nan")}',
            r"term 'bad' became nan at step 3 \(environment 0, step 1 of its",
        ),
        (
            'return 1.0, {"bad": 1.0 if info["_episode_start"] else -np.inf}',
            r"term 'bad' became -inf at step 6 \(environment 0, step 2 of its",
        ),
        ('return float("inf"), {"good": 1.0}', "total became inf"),
        ('return 1.0, {"a": info["nothing"]}', "line 2: the reward raised KeyError: 'nothing'"),
        ('return 1.0, ({"a": 1.0} if info["_episode_start"] else {"b": 1.0})', "terms changed from a to b"),
        ("return 1.0", "the reward raised TypeError"),
        ("raise SystemExit", "line 2: the reward raised SystemExit"),
    ],
)
def test_a_bad_reward_stops_the_run_and_is_named_with_step_and_observation(body, message):
    stage = Stage(function(body))
    with pytest.raises(RewardFailed, match=message) as failure:
        stage.play(2)
    assert "on observation [" in str(failure.value)
    assert "\n" not in str(failure.value)


def test_the_steps_of_earlier_blocks_count():
    stage = Stage(function('bad = float("nan") if info["time"] > 0.19 else 0.0; return bad, {"bad": bad}'), n=2)
    stage.play(2)
    with pytest.raises(RewardFailed, match=r"at step 8 \(environment 0, step 4 of its episode\)"):
        stage.play(3)


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ('return info["a"], {"b": info.get("b", 0.0)}', {"a", "b"}),
        ('return float("c" in info), {}', {"c"}),
        ("return 0.0, {}", set()),
        ('return sum(info.values()), {"a": info["a"]}', None),
        ("return helper(info), {}", None),
        ('key = "a"; return info[key], {}', None),
    ],
)
def test_the_source_tells_which_names_are_read_or_that_it_does_not_tell(body, names):
    assert names_read(function(body)) == names


def test_an_info_by_another_name_is_not_mistaken_for_none():
    assert names_read(function('return extra["a"], {}', "obs, action, next_obs, extra")) is None
