"""Judge code that a model wrote for a session, and the directories where it is tried and called."""

from pathlib import Path

from p2p.contracts.judge_code import JudgeCode
from p2p.store import files, layout


class JudgeCodeRecord:
    """The judge code of one session.

    Args:
        session: Its directory.
    """

    def __init__(self, session: Path) -> None:
        self._path = session / layout.JUDGE_CODE
        self.known_motions_dir = session / layout.KNOWN_MOTIONS
        """Job directory of the motions that functions are tried on."""

    def read(self) -> JudgeCode | None:
        """The functions; None where none were written."""
        return files.read_model(self._path, JudgeCode)

    def save(self, code: JudgeCode) -> None:
        """Write `judge_code.json`."""
        files.write_model(self._path, code)


def judged_dir(iteration: Path, key: str, code_hash: str) -> Path:
    """Job directory of a function that is called on the report rollouts of an iteration."""
    return iteration / layout.JUDGED / f"{key}_{code_hash}"
