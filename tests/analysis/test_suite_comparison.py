import pytest

from p2p.analysis.judge_comparison import JudgedPolicy, JudgeVerdict, agreement_of, differences_of, notes_of
from p2p.analysis.suite_comparison import ReadRun, compare_runs
from p2p.contracts.errors import InvalidInput
from p2p.contracts.intent import Category, Comparison, Criterion, Intent, Predicate, Statistic
from p2p.contracts.suite import Case, CaseResult, ExamResult, Outcome, Suite, SuiteRun
from p2p.contracts.suite_comparison import Metric

BODIES = ("Hopper-v5", "Ant-v5")


def exam():
    predicate = Predicate(
        statistic=Statistic.MEAN,
        feature="forward_velocity",
        comparison=Comparison.AT_LEAST,
        threshold=1.0,
        unit="m/s",
        margin=1.0,
    )
    fast = Criterion(
        key="fast", title="is fast", description="is fast", category=Category.GAIT, predicate=predicate, weight=1.0
    )
    return Intent(prompt="run", env_id="Hopper-v5", criteria=(fast,))


def suite(n=12, version=1, exams=True):
    cases = tuple(
        Case(
            name=f"case-{k}",
            env_id=BODIES[k % 2],
            prompt="run",
            category="pace" if k < n // 2 else "pose",
            exam=exam() if exams else None,
        )
        for k in range(n)
    )
    return Suite(name="made", version=version, cases=cases, seeds=(1, 2))


def sat(passed):
    return ExamResult(
        passed=passed,
        n_rollouts=50,
        n_met=50 if passed else 10,
        low=0.0,
        high=1.0,
        intent_score=1.0 if passed else 0.4,
        criteria=(),
        seeds=(1,),
        policy_sha256="a",
        features_sha256="b",
        exam_sha256="c",
    )


def result(case, seed, outcome=Outcome.PASSED, exam_passed=True, **more):
    ended_itself = outcome in (Outcome.PASSED, Outcome.NOT_PASSED)
    return CaseResult(
        case=case,
        seed=seed,
        session_id=f"x-{case}-seed-{seed}",
        outcome=outcome,
        passed_itself=outcome is Outcome.PASSED,
        exam=sat(exam_passed) if ended_itself else None,
        **more,
    )


def read(name, of, results, **run):
    fields = {"name": name, "suite": of.name, "version": of.version, "digest": of.digest, "seeds": (1, 2)}
    return ReadRun(SuiteRun(**fields, created_at="2026-01-01T00:00:00+00:00", **run), of, results)


def whole_run(name, of, **more):
    return read(name, of, [result(case.name, seed, **more) for case in of.cases for seed in (1, 2)])


def test_a_change_on_every_case_is_told_and_named_by_category_and_body():
    of = suite()
    found = compare_runs([whole_run("before", of, exam_passed=False), whole_run("after", of)])
    main = found.metric(Metric.EXAM).differences[0]
    assert found.main is Metric.EXAM
    assert (main.mean, main.n_cases, main.n_changed) == (1.0, 12, 12)
    assert main.p_holm == 2 / 2**12
    assert main.low > 0.5
    assert {(group.kind, group.name) for group in found.groups} == {
        ("category", "pace"),
        ("category", "pose"),
        ("environment", "Hopper-v5"),
        ("environment", "Ant-v5"),
    }
    assert all(group.differences[0].p_holm == 2 * 2 / 2**6 for group in found.groups)
    assert not found.notes


@pytest.mark.parametrize("outcome", [Outcome.CRASHED, Outcome.CAPPED, Outcome.TIMED_OUT, Outcome.CANCELLED])
def test_what_did_not_come_to_its_end_counts_as_not_passed(outcome):
    of = suite()
    found = compare_runs([whole_run("before", of), whole_run("after", of, outcome=outcome)])
    for metric in (Metric.EXAM, Metric.ITSELF, Metric.EXAM_SUCCESS, Metric.EXAM_SCORE):
        one = found.metric(metric)
        assert one.estimates[1].mean == 0.0
        assert one.estimates[1].n_cases == 12
        assert one.differences[0].mean == -1.0


def test_how_far_a_system_flatters_itself():
    of = suite()
    found = compare_runs([whole_run("modest", of), whole_run("flatterer", of, exam_passed=False)])
    modest, flatterer = found.metric(Metric.FLATTERY).estimates
    assert flatterer.mean == 1.0
    assert (modest.mean, modest.n_cases) == (0.0, 12)
    assert modest.low < -0.02
    assert modest.high > 0.02
    assert found.metric(Metric.ITSELF).differences[0].mean == 0.0


