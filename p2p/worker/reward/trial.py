"""A reward on trial, from its text to its report: what the gate says, whether it loads, how it does on transitions."""

import re

from p2p.contracts.errors import InvalidReward
from p2p.contracts.reward import RewardIssue, RewardReport
from p2p.worker.reward.gate import violations
from p2p.worker.reward.loader import LoadedReward
from p2p.worker.reward.probation import Probation
from p2p.worker.reward.recording import Recording

_LINE = re.compile(r"line (\d+): (.*)", re.DOTALL)


def try_source(source: str, recording: Recording) -> RewardReport:
    """Load a reward and run it on recorded transitions; to be called where generated code may run."""
    if issues := gate_issues(source):
        return refused(*issues)
    try:
        reward = LoadedReward(source)
    except InvalidReward as error:
        found = _LINE.match(str(error))
        return refused_with(found[2], int(found[1])) if found else refused_with(str(error))
    return Probation(reward).run(recording)


def refused_with(message: str, line: int | None = None) -> RewardReport:
    """The report of a reward that did not come so far as to be run."""
    return refused(RewardIssue(severity="error", message=message, line=line))


def refused(*issues: RewardIssue) -> RewardReport:
    """The same, for all that was found at once."""
    return RewardReport(spec=None, issues=issues)


def gate_issues(source: str) -> tuple[RewardIssue, ...]:
    """What the gate finds in a reward; nothing in source that is not valid Python."""
    try:
        found = violations(source)
    except InvalidReward:
        return ()
    return tuple(RewardIssue(severity="error", message=one.message, line=one.line) for one in found)
