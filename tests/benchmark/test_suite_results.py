"""What is told of a run whose sessions have ended in some way; nothing is trained."""

import pytest
from made_up_suites import POLE, SECRET, begun, end, suite_of

from p2p.contracts.errors import InvalidInput
from p2p.contracts.inference import CallLine, Usage
from p2p.contracts.session import NewSession, SessionStatus
from p2p.contracts.spending import Caps
from p2p.contracts.suite import (
    Budget,
    Gate,
    NewSuiteRun,
    Outcome,
    RunState,
    Selection,
    Stage,
    SuiteRunView,
)
from p2p.service.sessions.keeping import delete_session
from p2p.service.suites.plan import stages_of
from p2p.service.suites.results import list_suite_runs, view_suite_run
from p2p.service.suites.running import drive_suite_run, session_request, start_suite_run
from p2p.service.workspace import Workspace
from p2p.store.calls import CallLedger
from p2p.store.clock import now

ENDINGS = {
    SessionStatus.PASSED: Outcome.PASSED,
    SessionStatus.MAX_ITERATIONS: Outcome.NOT_PASSED,
    SessionStatus.CANCELLED: Outcome.CANCELLED,
    SessionStatus.INVALID_CODE: Outcome.NOT_TRAINED,
    SessionStatus.RATE_LIMITED: Outcome.NOT_TRAINED,
    SessionStatus.AUTH_ERROR: Outcome.NOT_TRAINED,
    SessionStatus.ERROR: Outcome.NOT_TRAINED,
    SessionStatus.BUDGET: Outcome.CAPPED,
}


def outcomes(view: SuiteRunView) -> list[Outcome]:
    return [result.outcome for result in view.results]


@pytest.mark.parametrize(("status", "outcome"), ENDINGS.items())
def test_a_session_that_ended_is_in_every_denominator_and_passes_only_by_passing(
    ws: Workspace, status: SessionStatus, outcome: Outcome
) -> None:
    suite = suite_of(2, Stage(name="all", gate=1.0, where=Selection(difficulty=("easy",))), Stage(name="rest"))
    _, run = begun(ws, suite)
    end(ws, suite, run, "case-0", status)
    view = view_suite_run(ws, "poles")
    passed = outcome is Outcome.PASSED
    assert outcomes(view)[0] is outcome
    assert (view.tally.ended, view.tally.passed, view.tally.rate) == (1, int(passed), float(passed))
    assert (view.tally.exams, view.tally.passed_exam, view.tally.exam_rate) == (1, 0, 0.0)
    assert view.stages[0].decision is (Gate.PASSED if passed else Gate.FAILED)
    assert outcomes(view)[1] is (Outcome.OPEN if passed else Outcome.SKIPPED)


def test_every_way_in_which_a_session_ends_has_an_outcome() -> None:
    finished = {status for status in SessionStatus if status.finished}
    assert finished - {*ENDINGS} == {SessionStatus.COMPLETED}, "which none does that has a sentence"


def test_an_error_after_the_first_reward_is_a_crash(ws: Workspace) -> None:
    suite = suite_of(1)
    _, run = begun(ws, suite)
    session_id = end(ws, suite, run, "case-0", SessionStatus.ERROR)
    assert outcomes(view_suite_run(ws, "poles")) == [Outcome.NOT_TRAINED]
    ws.record(session_id).iteration(1).save_reward_source("def compute_reward(): ...")
    end(ws, suite, run, "case-0", SessionStatus.ERROR)
    assert outcomes(view_suite_run(ws, "poles")) == [Outcome.CRASHED]


def test_a_cap_in_minutes_is_told_from_the_others(ws: Workspace) -> None:
    suite = suite_of(2, budget=Budget(minutes=5, dollars=1))
    _, run = begun(ws, suite)
    end(ws, suite, run, "case-0", SessionStatus.BUDGET)
    end(ws, suite, run, "case-1", SessionStatus.BUDGET, seconds=300)
    assert outcomes(view_suite_run(ws, "poles")) == [Outcome.CAPPED, Outcome.TIMED_OUT]


def test_a_mended_stage_goes_on_where_it_stopped(ws: Workspace) -> None:
    suite = suite_of(20, Stage(name="easy", where=Selection(difficulty=("easy",)), gate=0.7), Stage(name="hard"))
    _, run = begun(ws, suite)
    for number in range(3):
        end(ws, suite, run, f"case-{number}", SessionStatus.ERROR)
    assert view_suite_run(ws, "poles").stages[0].decision is Gate.OPEN
    end(ws, suite, run, "case-3", SessionStatus.ERROR)
    view = view_suite_run(ws, "poles")
    assert view.stages[0].decision is Gate.FAILED, "six left of ten cannot be seven"
    assert outcomes(view) == [Outcome.NOT_TRAINED] * 4 + [Outcome.OPEN] * 6 + [Outcome.SKIPPED] * 10
    for number in range(3, 10):
        end(ws, suite, run, f"case-{number}", SessionStatus.PASSED)
    view = view_suite_run(ws, "poles")
    assert view.stages[0].decision is Gate.PASSED
    assert outcomes(view) == [Outcome.NOT_TRAINED] * 3 + [Outcome.PASSED] * 7 + [Outcome.OPEN] * 10


