"""Judging by code that a model wrote: once per session, tried before it is used, called in the worker alone."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from p2p import registry
from p2p.contracts.intent import Intent
from p2p.contracts.judge_code import CodeFinding, Decomposition, JudgeCode, JudgeFunction, RolloutFinding
from p2p.contracts.judgment import Judgment
from p2p.judges import synthesis
from p2p.rewards.part_features import names_for_code
from p2p.service.authoring.models import session_models
from p2p.service.judging.judge_trials import JudgeTrials
from p2p.service.judging.verdicts import Judging
from p2p.service.training.jobs import completed, run_to_end
from p2p.service.training.plan import session_for
from p2p.store.calibration import ClipsRecord
from p2p.store.iterations import IterationRecord
from p2p.store.judge_code import JudgeCodeRecord, judged_dir
from p2p.store.sessions import SessionRecord

ROLE = "judge_author"
"""Under which its calls are counted in the session's ledger."""
UNPLANNED = Decomposition(measurable=True, reason="")


class JudgeCoding(Judging, JudgeTrials):
    """For criteria that predicates cannot say, and eyes should not."""

    def write_judge_code(self, session_id: str) -> JudgeCode | None:
        """Have functions written for the criteria without a predicate; once per session.

        Returns:
            The functions; None where the session names no model for it, or nothing is left to measure.

        Raises:
            ModelProblem: the model gives no answer that can be used.
            BudgetExceeded: it would cost more than the session may.
        """
        record = self.record(session_id)
        session, intent = record.read_session(), record.read_criteria()
        if (known := JudgeCodeRecord(record.path).read()) is not None or not session.judge_author or intent is None:
            return known
        author = self._judge_author(record, intent)
        functions = tuple(author.write(c) for c in synthesis.unseen(intent) if c.predicate is None)
        code = JudgeCode(written_by=session.judge_author, functions=functions)
        JudgeCodeRecord(record.path).save(code)
        return code

    def _verdict(self, record: SessionRecord, iteration: IterationRecord) -> Judgment:
        """Where a function fails on the judged rollouts, its author mends it first."""
        if (code := self.write_judge_code(record.session_id)) is not None:
            mended = tuple(self._mended_code(record, iteration, function) for function in code.functions)
            if mended != code.functions:
                JudgeCodeRecord(record.path).save(code.model_copy(update={"functions": mended}))
        return super()._verdict(record, iteration)

    def _judge_by(self, record: SessionRecord, iteration: IterationRecord, intent: Intent | None) -> Judgment:
        code = JudgeCodeRecord(record.path).read()
        if intent is None or code is None or not code.usable or iteration.report.read_evaluation() is None:
            return super()._judge_by(record, iteration, intent)
        said = {function.key: self._called(iteration, function) for function in code.usable}
        failed = {key: words for key, words in said.items() if isinstance(words, str)}
        judge: Callable[..., Judgment] = registry.load("measurement", registry.MEASUREMENTS, "judge_by_code")
        findings = {key: found for key, found in said.items() if not isinstance(found, str)}
        threshold = session_for(record, iteration.number).pass_threshold
        judgment = judge(intent, iteration.report.path, threshold, findings)
        hashes = "+".join([judgment.provenance.code_hash, *(function.code_hash for function in code.usable)])
        lines = [f"The code for {key} failed, and does not count: {words}" for key, words in failed.items()]
        provenance = judgment.provenance.model_copy(update={"code_hash": hashes, "fallback": " ".join(lines)[:500]})
        found = tuple(_finding(function, code.written_by, said[function.key]) for function in code.usable)
        return judgment.model_copy(
            update={
                "provenance": provenance,
                "diagnosis": "\n".join([judgment.diagnosis, *lines]),
                "by_written_code": found,
            }
        )

    def _called(self, iteration: IterationRecord, function: JudgeFunction) -> tuple[RolloutFinding, ...] | str:
        """What a function says of the report rollouts, or in words why it says nothing; it is called once."""
        directory = judged_dir(iteration.path, function.key, function.code_hash)
        if not completed(self.backend, directory):
            prepare: Callable[..., None] = registry.load("measurement", registry.MEASUREMENTS, "prepare_report")
            prepare(directory, function.source, iteration.report.path)
            run_to_end(self.backend, "call", directory)
        read: Callable[[Path], tuple[RolloutFinding, ...] | str]
        read = registry.load("measurement", registry.MEASUREMENTS, "code_findings")
        return read(directory)

    def _mended_code(self, record: SessionRecord, iteration: IterationRecord, function: JudgeFunction) -> JudgeFunction:
        intent, author = record.read_criteria(), record.read_session().judge_author
        if not function.source or intent is None or not author or function.written_by:
            return function
        said = self._called(iteration, function)
        if not isinstance(said, str):
            return function
        criterion = next(criterion for criterion in intent.criteria if criterion.key == function.key)
        mended: JudgeFunction = self._judge_author(record, intent, iteration).repair(criterion, function, said)
        return mended

    def _judge_author(self, record: SessionRecord, intent: Intent, iteration: IterationRecord | None = None) -> Any:
        """Who writes and mends functions; with an iteration, they are tried on its report rollouts too."""
        session = record.read_session()
        patience_s, silence_s = self.settings.model_patience_s, self.settings.model_silence_s
        models = session_models(record, patience_s, silence_s, session.judge_author)
        spec = self.describe_environment(session.env_id)
        names = (*spec.feature_names, *sorted(names_for_code(spec)))
        known = self._known_motions(ClipsRecord(JudgeCodeRecord(record.path).known_motions_dir), session.env_id)

        def validate(source: str) -> list[str]:
            found = self._held_against(source, names, known)
            if not found and iteration is not None:
                said = self._called(iteration, JudgeFunction(key="trial", decomposition=UNPLANNED, source=source))
                found = [said] if isinstance(said, str) else []
            return found

        return registry.load("judge", registry.JUDGES, "author")(models.for_role(ROLE), spec, intent, validate)


def _finding(function: JudgeFunction, author: str, said: tuple[RolloutFinding, ...] | str) -> CodeFinding:
    """What a function said, as it goes into the judgment."""
    return CodeFinding(
        key=function.key,
        written_by=function.written_by or author,
        code_hash=function.code_hash,
        scores=() if isinstance(said, str) else tuple(found.score for found in said),
        worst=None if isinstance(said, str) else min(said, key=lambda found: found.score),
        problem=said if isinstance(said, str) else "",
    )
