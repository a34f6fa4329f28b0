"""Train, and let the author repair a reward that fails during training."""

from p2p.contracts.errors import TrainingFailed
from p2p.contracts.protocols import Repairer
from p2p.contracts.reward import RewardIssue, RewardReport
from p2p.contracts.session import EventName
from p2p.contracts.training import IterationAggregation
from p2p.service.rewards.authors import author_of
from p2p.service.rewards.writing import write_reward
from p2p.service.training.environments import environment_of
from p2p.service.training.iteration import train
from p2p.service.workspace import Workspace

MAX_CRASHES = 2
"""Trainings of an iteration that may fail by their reward; the next failure ends the session."""


def train_or_repair(ws: Workspace, session_id: str, number: int) -> IterationAggregation:
    """Train every run of iteration `number`; if all fail, let the author repair the reward.

    Raises:
        TrainingFailed, InvalidInput, EnvironmentProblem: no run reached its end, and nothing was mended.
        InvalidReward: what was mended is refused.
    """
    record = ws.record(session_id)
    for _ in range(MAX_CRASHES):
        try:
            return train(ws, session_id, number)
        except TrainingFailed as failure:
            iteration = record.iteration(number)
            author = author_of(ws, record)
            intent = record.read_criteria()
            draft = iteration.read_draft()
            report = iteration.read_reward_report()
            if not isinstance(author, Repairer) or intent is None or draft is None or report is None:
                raise
            record.events.emit(EventName.REWARD_ERROR, number, errors=[str(failure)])
            told = RewardReport(spec=report.spec, issues=(RewardIssue(severity="error", message=str(failure)),))
            spec = environment_of(ws, record.read_session(), intent)
            mended = author.repair(intent, spec, draft, told)
            iteration.forget_reward()  # and its trainings with it
            iteration.save_draft(mended)
        write_reward(ws, session_id, number)
    return train(ws, session_id, number)