def test_a_run_is_interrupted_until_all_of_it_has_ended(ws: Workspace) -> None:
    suite = suite_of(1)
    _, run = begun(ws, suite)
    assert view_suite_run(ws, "poles").state is RunState.INTERRUPTED
    end(ws, suite, run, "case-0", SessionStatus.ERROR)
    assert view_suite_run(ws, "poles").state is RunState.ENDED
    assert [view.run.name for view in list_suite_runs(ws)] == ["poles"]


def test_a_session_that_passed_and_left_no_policy_fails_its_exam(ws: Workspace) -> None:
    suite = suite_of(1)
    _, run = begun(ws, suite)
    end(ws, suite, run, "case-0", SessionStatus.PASSED)
    (result,) = view_suite_run(ws, "poles").results
    assert result.passed_itself
    assert result.exam is not None
    assert (result.passed_exam, result.exam.problem) == (False, "Its session left no policy.")


def test_a_line_stands_until_its_session_has_another_status(ws: Workspace) -> None:
    suite = suite_of(1)
    record, run = begun(ws, suite)
    end(ws, suite, run, "case-0", SessionStatus.PASSED)
    (result,) = view_suite_run(ws, "poles").results
    record.save_results((result.model_copy(update={"steps": 12_345}),))
    assert view_suite_run(ws, "poles").results[0].steps == 12_345, "the session is not read again"
    end(ws, suite, run, "case-0", SessionStatus.ERROR)
    view = view_suite_run(ws, "poles")
    assert (view.results[0].steps, view.results[0].outcome) == (0, Outcome.NOT_TRAINED)
    (record.path / "results.jsonl").write_text("half a li")
    assert view_suite_run(ws, "poles") == view, "lines may always be lost"


def test_costs_by_role_and_model_add_up_to_the_ledgers_of_the_sessions(ws: Workspace) -> None:
    suite = suite_of(3)
    _, run = begun(ws, suite)
    paid: dict[str, float] = {}
    for number in range(3):
        session_id = end(ws, suite, run, f"case-{number}", SessionStatus.MAX_ITERATIONS)
        ledger = CallLedger(ws.runs.session(session_id).path)
        for call, role in enumerate(("reward_author", "judge", "reward_author"), start=1):
            dollars = 0.01 * call + number
            paid[role] = paid.get(role, 0.0) + dollars
            ledger.append(
                CallLine(
                    number=call,
                    state="ended",
                    at=now(),
                    role=role,
                    iteration=call,
                    model=f"openai:gpt-{call}",
                    digest="d",
                    prompt_hash="p",
                    usage=Usage(input=1, output=1),
                    dollars=dollars,
                )
            )
    view = view_suite_run(ws, "poles")
    assert view.dollars == pytest.approx(paid)
    by_model = [sum(result.dollars_by_model[f"openai:gpt-{call}"] for result in view.results) for call in (1, 2, 3)]
    assert by_model == pytest.approx([3.03, 3.06, 3.09])


def test_a_session_is_given_the_sentence_the_budget_and_the_system_and_nothing_of_the_exam(ws: Workspace) -> None:
    budget = Budget(total_timesteps=5000, max_iterations=2, dollars=3, minutes=7, environment_steps=9000)
    suite = suite_of(2, budget=budget, pass_threshold=0.7)
    system = NewSession(n_seeds=3, candidates=2, config={"learning_rate": 1e-3}, caps=Caps(tokens=5, dollars=50))
    _, run = begun(ws, suite, NewSuiteRun(system=system))
    asked = session_request(suite, run, stages_of(suite, run)[0].sittings[0])
    assert asked == system.model_copy(
        update={
            "prompt": POLE,
            "env_id": "InvertedPendulum-v5",
            "seed": 1,
            "pass_threshold": 0.7,
            "max_iterations": 2,
            "config": {"learning_rate": 1e-3, "total_timesteps": 5000},
            "caps": Caps(tokens=5, dollars=3, minutes=7, environment_steps=9000),
        }
    )
    assert SECRET not in asked.model_dump_json()
    assert SECRET not in run.model_dump_json()


def test_a_driver_does_not_write_over_a_session_in_the_trash(ws: Workspace) -> None:
    suite = suite_of(1)
    _, run = begun(ws, suite)
    session_id = end(ws, suite, run, "case-0", SessionStatus.MAX_ITERATIONS)
    delete_session(ws, session_id)
    with pytest.raises(InvalidInput, match=f"{session_id} is in the trash"):
        drive_suite_run(ws, "poles")


@pytest.mark.parametrize(
    ("system", "told"),
    [
        (NewSession(config={"learning_rat": 1.0}), "learning_rat"),
        (NewSession(author="openai:gpt-unheard-of", model="openai:gpt-unheard-of"), "price of openai:gpt-unheard-of"),
    ],
)
def test_what_every_session_would_crash_by_is_refused_before_the_first(
    ws: Workspace, system: NewSession, told: str
) -> None:
    with pytest.raises(InvalidInput, match=told):
        start_suite_run(ws, "basic", NewSuiteRun(system=system))
    assert list_suite_runs(ws) == ()
