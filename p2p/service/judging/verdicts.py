"""Judging an iteration, and revising it."""

from p2p.contracts.errors import InvalidInput, P2PError
from p2p.contracts.events import EventName
from p2p.contracts.intent import Intent
from p2p.contracts.judgment import Judgment, Verdict
from p2p.contracts.protocols import Attempt
from p2p.contracts.revision import Revision
from p2p.contracts.rollout import report_seed_offset
from p2p.contracts.training import IterationAggregation
from p2p.contracts.work import EvaluateRequest
from p2p.service.authoring.authors import Authors
from p2p.service.authoring.variants import revision_within
from p2p.service.sessions.lineage import record_iteration
from p2p.service.training.aggregation import ended_early
from p2p.service.training.jobs import completed, run_to_end
from p2p.service.training.plan import as_trained, base_config, session_for
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord
from p2p.store.views import take_over
from p2p.training.tuning import HYPERPARAMETERS


class Judging(Authors):
    """Steps four and five of the loop."""

    def judge(self, session_id: str, number: int) -> Judgment:
        """Judge iteration `number` over rollouts that nobody selected on."""
        record = self.record(session_id)
        iteration = record.iteration(number)
        judgment = iteration.read_judgment()
        if judgment is None:
            n_runs = len(iteration.runs())
            with record.events.span(EventName.JUDGE_START, EventName.JUDGE_END, number, num_runs=n_runs) as result:
                self.run_report(session_id, number)
                judgment = annotated(iteration, self._verdict(record, iteration))
                iteration.save_judgment(judgment)
                result |= {"intent_score": judgment.intent_score, "best_run": judgment.run_id}
        record_iteration(record, number)
        return judgment

    def rejudge(self, session_id: str, number: int, prompt: str | None = None) -> Judgment:
        """Judge the recorded rollouts again, by the session's criteria or by those of another sentence.

        Nothing is simulated and nothing is overwritten.

        Raises:
            InvalidInput: there is no such iteration, or it has no recorded report rollouts.
            UnknownPhrase: `prompt` is not understood.
        """
        record = self.record(session_id)
        session, iteration = record.read_session(), self.iteration_begun(session_id, number)
        if iteration.report.read_evaluation() is None:
            raise InvalidInput(f"Iteration {number} of {session_id} has no report rollouts yet; it is still training.")
        if prompt is None:
            return self._judge(record, iteration)
        intent = self.author(session.author).elicit(prompt, self.describe_environment(session.env_id))
        threshold = session_for(record, number).pass_threshold
        return self.judge_called("code").judge_report(intent, iteration.report.path, threshold)

    def revise(self, session_id: str, number: int) -> Revision:
        """Decide what iteration `number + 1` changes."""
        record = self.record(session_id)
        iteration = record.iteration(number)
        if (revision := iteration.read_revision()) is not None:
            return revision
        session, intent = record.read_session(), record.read_criteria()
        assert intent is not None, "a session without an intent ends after one iteration"
        with record.events.span(EventName.REVISE_START, EventName.REVISE_END, number) as result:
            attempts = tuple(attempt(record, index) for index in range(1, number + 1))
            spec, wishes = self.describe_environment(session.env_id), tuple(wish.text for wish in record.read_wishes())
            revision = self.author_of(record).revise(intent, spec, attempts, wishes)
            revision = revision_within(session, revision)
            iteration.save_revision(revision)
            result |= {"changes": [f"{c.kind} {c.name}" for c in revision.changes], "based_on": revision.based_on}
        return revision

    def run_report(self, session_id: str, number: int) -> None:
        """Run the report rollouts of the checkpoint that selection chose, in a fresh process; once only."""
        record = self.record(session_id)
        iteration, session = record.iteration(number), record.read_session()
        aggregation = self._reported(session_id, number)
        best = aggregation.best_run_id
        siblings = [run.iteration_id for run in iteration.runs() if run.iteration_id != best]
        request = EvaluateRequest(
            run_dir=f"../{best}",
            run_id=best,
            checkpoint=aggregation.best_checkpoint,
            n_rollouts=session.n_report_rollouts,
            seed_offset=report_seed_offset(session_id) + session.n_report_rollouts * (iteration.number - 1),
            sibling_runs=tuple(f"../{name}" for name in siblings),
        )
        report = IterationRecord(iteration.report.path)
        if iteration.report.read_request() == request and completed(self.backend, report.path):
            take_over(report.path, iteration.path)
            return
        report.save_env_spec(self.describe_environment(session.env_id))
        if (intent := record.read_criteria()) is not None:
            report.save_criteria(intent)
        iteration.report.save_request(request)
        run_to_end(self.backend, "evaluate", report.path)
        take_over(report.path, iteration.path)

    def _reported(self, session_id: str, number: int) -> IterationAggregation:
        """What the runs reached, with the checkpoint to report on: the best on selection rollouts."""
        aggregation = self.record(session_id).iteration(number).read_aggregation()
        assert aggregation is not None, "an iteration is judged after its training"
        return aggregation

    def _judge(self, record: SessionRecord, iteration: IterationRecord) -> Judgment:
        """By the session's criteria; what passes must pass by each earlier version of them too."""
        judgment = annotated(iteration, self._judge_by(record, iteration, record.read_criteria()))
        if judgment.passed:
            for change in record.read_tightenings():
                earlier = self._judge_by(record, iteration, change.before)
                if earlier.verdict is Verdict.FAILED:
                    return judgment.model_copy(
                        update={
                            "verdict": Verdict.FAILED,
                            "intent_score": min(judgment.intent_score or 0.0, earlier.intent_score or 0.0),
                            "failure_tags": earlier.failure_tags,
                            "diagnosis": f"{earlier.diagnosis}\nThat is by criteria before they were made stricter.",
                        }
                    )
        return judgment

    def _judge_by(self, record: SessionRecord, iteration: IterationRecord, intent: Intent | None) -> Judgment:
        threshold = session_for(record, iteration.number).pass_threshold
        return self.judge_called("code").judge_report(intent, iteration.report.path, threshold)

    def _verdict(self, record: SessionRecord, iteration: IterationRecord) -> Judgment:
        """The judgment that is kept: by code alone, where no eyes take part."""
        return self._judge(record, iteration)


