"""Generated code as a judge whose accuracy is measured: one function decides a sentence as a whole."""

from collections import Counter
from collections.abc import Callable, Sequence

from p2p.contracts.intent import Intent
from p2p.contracts.judgment import JudgeFunction, RolloutFinding, Verdict
from p2p.judges.code import CodeJudge, Features
from p2p.judges.generated import with_findings, with_predicates
from p2p.lab.contracts.calibration import ClipVerdict
from p2p.lab.judges.clip_recording import ClipRecording
from p2p.lab.judges.predicate_judge import PASS_THRESHOLD
from p2p.lab.judges.whole_sentence import KEY, whole

Said = tuple[RolloutFinding | str, ...]
"""Of each clip of a robot, in their order; words where there is no verdict."""
Write = Callable[[str, Intent], tuple[JudgeFunction, float]]
"""Robot and sentence -> its function, and what writing it cost [USD]."""
Call = Callable[[str, Sequence[Features]], Said]
"""Calls a source with the features of all clips of a robot, confined."""


class ClipCodeJudge:
    """Functions that a model wrote, called on clips.

    A function is called on all clips of its robot at once. Asked about a clip again, they are all judged anew, in a
    process of their own.

    Args:
        name: In the report.
        write: Writes a function, or finds it; asked once for each sentence.
        call: Where functions run.
    """

    def __init__(self, name: str, write: Write, call: Call) -> None:
        self.name = name
        self._write = write
        self._call = call
        self._functions: dict[tuple[str, str], JudgeFunction] = {}
        self._times: Counter[tuple[str, str]] = Counter()
        self._said: dict[tuple[str, str, int], Said] = {}

    def judge(self, recording: ClipRecording, intent: Intent) -> ClipVerdict:
        """Judge the clip as the one report rollout of a policy; the first verdict of a function bears its cost.

        Raises:
            BudgetExceeded: writing the function would cost more than it may.
        """
        pair = (recording.clip.env_id, intent.prompt)
        cost = 0.0
        if pair not in self._functions:
            self._functions[pair], cost = self._write(recording.clip.env_id, intent)
        function = self._functions[pair]
        if not function.source:
            reason = " ".join(function.problems) or function.decomposition.reason
            return ClipVerdict(passed=None, score=None, cost_usd=cost, reason=reason[:200])
        clip = recording.clip
        self._times[clip.clip_id, intent.prompt] += 1
        turn = clip.env_id, intent.prompt, self._times[clip.clip_id, intent.prompt]
        if turn not in self._said:
            self._said[turn] = self._call(function.source, recording.source.features)
        said = self._said[turn][recording.index]
        if isinstance(said, str):
            return ClipVerdict(passed=None, score=None, cost_usd=cost, reason=said[:200])
        findings = {KEY: (said,)}
        judgment = CodeJudge().judge(
            with_predicates(whole(intent), findings),
            recording.as_report(),
            with_findings([recording.features], findings),
            PASS_THRESHOLD,
        )
        decided = judgment.verdict is not Verdict.NO_VERDICT
        return ClipVerdict(passed=judgment.passed if decided else None, score=judgment.intent_score, cost_usd=cost)
