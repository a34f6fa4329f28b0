"""What a curriculum changes in the rollouts of a training, and that it changes nothing else."""

import mujoco
import numpy as np
import pytest

from p2p.contracts.curriculum import Assistance, Curriculum, Pushes
from p2p.contracts.errors import InvalidConfig
from p2p.contracts.intent import Category, Comparison, Criterion, Intent, Predicate, Statistic
from p2p.contracts.start_states import StartState, StartStates
from p2p.contracts.training import TrainConfig
from p2p.envs import catalog
from p2p.store.iterations import IterationRecord
from p2p.worker.engine import simulation
from p2p.worker.engine.vec_env import VecEnv
from p2p.worker.rollout.assistance import Assistant
from p2p.worker.rollout.curriculum import Pusher, RewardWeights
from p2p.worker.rollout.episodes import run_episodes
from p2p.worker.training.run import Run
from p2p.worker.training.train import Training

PLAIN = "def reward_fn(obs, action, next_obs, info):\n    v = info['velocity_x']\n    return v, {'v': v}\n"
NOT_A_SUM = PLAIN.replace("return v,", "return 2 * v + 1,")
SIZES = {"n_envs": 4, "n_steps": 32, "batch_size": 64, "net_arch": (8, 8), "episode_s": 1.0, "total_timesteps": 1280}
STATES = [{"qpos": [0.001 * i] * 9, "qvel": [0.0] * 9} for i in range(4)]


def training(directory, curriculum, source=PLAIN, intent=None, **options):
    record = IterationRecord(directory)
    record.save_config(
        TrainConfig(
            **{"env_id": "HalfCheetah-v5", **SIZES, **options}, curriculum=Curriculum.model_validate(curriculum)
        )
    )
    record.save_env_spec(catalog.load(options.get("env_id", "HalfCheetah-v5")))
    record.save_reward_source(source)
    if intent is not None:
        record.save_criteria(intent)
    return Training(Run.open(record), threads=1)


def rows(one, rollouts):
    for rollout in range(1, rollouts + 1):
        one.learn(rollout * 128)
    return one._run.record.parse_scalars()[0]


def test_episodes_grow_to_their_whole_length(tmp_path):
    found = rows(training(tmp_path, {"episodes": {"start_s": 0.2, "until": 0.5}}), 10)
    lengths = [row["curriculum_episode_s"] for row in found]
    assert lengths[0] == pytest.approx(0.2)
    assert lengths[5:] == [pytest.approx(1.0)] * 5
    assert lengths == sorted(lengths)
    assert found[1]["episode_length"] < 8
    assert found[9]["episode_length"] > 15


def test_a_weight_changes_what_is_learnt_from_and_not_what_is_recorded(tmp_path):
    constant = rows(training(tmp_path / "one", {"weights": {"v": [[0.0, 1.0]]}}), 4)
    changing = rows(training(tmp_path / "two", {"weights": {"v": [[0.0, 1.0], [1.0, 3.0]]}}), 4)
    assert [row["curriculum_weight_v"] for row in changing] == pytest.approx([1.0, 1.2, 1.4, 1.6])
    assert constant[0]["reward_term_v"] == changing[0]["reward_term_v"]
    assert constant[0]["policy_loss"] == changing[0]["policy_loss"]
    assert constant[1]["value_loss"] != changing[1]["value_loss"]


def test_weighted_totals_are_the_sum_of_the_weighted_terms():
    table = np.array([[3.0, 1.0, 2.0], [-1.0, 4.0, -5.0]])
    weights = RewardWeights(Curriculum(weights={"b": ((0.0, 0.0), (1.0, 4.0))}))
    assert weights.at(0.5) == {"b": 2.0}
    assert weights.apply(table, ("a", "b"), weights.at(0.5)).tolist() == [5.0, -6.0]


@pytest.mark.parametrize(
    ("source", "term", "message"),
    [(NOT_A_SUM, "v", "sum of its terms"), (PLAIN, "slip", "no term of the reward; its terms are v")],
)
def test_a_reward_that_cannot_be_weighted_is_refused(tmp_path, source, term, message):
    with pytest.raises(InvalidConfig, match=message):
        rows(training(tmp_path, {"weights": {term: [[0.0, 0.5]]}}, source), 1)


