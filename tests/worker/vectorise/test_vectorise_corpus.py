from collections import Counter

import numpy as np
import pytest
from corpus_branches import ANTS, BRANCHES
from corpus_plain import PLAIN
from corpus_refused import REFUSED

from p2p.contracts.work import CheckRequest
from p2p.envs import catalog
from p2p.worker.reward.transitions import record_episodes
from p2p.worker.reward_source.loader import LoadedReward
from p2p.worker.vectorise import NotVectorised, prove, row_info, vectorise

VECTORISED = PLAIN | BRANCHES


def halves(recording):
    """The arguments of `prove`, but for the reward, from every other episode, and from the rest."""
    parts = (recording.obs, recording.actions, recording.next_obs, recording.columns, recording.starts)
    odd = np.cumsum(recording.starts) % 2 == 1
    return tuple(
        tuple({k: v[rows] for k, v in part.items()} if isinstance(part, dict) else part[rows] for part in parts)
        for rows in (odd, ~odd)
    )


@pytest.fixture(scope="module")
def recorded():
    """Per environment: rows to prove on, and others to compare on."""

    def record(env_id):
        return halves(record_episodes(catalog.load(env_id), CheckRequest(n_transitions=600)))

    return {env_id: record(env_id) for env_id in ("HalfCheetah-v5", "Ant-v5")}


def environment(name):
    return "Ant-v5" if name in ANTS else "HalfCheetah-v5"


def one_by_one(reward, rows):
    obs, action, next_obs, info, start = rows
    instance, found = None, []
    with np.errstate(all="ignore"):
        for i in range(len(obs)):
            instance = reward.fresh() if start[i] else instance
            arguments = obs[i].copy(), action[i].copy(), next_obs[i].copy(), row_info(info, i)
            total, terms = instance.compute(*arguments)
            found.append([float(total), *map(float, terms.values())])
    return np.array(found), tuple(terms)


def mixed(rows, seed):
    """Rows that no robot made: columns shuffled against each other, numbers scaled."""
    rng = np.random.default_rng(seed)
    obs, info = rows[0], rows[3]
    arrays = [rng.permutation(array) * rng.choice([-1.0, 0.3, 1.0, 2.0], (len(array), 1)) for array in rows[:3]]
    columns = {name: rng.permutation(column) for name, column in info.items()}
    return (*arrays, columns, np.ones(len(obs), dtype=bool))


@pytest.mark.parametrize("name", VECTORISED)
def test_a_reward_for_one_step_computes_many_rows_that_the_proof_has_not_seen(name, recorded):
    reward = LoadedReward(VECTORISED[name])
    proof, unseen = recorded[environment(name)]
    vector = vectorise(reward)
    prove(vector, reward, *proof)
    assert vector.hand_written == (name == "written_by_hand")
    for rows in (unseen, mixed(unseen, 1), mixed(proof, 2)):
        wanted, names = one_by_one(reward, rows)
        totals, terms, own = vector(*rows[:4])
        assert own == names
        np.testing.assert_allclose(np.column_stack([totals, terms]), wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", REFUSED)
def test_a_reward_that_needs_its_rows_one_by_one_is_refused_with_the_reason_and_the_line(name, recorded):
    source, reason, line = REFUSED[name]
    reward = LoadedReward(source)
    with pytest.raises(NotVectorised) as refused:
        prove(vectorise(reward), reward, *recorded["HalfCheetah-v5"][0])
    assert reason in refused.value.reason
    assert refused.value.line == line


def test_the_corpus_has_forty_rewards_and_more_than_thirty_are_vectorised():
    assert len(VECTORISED) + len(REFUSED) >= 40
    assert len(VECTORISED) >= 33
    assert max(Counter([*PLAIN, *BRANCHES, *REFUSED]).values()) == 1
