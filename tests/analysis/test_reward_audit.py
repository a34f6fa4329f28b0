import pytest

from p2p.analysis.paid import Paid
from p2p.analysis.reward_audit import audit, term_line

SOURCE = '''
def reward_fn(obs, action, next_obs, info):
    """Terms: speed: how fast"""
    terms = {}
    terms["speed"] = 1.0
    terms |= {"effort": -0.1}
    return sum(terms.values()), terms
'''


def paid(name: str, score: float, total: float, **more: object) -> Paid:
    return Paid(name, score, total, {"speed": total}, **more)  # type: ignore[arg-type]


def test_a_reward_that_pays_most_for_what_was_asked_is_let_pass() -> None:
    assert audit([paid("run", 1.0, 2.0), paid("stand", 0.3, 0.0), paid("back", 0.1, -2.0)], SOURCE) == []


def test_what_is_preferred_to_what_was_asked_is_named_with_the_line_to_blame() -> None:
    (issue,) = audit([paid("run", 1.0, -2.0), paid("stand", 0.3, 0.0), paid("back", 0.1, 2.0)], SOURCE)
    assert (issue.severity, issue.line) == ("error", 5)
    assert "'back' 2 per step and 'run' only -2" in issue.message
    assert "The same holds for stand." in issue.message


def test_motions_of_about_the_same_worth_are_not_told_apart() -> None:
    """Neither their scores, nor what they are paid."""
    assert audit([paid("run", 1.0, 2.0), paid("trot", 0.8, 3.0), paid("stand", 0.1, 0.0)], SOURCE) == []
    assert audit([paid("run", 1.0, 2.0), paid("back", 0.1, 2.05), paid("stand", 0.3, 0.0)], SOURCE) == []


def test_nothing_is_said_where_no_motion_shows_what_was_asked() -> None:
    assert audit([paid("run", 0.4, -2.0), paid("back", 0.0, 2.0)], SOURCE) == []
    assert audit([], SOURCE) == []


def test_standing_still_for_almost_the_same_is_a_trap() -> None:
    (issue,) = audit([paid("run", 1.0, 1.05), paid("stand", 0.3, 1.0, idle=True), paid("lie", 0.0, 0.0)], SOURCE)
    assert issue.severity == "warning"
    assert issue.message.startswith("Stand earns 1 per step, almost as much as 'run' with 1.05")


@pytest.mark.parametrize(("dash", "found"), [(2.0, 0), (8.1, 1), (-90.0, 0)])
def test_a_dash_may_not_be_worth_more_than_an_even_pace(dash: float, found: int) -> None:
    motions = [paid("run", 1.0, 2.0), paid("a dash", 1.0, dash, even_pace="run"), paid("stand", 0.6, -100.0)]
    assert len(audit(motions, SOURCE)) == found


def test_where_episodes_end_a_reward_that_only_costs_teaches_to_fall() -> None:
    motions = [paid("run", 1.0, -0.1), paid("stand", 0.3, -1.0)]
    assert audit(motions, SOURCE) == []
    (issue,) = audit(motions, SOURCE, terminates=True)
    assert "falling at once costs least" in issue.message


def test_terms_are_found_in_displays_and_assignments() -> None:
    assert [term_line(SOURCE, name) for name in ("speed", "effort", "none")] == [5, 6, None]
    assert term_line("def (", "speed") is None