def test_starts_are_left_as_ordinary_episodes_reach_the_goal(tmp_path):
    start = {"share": 0.8, "states": STATES}
    easy = {"starts": {"goal": ["time >= 0.5"], "episodes": 4, "share_end": 0.2}}
    never = {"starts": {"goal": ["height >= 90"], "episodes": 4, "share_end": 0.2}}
    found = rows(training(tmp_path / "easy", easy, start_states=start), 10)
    kept = rows(training(tmp_path / "never", never, start_states=start), 10)
    assert found[0]["curriculum_start_share"] == 0.8
    assert found[-1]["curriculum_start_share"] == pytest.approx(0.2)
    assert {row["curriculum_start_share"] for row in kept} == {0.8}


def test_a_reverse_curriculum_moves_back_only_where_the_goal_is_reached(tmp_path):
    start = {"share": 0.8, "states": STATES}
    for goal, last in (("time >= 0.5", 0), ("height >= 90", 3)):
        reverse = {"starts": {"goal": [goal], "episodes": 3, "share_end": 0.8, "reverse": True}}
        found = rows(training(tmp_path / goal[:4], reverse, start_states=start), 16)
        stages = [row["curriculum_start_state"] for row in found]
        assert stages[0] == 3
        assert stages[-1] == last
        assert stages == sorted(stages, reverse=True)


def test_starts_may_follow_the_success_at_checkpoints_which_needs_criteria(tmp_path):
    follows = {"starts": {"share_end": 0.1}}
    start = {"share": 0.5, "states": STATES}
    with pytest.raises(InvalidConfig, match="needs criteria"):
        training(tmp_path / "without", follows, start_states=start)
    predicate = Predicate(
        statistic=Statistic.MEAN, feature="height", comparison=Comparison.AT_LEAST, threshold=-9.0, unit="m", margin=1.0
    )
    criterion = Criterion(key="a", title="a", description="", category=Category.GAIT, predicate=predicate)
    intent = Intent(prompt="be", env_id="HalfCheetah-v5", criteria=(criterion,), episode_s=0.5)
    one = training(tmp_path / "with", follows, intent=intent, start_states=start, num_evals=2, n_eval_episodes=3)
    one.learn(128)
    assert one._collector.course["curriculum_start_share"] == 0.5
    one._evaluate(128)
    one.learn(256)
    assert one._collector.course["curriculum_start_share"] == pytest.approx(0.1)


def test_evaluation_is_the_same_to_the_bit_with_and_without():
    everything = {
        "starts": {"goal": ["time >= 0.5"]},
        "weights": {"v": [[0.0, 0.1]]},
        "episodes": {"start_s": 0.2},
        "pushes": {"speed": 5.0, "every_s": 0.2},
        "assistance": {"goal": ["time >= 0.5"]},
    }
    plain = TrainConfig(start_states=StartStates(states=tuple(map(StartState.model_validate, STATES))), **SIZES)
    changing = plain.model_copy(update={"curriculum": Curriculum.model_validate(everything)})
    spec = catalog.load("HalfCheetah-v5")
    one, other = (run_episodes(config, spec, Still(), [7, 8]) for config in (plain, changing))
    for a, b in zip(one, other, strict=True):
        assert a.length == b.length == 20
        assert all(np.array_equal(a.arrays[name], b.arrays[name]) for name in ("qpos", "qvel", "reward"))


class Still:
    def act(self, observations):
        return np.zeros((len(observations), 6), np.float32)


def test_pushes_grow_and_move_the_robot_as_fast_as_they_say():
    env = VecEnv(TrainConfig(env_id="Ant-v5"), catalog.load("Ant-v5"), 8)
    pusher = Pusher(Pushes(speed=2.0, every_s=0.06, lasts_s=0.05, until=0.5), env, seed=1)
    pusher.follow(0.25)
    frame = env.reset(range(8), range(8))
    for i in range(8):  # in the air, where nothing holds it
        qpos = frame.qpos[i] + 5.0 * (np.arange(15) == 2)
        frame = frame.replaced(np.array([i]), env.simulation.place(i, qpos, np.zeros(14)))
    env.begin(range(8), frame)
    env.simulation.push("torso", pusher.forces())
    after = env.step(np.zeros((8, 8), np.float32)).after
    velocities = np.array(
        [velocity(env.simulation.model, *state) for state in zip(after.qpos, after.qvel, strict=True)]
    )
    assert np.linalg.norm(velocities[:, :2], axis=1) == pytest.approx(np.ones(8), rel=0.01)
    assert len({round(float(np.arctan2(y, x)), 3) for x, y, _ in velocities}) == 8
    pusher.end(range(8))
    pusher.follow(1.0)
    assert pusher.speed == 2.0


