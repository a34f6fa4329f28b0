"""Delete a record and everything derived from it."""

from p2p.store import files, layout
from p2p.store.iterations import IterationRecord


def forget_reward(iteration: IterationRecord) -> None:
    """Delete a reward with its check and trainings; the draft, which marks it complete, goes first."""
    plan, request = iteration.path / layout.PLAN, iteration.path / layout.TRAINING_REQUEST
    for path in (iteration.draft_path, iteration.reward_report_path, iteration.reward_spec_path, plan, request):
        files.remove(path)
    for directory in (iteration.check_dir, *(run.path for run in iteration.runs())):
        files.discard(directory)


def forget_aggregation(iteration: IterationRecord) -> None:
    """Delete an iteration's aggregated results and the report rollouts of its best checkpoint."""
    for path in (iteration.aggregation_path, iteration.path / layout.BEST_RUN):
        files.remove(path)
    files.discard(iteration.report.path)


def forget_revision(iteration: IterationRecord) -> None:
    """Delete the revision of an iteration."""
    files.remove(iteration.revision_path)
