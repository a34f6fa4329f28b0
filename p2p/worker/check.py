"""The verb `check`: what a reward does on real transitions, before anything is trained on it. Free of torch."""

import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from p2p.contracts.errors import InvalidInput, InvalidReward
from p2p.contracts.reward import RewardIssue, RewardReport
from p2p.contracts.work import CheckRequest
from p2p.store.iterations import IterationRecord
from p2p.worker.reward.loader import FILENAME, LoadedReward
from p2p.worker.reward.probation import Probation
from p2p.worker.reward.transitions import Recording, record_episodes

TIME_LIMIT_S = 10.0
"""For loading the reward and running it on all transitions."""
GRACE_S = 1.0
"""After it, for a reward that swallows the interruption."""
_LINE = re.compile(r"line (\d+): (.*)", re.DOTALL)


class _Overtime(BaseException):
    """The time is up."""


def check(job_dir: Path) -> None:
    """Try the reward in `job_dir` and write its report, also when the reward is bad.

    Raises:
        InvalidInput: the directory lacks a readable environment.
        InvalidConfig: the environment refuses the request's `env_kwargs`.
    """
    record = IterationRecord(job_dir)
    spec = record.read_env_spec()
    if spec is None:
        raise InvalidInput(f"{record.env_spec_path} is missing or not valid: the reward cannot be tried.")
    recording = record_episodes(spec, record.read_check_request() or CheckRequest())
    with _TimeLimit(record.save_reward_report):
        record.save_reward_report(try_reward(record.reward_fn_path, recording))


def try_reward(path: Path, recording: Recording) -> RewardReport:
    """Load the reward in `path` and run it on recorded transitions."""
    try:
        reward = LoadedReward.from_file(path)
    except InvalidReward as error:
        found = _LINE.match(str(error))
        line, message = (int(found[1]), found[2]) if found else (None, str(error))
        return RewardReport(spec=None, issues=(RewardIssue(severity="error", message=message, line=line),))
    return Probation(reward).run(recording)


class _TimeLimit:
    """Interrupts the block after `TIME_LIMIT_S` and hands over a report that says so.

    A reward that swallows the interruption ends the process, after its report has been handed over.
    """

    def __init__(self, save: Callable[[RewardReport], None]) -> None:
        self._save = save
        self._line: int | None = None

    def __enter__(self) -> None:
        signal.signal(signal.SIGALRM, self._interrupt)
        signal.setitimer(signal.ITIMER_REAL, TIME_LIMIT_S, GRACE_S)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        if kind is not _Overtime:
            return False
        self._save(self._report())
        return True

    def _interrupt(self, _number: int, frame: FrameType | None) -> None:
        if self._line is None:
            self._line = _line_in_reward(frame)
            raise _Overtime
        self._save(self._report())
        os._exit(0)

    def _report(self) -> RewardReport:
        message = (
            f"did not come to an end within {TIME_LIMIT_S:.0f} s on a few hundred transitions. "
            "Look for a loop without an end, or for very slow code."
        )
        return RewardReport(
            spec=None, issues=(RewardIssue(severity="error", message=message, line=self._line or None),)
        )


def _line_in_reward(frame: FrameType | None) -> int:
    """The innermost line of the reward that is being executed; 0 when it is not."""
    while frame is not None and frame.f_code.co_filename != FILENAME:
        frame = frame.f_back
    return frame.f_lineno if frame is not None else 0