def velocity(model, qpos, qvel):
    """Of the centre of mass [m/s]."""
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = qpos, qvel
    mujoco.mj_forward(model, data)
    mujoco.mj_subtreeVel(model, data)
    return data.subtree_linvel[model.body("torso").id].copy()


FORCES = {"pushes": {"pushes": {"speed": 1.0}}, "assistance": {"assistance": {"goal": ["time >= 1"]}}}


@pytest.mark.parametrize("name", FORCES)
def test_environments_without_batches_or_that_cannot_move_take_no_forces(monkeypatch, tmp_path, name):
    with pytest.raises(InvalidConfig, match="Reacher-v5 is fixed in its place"):
        training(tmp_path / "fixed", FORCES[name], env_id="Reacher-v5")
    monkeypatch.setattr(simulation, "unavailable", lambda: "no batches here")
    with pytest.raises(InvalidConfig, match="need MuJoCo's batches"):
        training(tmp_path / "gym", FORCES[name])


@pytest.mark.parametrize(
    ("share", "raised", "expected"), [(1.0, 1.0, 1.0), (0.25, 1.0, 0.25), (1.0, 2.25, 0.75), (1.0, 4.0, 0.0)]
)
def test_assistance_holds_its_share_of_the_weight_up_to_the_heights(share, raised, expected):
    env = VecEnv(TrainConfig(env_id="Ant-v5"), catalog.load("Ant-v5"), 2)
    held = Assistance(goal=["time >= 1"], share=share, heights=(2.0, 3.0))
    assistant = Assistant(held, env.simulation, np.zeros(2, dtype=np.bool_))
    env.reset(range(2), range(2))
    qpos = np.array([0.0, 0.0, raised, 1.0, 0.0, 0.0, 0.0, *[0.0, 1.0, 0.0, -1.0, 0.0, -1.0, 0.0, 1.0]])
    for i in range(2):  # in the air, where nothing else holds it
        env.begin([i], env.simulation.place(i, qpos, np.zeros(14)))
    env.simulation.push("torso", assistant.forces(env.now))
    after = env.step(np.zeros((2, 8), np.float32)).after
    for state in zip(after.qpos, after.qvel, strict=True):
        fallen = velocity(env.simulation.model, *state)[2]
        assert fallen == pytest.approx(-(1.0 - expected) * 9.81 * env.spec.dt, abs=2e-3)


def test_assistance_falls_with_success_and_rises_without():
    held = Assistance(goal=["velocity_x >= 0"], share=1.0, success=0.75, step=0.02)
    env = VecEnv(TrainConfig(env_id="HalfCheetah-v5", episode_s=0.1), catalog.load("HalfCheetah-v5"), 4)
    assistant = Assistant(held, env.simulation, np.array([True, False, False, False]))
    found = []
    for speed in (5.0, 5.0, -5.0, -5.0):
        env.reset(range(4), range(4))
        for i in range(4):
            env.begin([i], env.simulation.place(i, np.zeros(9), speed * (np.arange(9) == 0)))
        for _ in range(2):
            env.step(np.zeros((4, 6), np.float32))
        assistant.follow(env.take_block())
        found.append(assistant.share)
    assert found == pytest.approx([1.0 - 3 * 0.02, 1.0 - 7 * 0.02, 1.0, 1.0])  # of the first four one was shortened


@pytest.mark.parametrize("name", ["starts", "assistance"])
def test_a_goal_over_a_feature_that_the_robot_lacks_is_refused_by_its_place(tmp_path, name):
    with pytest.raises(InvalidConfig, match=rf"curriculum\.{name}\.goal.*hight"):
        training(tmp_path, {name: {"goal": ["hight >= 1"]}}, start_states={"share": 0.5, "states": STATES})
