import pytest

from p2p.analysis.state_audit import audit_state

REWARD = """
class Progress(RewardFunction):
    def __init__(self):
        self.target = 2.0
        self.previous = FIRST

    def compute(self, obs, action, next_obs, info):
        gain = 0.0 if not self.previous else info["x"] - self.previous + self.target
        UPDATE
        return gain, {"gain": gain}
"""


def found(first: str, update: str) -> list[tuple[int | None, str]]:
    issues = audit_state(REWARD.replace("FIRST", first).replace("UPDATE", update))
    return [(issue.line, issue.message.split(":")[0]) for issue in issues]


@pytest.mark.parametrize("first", ["None", "False", "0.0"])
def test_what_begins_empty_and_is_never_filled_is_named_with_its_line(first: str) -> None:
    assert found(first, "pass") == [(5, f"self.previous is set to {first} and never changed")]


@pytest.mark.parametrize("update", ["self.previous = info['x']", "self.previous += 1.0", "self.previous: float = 1.0"])
def test_what_is_brought_up_to_date_is_let_pass(update: str) -> None:
    assert found("0.0", update) == []


def test_a_constant_is_no_state_and_text_that_is_no_python_has_none() -> None:
    assert found("1.5", "pass") == []
    assert audit_state("class (") == []
    assert audit_state("def reward_fn(o, a, n, i): return 0.0, {}") == []
