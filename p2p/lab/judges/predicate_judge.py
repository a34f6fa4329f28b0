"""The measured judge on one clip at a time."""

from p2p.contracts.intent import Intent
from p2p.contracts.judgment import Verdict
from p2p.judges.code import CodeJudge
from p2p.lab.contracts.calibration import ClipVerdict
from p2p.lab.judges.clip_recording import ClipRecording

PASS_THRESHOLD = 0.8
"""Of a session, unless it says otherwise."""


class PredicateJudge:
    """Measured criteria, decided by measurement."""

    name = "predicates"

    def __init__(self) -> None:
        self._judge = CodeJudge()

    def judge(self, recording: ClipRecording, intent: Intent) -> ClipVerdict:
        """Judge the clip as the one report rollout of a policy."""
        judgment = self._judge.judge(intent, recording.as_report(), [recording.features], PASS_THRESHOLD)
        decided = judgment.verdict is not Verdict.NO_VERDICT
        return ClipVerdict(passed=judgment.passed if decided else None, score=judgment.intent_score)