def annotated(iteration: IterationRecord, judgment: Judgment) -> Judgment:
    """A judgment that says first how its checkpoint came to be judged, where that is not as usual.

    Told are a run that was cancelled, failed or lost before its end, and a checkpoint that eyes chose.
    """
    aggregation = iteration.read_aggregation()
    if aggregation is None:
        return judgment
    notes = [_early(iteration, aggregation), _chosen_by_eyes(aggregation)]
    told = [note for note in notes if note and note not in judgment.diagnosis]
    return judgment.model_copy(update={"diagnosis": " ".join([*told, judgment.diagnosis])}) if told else judgment


def _early(iteration: IterationRecord, aggregation: IterationAggregation) -> str:
    if not aggregation.by_checkpoints:
        return ""
    results = {result.run_id: result for config in aggregation.configs.values() for result in config.per_seed}
    judged = results[aggregation.best_run_id].model_copy(update={"best_checkpoint": aggregation.best_checkpoint})
    return ended_early(IterationRecord(iteration.path / aggregation.best_run_id), judged)


def _chosen_by_eyes(aggregation: IterationAggregation) -> str:
    if not aggregation.looks:
        return ""
    found = "accepted it" if any(look.accepted for look in aggregation.looks) else "accepted none"
    return (
        f"After an earlier veto eyes looked at {len(aggregation.looks)} of the best checkpoints, and {found}: judged "
        f"is {aggregation.best_run_id} at step {aggregation.best_checkpoint:,}."
    )


def attempt(record: SessionRecord, number: int) -> Attempt:
    """Iteration `number` as a reviser sees it.

    Raises:
        P2PError: it is not trained and judged.
    """
    session, iteration = record.read_session(), record.iteration(number)
    draft, judgment, aggregation = iteration.read_draft(), iteration.read_judgment(), iteration.read_aggregation()
    if draft is None or judgment is None or aggregation is None:
        raise P2PError(f"Iteration {number} of {record.session_id} is not complete.")
    request = iteration.read_training_request()
    if request is None or request.start.configs is None:
        draft = as_trained(draft, aggregation.best_config_id)
    summary = IterationRecord(iteration.path / aggregation.best_run_id).read_summary()
    before = record.iteration(number - 1).read_revision() if number > 1 else None
    return Attempt(
        number=number,
        source=draft.source,
        config_changes=draft.config_changes,
        config=base_config(session_for(record, number), draft),
        pinned=(*session.config, *(HYPERPARAMETERS if session.reward_only else ())),
        judgment=judgment,
        terms=summary.terms if summary else (),
        dynamics=summary.dynamics if summary else {},
        early_stop=summary.early_stop if summary else None,
        based_on=before.based_on if before else None,
    )
