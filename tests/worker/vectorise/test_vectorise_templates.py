import numpy as np
import pytest

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.agents.builtin.refusals import examples
from p2p.contracts.work import CheckRequest
from p2p.envs.catalog import known, load
from p2p.rewards.definitions import commanded
from p2p.rewards.templates import TEMPLATES
from p2p.rewards.templates.body_table import body_of
from p2p.worker.reward.transitions import record_episodes
from p2p.worker.reward_source.loader import LoadedReward
from p2p.worker.vectorise import NotVectorised, prove, vectorise

AUTHOR = BuiltinAuthor()
ENVIRONMENTS = (
    "HalfCheetah-v5",
    "Ant-v5",
    "Reacher-v5",
    "Pusher-v5",
    "InvertedDoublePendulum-v5",
    "HumanoidStandup-v5",
)
"""Between them they have every skill."""
KEEPS = {
    "stand on your hind legs": "since",
    "stand on your hind legs for 3 seconds": "since",
    "rear up": "since",
}
"""Sentence -> what its reward keeps, as no feature tells it: a number of jumps, and since when it holds."""


def kept_by(sentence):
    """What the reward keeps; None for nothing."""
    counted = sentence.startswith("jump") and sentence != "jump repeatedly"
    return "counted" if counted else KEEPS.get(sentence)


def reward_for(env_id, sentence):
    spec = load(env_id)
    return LoadedReward(AUTHOR.write(AUTHOR.elicit(sentence, spec), spec).source)


def require_proof(env_id, sentences):
    spec = load(env_id)
    told = next((found for one in sentences if (found := AUTHOR.elicit(one, spec).commands) is not None), None)
    recording = record_episodes(commanded(spec, told), CheckRequest())
    some = np.flatnonzero(np.arange(len(recording.starts)) % 5 == 0)
    info = {name: column[some] for name, column in recording.columns.items()}
    arrays = [array[some] for array in (recording.obs, recording.actions, recording.next_obs)]
    for sentence in sentences:
        reward = reward_for(env_id, sentence)
        prove(vectorise(reward), reward, *arrays, info, np.ones(len(some), dtype=bool))


MANY_JOINTS = {"Ant-v5", "Humanoid-v5", "HumanoidStandup-v5"}
"""Dear to simulate."""


def test_the_environments_have_every_skill():
    assert set().union(*(body_of(load(env)).skills for env in ENVIRONMENTS)) == set(TEMPLATES)


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_every_skill_whose_reward_keeps_nothing_is_vectorised(env_id):
    offered = [line.split(", ")[0] for line in examples(body_of(load(env_id)))]
    require_proof(env_id, [sentence for sentence in offered if kept_by(sentence) is None])


@pytest.mark.slow
@pytest.mark.parametrize(
    "env_id", [pytest.param(one, marks=[pytest.mark.nightly] * (one in MANY_JOINTS)) for one in known()]
)
def test_every_sentence_is_vectorised_or_known_to_keep_something(env_id):
    offered = [sentence for line in examples(body_of(load(env_id))) for sentence in line.split(", ")]
    require_proof(env_id, [sentence for sentence in offered if kept_by(sentence) is None])
    for sentence, kept in {one: kept for one in offered if (kept := kept_by(one)) is not None}.items():
        with pytest.raises(NotVectorised, match=rf"keeps state in self\.{kept}"):
            vectorise(reward_for(env_id, sentence))


def test_a_sequence_of_skills_keeps_the_step_it_is_in():
    with pytest.raises(NotVectorised, match=r"keeps state in self\.phase"):
        vectorise(reward_for("HalfCheetah-v5", "jump, then stand still"))


@pytest.mark.parametrize(
    ("env_id", "sentence"),
    [
        ("Hopper-v5", "jump repeatedly and land softly"),
        ("Walker2d-v5", "walk on tiptoe with small steps"),
        ("Walker2d-v5", "hop forward on one leg"),
        ("HalfCheetah-v5", "run with long strides, with your head up"),
        ("Humanoid-v5", "walk forward with your head still"),
    ],
)
def test_rewards_of_parts_are_vectorised(env_id, sentence):
    spec = load(env_id)
    source = AUTHOR.write(AUTHOR.elicit(sentence, spec), spec).source
    recording = record_episodes(spec, CheckRequest(), source)
    arrays = (recording.obs, recording.actions, recording.next_obs)
    reward = LoadedReward(source)
    prove(vectorise(reward), reward, *arrays, recording.columns, np.ones(len(recording.starts), dtype=bool))
