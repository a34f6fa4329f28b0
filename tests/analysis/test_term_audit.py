import numpy as np
import pytest

from p2p.analysis.paid import Paid
from p2p.analysis.term_audit import audit_terms
from p2p.analysis.term_statistics import term_statistics

SOURCE = 'def reward_fn(o, a, n, i):\n    return 0.0, {\n        "speed": 0.0,\n        "landed": 0.0,\n    }\n'


def found(paid=(), terminates=False, **values):
    terms = term_statistics({name: np.array(v, dtype=float) for name, v in values.items()})
    return audit_terms(terms, SOURCE, paid, terminates)


def motion(**terms):
    return Paid("one", 1.0, sum(terms.values()), terms)


def test_a_term_that_drowns_the_others_is_named_with_its_line():
    [issue] = found(speed=[10.0, 9.0], posture=[0.1, 0.2])
    assert "'speed' makes up 9" in issue.message
    assert "or posture up" in issue.message
    assert (issue.severity, issue.line) == ("warning", 3)


def test_a_penalty_can_dominate_too():
    [issue] = found(speed=[0.1, 0.2], cost=[-10.0, -9.0])
    assert "'cost'" in issue.message


def test_a_small_price_is_as_it_should_be_and_a_single_term_dominates_nobody():
    assert found(speed=[10.0, 9.0], cost=[-0.1, -0.2]) == []
    assert found(speed=[1.0, 2.0]) == []
    assert found(speed=[1.0, -1.0], upright=[0.8, 0.7], cost=[-0.1, 0.0]) == []


def test_what_dominates_a_robot_at_rest_need_not_dominate_a_moving_one():
    values = {"speed": [0.01, -0.01], "upright": [1.0, 0.9]}
    assert found(**values)
    assert found(paid=[motion(speed=2.0, upright=1.0)], **values) == []


def test_a_term_that_was_never_active_is_named_unless_a_motion_wakes_it():
    [issue] = found(speed=[1.0, 2.0], landed=[0.0, 0.0])
    assert "'landed' was 0 at every step" in issue.message
    assert issue.line == 4
    assert found(speed=[1.0, 2.0], landed=[0.0, 0.0], paid=[motion(speed=1.0, landed=5.0)]) == []


def test_a_term_that_is_always_the_same_teaches_nothing_where_no_episode_ends_early():
    values = {"speed": [1.0, 2.0], "alive": [1.0, 1.0]}
    [issue] = found(**values)
    assert "'alive' was 1 at every step" in issue.message
    assert found(terminates=True, **values) == []
    assert found(paid=[motion(speed=1.0, alive=0.0)], **values) == []


@pytest.mark.parametrize("values", [[0.0, 5.0], [1e-3, 2e-3], [-1e6, -2e6]])
def test_a_term_that_changes_is_let_pass_at_any_size(values):
    assert found(speed=values) == []


def test_a_reward_that_remembers_may_have_terms_whose_turn_comes_later():
    terms = term_statistics({"landed": np.zeros(2)})
    source = "class Steps(RewardFunction):\n    def compute(self, o, a, n, i):\n        self.phase = 1\n"
    assert len(audit_terms(terms, SOURCE)) == 1
    assert audit_terms(terms, source) == []
