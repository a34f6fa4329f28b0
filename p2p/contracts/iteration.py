"""What one iteration tried and reached."""

from p2p.contracts.advice import Advice
from p2p.contracts.base import Contract
from p2p.contracts.judgment import Judgment
from p2p.contracts.reward import CandidateChoice, Revision, RewardReport
from p2p.contracts.session import RunProgress
from p2p.contracts.start_policy import StartPolicy
from p2p.contracts.training import EffectiveConfig, IterationAggregation


class IterationView(Contract):
    """What one iteration tried and reached; None where it has not come that far."""

    session_id: str
    iteration: int
    directory: str
    """Relative to the runs directory."""
    config: EffectiveConfig | None = None
    """What its first configuration is trained with, and who set each field; None before its reward is written."""
    from_policy: StartPolicy | None = None
    """The policy that its trainings go on from; None from zero, or before they were started."""
    reward_report: RewardReport | None
    runs: tuple[RunProgress, ...]
    """All of them, the failed ones with their error."""
    aggregation: IterationAggregation | None
    judgment: Judgment | None
    report_returns: tuple[float, ...]
    """Return of each report rollout by the trained reward; empty before there are any."""
    advice: tuple[Advice, ...] = ()
    """What the course of its trainings says to do next; empty before they have ended, and where nothing is wrong."""
    revision: Revision | None
    """What was changed after it."""
    candidates: CandidateChoice | None = None
    """Which of several rewards became its own; None where one was written."""
    contact_sheet: str | None = None
    """Frames of a judged rollout, relative to the runs directory; None before there are any."""