def test_costs_are_compared_where_there_are_any():
    of = suite()
    dear = whole_run("dear", of, dollars={"reward_author": 0.5, "vision_judge": 0.25}, seconds=10.0)
    found = compare_runs([whole_run("free", of), dear])
    assert found.metric(Metric.DOLLARS).differences[0].mean == 0.75
    assert compare_runs([whole_run("free", of), whole_run("too", of)]).metric(Metric.DOLLARS) is None


def test_without_exams_the_sessions_own_verdicts_decide():
    of = suite(exams=False)
    found = compare_runs([whole_run("before", of), whole_run("after", of)])
    assert found.main is Metric.ITSELF
    assert found.metric(Metric.EXAM) is None


def test_other_versions_exams_and_runs_are_refused():
    one, other = suite(), suite(version=2)
    with pytest.raises(InvalidInput, match="do not compare"):
        compare_runs([whole_run("before", one), whole_run("after", other)])
    changed = one.model_copy(update={"cases": (*one.cases[:-1], one.cases[-1].model_copy(update={"prompt": "jog"}))})
    with pytest.raises(InvalidInput, match=changed.digest[:12]):
        compare_runs([whole_run("before", one), whole_run("after", changed)])
    with pytest.raises(InvalidInput, match="each named once"):
        compare_runs([whole_run("before", one), whole_run("before", one)])
    with pytest.raises(InvalidInput, match="ended yet"):
        compare_runs([whole_run("a", one, outcome=Outcome.OPEN), whole_run("b", one, outcome=Outcome.OPEN)])


def test_notes_say_what_limits_a_comparison():
    of = suite()
    few = read("few", of, [result(f"case-{k}", 1) for k in range(3)], versions={"mujoco": "4.0"})
    half = read(
        "half",
        of,
        [result(case.name, 1, Outcome.PASSED if k % 2 else Outcome.SKIPPED) for k, case in enumerate(of.cases)],
        versions={"mujoco": "4.1"},
    ).results
    other = read("half", of, half, versions={"mujoco": "4.1"})
    notes = " ".join(compare_runs([few, other]).notes)
    assert "one case in common" in notes
    assert "7 cases that only one of them has ended" in notes
    assert "mujoco: 4.0 and 4.1" in notes
    assert "6 of 12 sessions of half are skipped" in notes
    same = compare_runs([whole_run("a", of), whole_run("b", of)])
    assert "0 of 12 cases differ" in same.notes[0]


def test_several_comparisons_are_corrected_for_one_another():
    of = suite()
    runs = [whole_run("a", of, exam_passed=False), whole_run("b", of), whole_run("c", of), whole_run("d", of)]
    ps = [one.p_holm for one in compare_runs(runs).metric(Metric.EXAM).differences]
    assert ps == [3 * 2 / 2**12] * 3


def policies(verdicts, exams):
    return [
        JudgedPolicy(f"case-{k}", exam_passed, {"own": own, "eyes": eyes})
        for k, ((own, eyes), exam_passed) in enumerate(zip(verdicts, exams, strict=True))
    ]


def test_judges_are_held_against_exams():
    yes, no, unsure = JudgeVerdict(True, 0.9), JudgeVerdict(False, 0.2), JudgeVerdict(None, None)
    exams = [True] * 5 + [False] * 5
    found = policies([(yes, yes)] * 5 + [(yes, no)] * 4 + [(unsure, no)], exams)
    own, eyes = (agreement_of(judge, found, 0.5) for judge in ("own", "eyes"))
    assert (own.false_passes, own.false_fails, own.without_verdict, own.agreement.mean) == (4, 0, 1, 0.6)
    assert (own.kappa, own.auroc) == (pytest.approx(0.2), 0.5)
    assert (eyes.kappa, eyes.auroc, eyes.agreement.mean) == (1.0, 1.0, 1.0)
    less = differences_of(("own", "eyes"), found)[0]
    assert (less.mean, less.n_cases, less.n_changed) == (pytest.approx(0.4), 10, 4)
    assert less.p_holm == 2 / 2**4
    assert notes_of(found) == ()


def test_judges_that_saw_no_failure_are_said_to_be_untried():
    found = policies([(JudgeVerdict(True, 1.0), JudgeVerdict(True, 1.0))] * 9, [True] * 9)
    assert agreement_of("own", found, 0.0).auroc is None
    assert "say nothing" in notes_of(found)[0]
