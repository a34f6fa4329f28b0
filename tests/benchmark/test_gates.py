from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from p2p.contracts.errors import InvalidInput
from p2p.contracts.suite import Case, Gate, NewSuiteRun, Outcome, Selection, Stage, Suite
from p2p.service.suites.gates import decide
from p2p.service.suites.plan import check_selection, may_begin, stages_of
from p2p.service.suites.running import request_of

ENDED = [outcome for outcome in Outcome if outcome.ended]
SHARES = ["0", "0.1", "0.3", "1/3", "0.5", "2/3", "0.7", "0.9", "1"]


def oracle(outcomes: tuple[Outcome, ...], needed: Fraction) -> Gate:
    """By every way in which the open sessions may still end."""
    open_ones = [index for index, outcome in enumerate(outcomes) if outcome is Outcome.OPEN]
    verdicts = set()
    for endings in product((Outcome.PASSED, Outcome.CRASHED), repeat=len(open_ones)):
        ended = list(outcomes)
        for index, ending in zip(open_ones, endings, strict=True):
            ended[index] = ending
        verdicts.add(ended.count(Outcome.PASSED) >= needed * len(ended))
    if len(verdicts) > 1:
        return Gate.OPEN
    return Gate.PASSED if verdicts == {True} else Gate.FAILED


@pytest.mark.parametrize("share", SHARES)
def test_a_gate_is_decided_exactly_when_nothing_can_change_it(share: str) -> None:
    needed = Fraction(share)
    for n in range(7):
        for outcomes in product((Outcome.PASSED, Outcome.NOT_PASSED, Outcome.OPEN), repeat=n):
            assert decide(outcomes, float(needed)) is oracle(outcomes, needed), (outcomes, share)


@given(
    n_passed=st.integers(0, 40), n_open=st.integers(0, 40), bad=st.lists(st.sampled_from(ENDED)), share=st.floats(0, 1)
)
def test_whatever_has_not_passed_counts_alike(n_passed: int, n_open: int, bad: list[Outcome], share: float) -> None:
    bad = [outcome for outcome in bad if outcome is not Outcome.PASSED]
    fixed = [Outcome.PASSED] * n_passed + [Outcome.OPEN] * n_open
    assert decide(fixed + bad, share) is decide(fixed + [Outcome.NOT_PASSED] * len(bad), share)


@given(outcomes=st.lists(st.sampled_from([*ENDED, Outcome.OPEN]), min_size=1, max_size=30), share=st.floats(0, 1))
def test_a_decision_stands_whatever_comes(outcomes: list[Outcome], share: float) -> None:
    decision = decide(outcomes, share)
    for outcome in ENDED:
        ended = [outcome if one is Outcome.OPEN else one for one in outcomes]
        later = decide(ended, share)
        assert later is not Gate.OPEN
        assert decision in (Gate.OPEN, later)


def test_nine_of_ten_that_crash_fail_at_the_fourth() -> None:
    told = [decide([Outcome.CRASHED] * n + [Outcome.OPEN] * (10 - n), 0.7) for n in range(10)]
    assert told == [Gate.OPEN] * 4 + [Gate.FAILED] * 6


def suite_of(difficulties: str, gates: dict[str, float | None]) -> Suite:
    words = {"e": "easy", "m": "medium", "h": "hard"}
    return Suite(
        name="made-up",
        seeds=(1, 2),
        cases=tuple(
            Case(name=f"{letter}{number}", env_id="Ant-v5", prompt="walk", category="c", difficulty=words[letter])
            for number, letter in enumerate(difficulties)
        ),
        stages=tuple(Stage(name=name, where=Selection(difficulty=(name,)), gate=gate) for name, gate in gates.items()),
    )


STAGED = {"easy": 0.5, "medium": 0.5, "hard": 0.9}


def test_a_later_stage_begins_as_soon_as_the_gates_before_it_have_passed() -> None:
    suite = suite_of("emh", STAGED)
    stages = stages_of(suite, request_of(suite))
    easy, medium, hard = ([sitting.session_id for sitting in stage.sittings] for stage in stages)
    assert may_begin(stages, {}) == {*easy}
    assert may_begin(stages, {easy[0]: Outcome.PASSED}) == {*easy, *medium}, "one of two is half of them"
    crashed = dict.fromkeys(easy, Outcome.CRASHED)
    assert may_begin(stages, crashed) == {*easy}
    mended = crashed | {easy[1]: Outcome.PASSED}
    assert may_begin(stages, mended) == {*easy, *medium}
    assert may_begin(stages, mended | dict.fromkeys(medium, Outcome.PASSED)) == {*easy, *medium, *hard}


def test_the_last_stage_with_cases_has_no_gate() -> None:
    suite = suite_of("emh", STAGED)
    assert [stage.gate for stage in stages_of(suite, request_of(suite))] == [0.5, 0.5, None]
    without_hard = request_of(suite, NewSuiteRun(only=Selection(difficulty=("easy", "medium"))))
    assert [stage.gate for stage in stages_of(suite, without_hard)] == [0.5, None]


def test_a_run_may_begin_with_a_later_stage() -> None:
    suite = suite_of("emh", STAGED)
    stages = stages_of(suite, request_of(suite, NewSuiteRun(from_stage="medium")))
    assert [stage.left_out for stage in stages] == [True, False, False]
    assert may_begin(stages, {}) == {"made-up-m1-seed-1", "made-up-m1-seed-2"}


def test_a_flat_run_has_one_stage_and_no_gate() -> None:
    suite = suite_of("emh", STAGED)
    (stage,) = stages_of(suite, request_of(suite, NewSuiteRun(flat=True, seeds=(7,))))
    assert [sitting.session_id for sitting in stage.sittings] == [
        f"made-up-{name}-seed-7" for name in ("e0", "m1", "h2")
    ]
    assert stage.gate is None


@given(
    difficulties=st.text("emh", min_size=1, max_size=12),
    gates=st.tuples(*[st.none() | st.floats(0, 1)] * 3),
    ends=st.lists(st.sampled_from([*ENDED, Outcome.OPEN]), min_size=24, max_size=24),
)
def test_no_session_is_in_two_stages_and_a_stage_begins_whole(
    difficulties: str, gates: tuple[float | None, ...], ends: list[Outcome]
) -> None:
    suite = suite_of(difficulties, dict(zip(("easy", "medium", "hard"), gates, strict=True)))
    stages = stages_of(suite, request_of(suite))
    ids = [sitting.session_id for stage in stages for sitting in stage.sittings]
    assert len(ids) == len(set(ids)) == 2 * len(difficulties)
    begun = may_begin(stages, dict(zip(ids, ends, strict=False)))
    shares = [{sitting.session_id in begun for sitting in stage.sittings} for stage in stages]
    told = [share == {True} for share in shares]
    assert all(len(share) == 1 for share in shares)
    assert told == sorted(told, reverse=True), "stages begin in their order"


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        (NewSuiteRun(only=Selection(case=("e9",))), "Unknown case 'e9'"),
        (NewSuiteRun(only=Selection(env_id=("Ant-v4",))), "Unknown environment 'Ant-v4'"),
        (NewSuiteRun(from_stage="brutal"), "Unknown stage 'brutal'"),
        (NewSuiteRun(only=Selection(case=("e0",), difficulty=("hard",))), "No case of made-up"),
    ],
)
def test_a_filter_that_means_nothing_is_refused(asked: NewSuiteRun, named: str) -> None:
    suite = suite_of("emh", STAGED)
    with pytest.raises(InvalidInput, match=named):
        check_selection(suite, request_of(suite, asked))
