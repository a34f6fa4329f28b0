"""Trainings whose episodes begin in planned motions."""

from dataclasses import replace

import pytest
from pydantic import ValidationError

from p2p.contracts.errors import InvalidConfig
from p2p.contracts.start_states import StartStates
from p2p.contracts.training import TrainConfig
from p2p.envs import catalog
from p2p.store.iterations import IterationRecord
from p2p.worker.training import planned_starts
from p2p.worker.training.planned_starts import start_states
from p2p.worker.training.run import Run
from p2p.worker.training.train import Training, train

SOURCE = "def reward_fn(obs, action, next_obs, info):\n    v = info['velocity_x']\n    return v, {'v': v}\n"


def recorded(directory, goal="velocity_x >= 0.5", seconds=0.3, motions=2):
    record = IterationRecord(directory)
    planned = {"goal": [goal], "seconds": seconds, "motions": motions}
    sizes = {"n_envs": 4, "n_steps": 32, "batch_size": 64, "net_arch": (8, 8), "episode_s": 0.5, "num_evals": 1}
    starts = {"share": 0.9, "planned": planned}
    record.save_config(TrainConfig(total_timesteps=256, n_eval_episodes=3, start_states=starts, **sizes))
    record.save_env_spec(catalog.load("HalfCheetah-v5"))
    record.save_reward_source(SOURCE)
    return record


def test_episodes_begin_along_the_motions_which_are_planned_once(tmp_path, monkeypatch):
    run = Run.open(recorded(tmp_path))
    starts = start_states(run, 5, 1)
    found = run.record.read_planned_states()
    assert starts == StartStates(share=0.9, states=found.states, motions=2)
    assert (found.motions, found.reached) == (2, 2)
    speeds = [state.qvel[0] for state in found.states]
    assert max(speeds) >= 0.45
    assert found.steps > 32 * len(found.states)

    def refuse(*_):
        raise AssertionError("planned again")

    monkeypatch.setattr(planned_starts, "Planner", refuse)
    assert start_states(run, 5, 1) == starts
    placer = Training(run, threads=1)._collector._env._placer
    assert placer._starts == starts
    assert set(placer.origins.tolist()) > {-1}


@pytest.mark.slow
def test_a_goal_that_nothing_reaches_is_a_warning_and_what_was_simulated_is_told(tmp_path):
    record = recorded(tmp_path, goal="height >= 50", motions=1)
    train(record.path)
    summary, found = record.read_summary(), record.read_planned_states()
    assert summary.planned_steps == found.steps > 0
    assert summary.total_timesteps == 256
    assert found.reached == 0
    assert "None of the 3 planned motions reached the goal" in summary.warnings[0]


def test_a_goal_of_what_the_robot_does_not_have_is_refused(tmp_path):
    with pytest.raises(InvalidConfig, match=r"start_states.planned.goal: .*wings"):
        start_states(Run.open(recorded(tmp_path, goal="wings >= 1")), 5, 1)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"planned": {"goal": ["up >= 0.9"]}, "pitch": [0.1, 0.2]}, "planned and ranges; give one of them"),
        ({"planned": {"goal": []}}, "at least 1 item"),
        ({"planned": {"goal": ["up = 0.9"]}}, "is no comparison"),
    ],
)
def test_what_is_planned_cannot_contradict_itself(fields, words):
    with pytest.raises(ValidationError, match=words):
        StartStates.model_validate(fields)


def test_moving_back_follows_motions_and_no_ranges():
    back = {"starts": {"goal": ["up >= 0.9"], "reverse": True}}
    with pytest.raises(ValidationError, match=r"or start_states.planned; got 0 of 1"):
        TrainConfig(start_states={"raised": [0.1, 0.2]}, curriculum=back)
    assert TrainConfig(start_states={"planned": {"goal": ["up >= 0.9"]}}, curriculum=back).curriculum.starts.reverse


def test_motions_that_miss_the_goal_are_left_out_and_others_are_tried(tmp_path, monkeypatch):
    drawn = iter([False, True, True])

    class Planned(planned_starts.Planner):
        def motion(self, seed):
            return replace(super().motion(seed), reached=next(drawn))

    monkeypatch.setattr(planned_starts, "Planner", Planned)
    run = Run.open(recorded(tmp_path, motions=2))
    starts = start_states(run, 5, 1)
    assert (starts.motions, len(starts.states)) == (2, 64)
    found = run.record.read_planned_states()
    assert (found.motions, found.reached, found.kept) == (3, 2, 2)
