"""What is removed where something newer takes its place."""

from p2p.store import files, layout
from p2p.store.iterations import IterationRecord


def forget_reward(iteration: IterationRecord) -> None:
    """Remove the reward of an iteration, with its check and its trainings; the draft, which marks it, goes first."""
    plan, request = iteration.path / layout.PLAN, iteration.path / layout.TRAINING_REQUEST
    for path in (iteration.draft_path, iteration.reward_report_path, iteration.reward_spec_path, plan, request):
        files.remove(path)
    for directory in (iteration.check_dir, *(run.path for run in iteration.runs())):
        files.discard(directory)


def forget_aggregation(iteration: IterationRecord) -> None:
    """Remove what the runs of an iteration reached, and the rollouts of the checkpoint that was best."""
    for path in (iteration.aggregation_path, iteration.path / layout.BEST_RUN):
        files.remove(path)
    files.discard(iteration.report.path)


def forget_revision(iteration: IterationRecord) -> None:
    """Remove the revision of an iteration."""
    files.remove(iteration.revision_path)
