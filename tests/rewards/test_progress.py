"""How far episodes are, held against the rewards of the built-in author, which keep count in their own way."""

import numpy as np
import pytest

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.contracts.observe import Counter, Milestone, Observe
from p2p.contracts.training import TrainConfig
from p2p.envs import catalog
from p2p.rewards.progress import EpisodeProgress
from p2p.worker.reward_source.loader import LoadedReward

T = 400


@pytest.mark.parametrize(
    ("env_id", "sentence"),
    [
        ("Ant-v5", "spin left twice, then walk forward"),
        ("Ant-v5", "spin around once, then stand still"),
        ("HalfCheetah-v5", "do one front flip, land on your feet and then stand still"),
        ("Walker2d-v5", "walk forward for 2 seconds, then stand still"),
        ("Hopper-v5", "jump 3 times"),
    ],
)
def test_the_policy_is_told_what_its_reward_remembers(env_id, sentence):
    env = catalog.load(env_id)
    author = BuiltinAuthor()
    draft = author.write(author.elicit(sentence, env), env)
    observe = TrainConfig.model_validate({"env_id": env_id, **draft.config_changes}).observe
    reward = LoadedReward(draft.source).fresh()
    rng = np.random.default_rng(3)
    wave = 4.0 * np.sin(0.05 * np.arange(T))
    walk = {name: wave + rng.normal(0.0, 0.1, T) for name in env.feature_names}
    walk["time"] = env.dt * np.arange(1, T + 1)
    progress = EpisodeProgress(observe, 1)
    names = observe.names
    reached = set()
    for t in range(T):
        start = t in (0, 250)
        if start:
            progress.begin([0])
        info = {name: float(values[t]) for name, values in walk.items()}
        reward.compute(
            np.zeros(env.obs_dim), np.zeros(env.action_dim), np.zeros(env.obs_dim), info | {"_episode_start": start}
        )
        progress.advance({name: values[t : t + 1] for name, values in walk.items()})
        told = dict(zip(names, progress.values[0], strict=True))
        if observe.milestones:
            assert sum(told[f"step_{k}_done"] for k in range(1, len(observe.milestones) + 1)) == reward.phase
            since = info["time"] - reward.origin.get("time", 0.0)
            assert told["step_time"] == pytest.approx(since)
            reached.add(reward.phase)
        if observe.counter:
            assert told["counted"] == reward.counted
            reached.add(reward.counted)
        assert all(told[name] == info[name] for name in observe.features)
    assert len(reached) > 1, "nothing happened"


def test_steps_of_several_environments_do_not_mix():
    observe = Observe(milestones=(Milestone(feature="yaw_turns", amount=1.0), Milestone(feature="time", amount=0.5)))
    progress = EpisodeProgress(observe, 3)
    progress.begin(range(3))
    for t in range(1, 9):
        turns = np.array([0.0, 0.2 * t, -0.2 * t])
        progress.advance({"yaw_turns": turns, "time": np.full(3, 0.1 * t)})
    told = progress.values
    assert observe.names == ("step_1_done", "step_2_done", "step_time", "step_progress")
    assert told[:, 0].tolist() == [0.0, 1.0, 0.0]
    assert told[1, 2] == pytest.approx(0.3)
    assert told[1, 3] == pytest.approx(0.6)
    assert told[2, 3] == -1.0
    progress.begin([1])
    assert progress.values[1].tolist() == [0.0, 0.0, 0.0, 0.0]


def test_either_way_counts_where_it_may():
    observe = Observe(milestones=(Milestone(feature="yaw_turns", amount=1.0, either=True),))
    progress = EpisodeProgress(observe, 2)
    progress.advance({"yaw_turns": np.array([-0.4, 0.4]), "time": np.array([0.1, 0.1])})
    assert progress.values[:, 2].tolist() == [0.4, 0.4]
    progress.advance({"yaw_turns": np.array([-1.0, 0.9]), "time": np.array([0.2, 0.2])})
    assert progress.values[:, 0].tolist() == [1.0, 0.0]


def test_an_event_is_counted_once_until_it_is_over():
    progress = EpisodeProgress(Observe(counter=Counter(feature="clearance", low=0.1, high=0.2)), 1)
    counts = []
    for value in (0.0, 0.25, 0.15, 0.25, 0.05, 0.21):
        progress.advance({"clearance": np.array([value])})
        counts.append(progress.values[0, 0])
    assert counts == [0, 1, 1, 1, 1, 2]


def test_a_drop_at_the_start_is_no_event_in_any_episode():
    progress = EpisodeProgress(Observe(counter=Counter(feature="clearance", low=0.1, high=0.2)), 1)
    for _ in range(2):
        progress.begin([0])
        for value, count in ((0.3, 0), (0.0, 0), (0.25, 1)):
            progress.advance({"clearance": np.array([value])})
            assert progress.values[0, 0] == count


def test_what_is_met_by_chance_at_the_start_does_not_end_the_first_step():
    jump, turn = Milestone(feature="clearance", amount=0.2), Milestone(feature="yaw_turns", amount=1.0)
    progress = EpisodeProgress(Observe(milestones=(jump, turn)), 1)
    for _ in range(2):
        progress.begin([0])
        for clearance, turns, done in ((0.3, 0.0, (0, 0)), (0.1, 0.0, (0, 0)), (0.2, 0.5, (1, 0)), (0.0, 1.5, (1, 1))):
            progress.advance({"clearance": np.array([clearance]), "yaw_turns": np.array([turns]), "time": np.zeros(1)})
            assert tuple(progress.values[0, :2]) == done


def test_a_start_behind_a_turn_is_in_the_next_step_at_once():
    progress = EpisodeProgress(Observe(milestones=(Milestone(feature="pitch_turns", amount=0.9),)), 1)
    progress.begin([0], {"pitch_turns": np.array([0.95])})
    progress.advance({"pitch_turns": np.array([0.96]), "time": np.zeros(1)})
    assert progress.values[0, 0] == 1.0


def test_a_clock_goes_round_once_a_period_from_the_start_of_each_episode():
    progress = EpisodeProgress(Observe(clock_s=0.5), 2)
    progress.begin([0, 1])
    angles = []
    for t in range(1, 101):
        if t == 60:
            progress.begin([1])
        time = 0.02 * np.array([t, t if t < 60 else t - 59])
        progress.advance({"time": time})
        sine, cosine = progress.values.T
        angles.append(np.arctan2(sine, cosine))
        assert np.allclose(angles[-1], np.angle(np.exp(2j * np.pi * time / 0.5)))
    assert Observe(clock_s=0.5).names == ("clock_sine", "clock_cosine")
    assert all(one.on_robot for one in Observe(clock_s=0.5).inputs)
