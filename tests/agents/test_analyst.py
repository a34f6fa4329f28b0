from pathlib import Path

from session_attempts import ATTEMPTS, attempt

from p2p.agents.builtin.analyst import analyze
from p2p.contracts.intent import Category, Criterion, Intent
from p2p.contracts.judgment import Verdict
from p2p.contracts.remedies import Remedy
from p2p.contracts.reward import Lesson, Lineage
from p2p.store.sessions import SessionRecord

INTENT = Intent(
    prompt="run fast",
    env_id="HalfCheetah-v5",
    criteria=(Criterion(key="fast", title="Fast", description="", category=Category.GAIT, predicate=None),),
)


def test_a_report_says_what_was_best_what_fell_and_what_kept_failing(tmp_path: Path) -> None:
    record = SessionRecord(tmp_path)
    record.save_lineage(Lineage(lessons=(Lesson(text="Speed alone makes it fall", learned_at=1),)))
    report = analyze(record, INTENT, ATTEMPTS)
    assert (report.iterations, report.written_by) == (3, "builtin")
    assert "| 2 | 1 | 0.6 | 0% | falls, slow |" in report.analysis
    assert "Speed alone makes it fall (iteration 1)" in report.analysis
    assert report.key_findings[0] == "Best: iteration 2, failed (score 0.6, 0% of 4 rollouts)."
    assert any("Iteration 3 fell from 0.6 to 0.3" in finding for finding in report.key_findings)
    assert any(finding.startswith("falls: seen 3 times") for finding in report.key_findings)
    assert report.recommendations[0].startswith("Build on iteration 2")


def test_of_a_session_that_passed_it_says_what_can_be_done_with_it(tmp_path: Path) -> None:
    passed = attempt(1, 0.9)
    passed = passed.model_copy(
        update={"judgment": passed.judgment.model_copy(update={"verdict": Verdict.PASSED, "success_rate": 1.0})}
    )
    report = analyze(SessionRecord(tmp_path), INTENT, (passed,))
    assert "passed" in report.key_findings[0]
    assert Remedy.EXPORT.of() in report.recommendations[0]
