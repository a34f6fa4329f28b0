"""Trying code that a model wrote to judge by, before anything is judged by it."""

from collections.abc import Callable
from pathlib import Path

from p2p import registry
from p2p.contracts.calibration import ROBOTS, ClipsRequest
from p2p.service.training.jobs import completed, run_to_end
from p2p.service.wiring import Wiring
from p2p.store import files
from p2p.store.calibration import ClipsRecord


class JudgeTrials(Wiring):
    """On made-up rollouts, and on motions that are known."""

    def _held_against(self, source: str, names: tuple[str, ...], known: Path | None) -> list[str]:
        """What a trial on made-up rollouts and known motions holds against a source."""
        directory = self.runs.trial_dir()
        prepare: Callable[..., None] = registry.load("measurement", registry.MEASUREMENTS, "prepare_trial")
        problems: Callable[[Path], list[str]]
        problems = registry.load("measurement", registry.MEASUREMENTS, "code_problems")
        try:
            prepare(directory, source, names, known)
            run_to_end(self.backend, "call", directory)
            return problems(directory)
        finally:
            files.discard(directory)

    def _known_motions(self, clips: ClipsRecord, env_id: str) -> Path | None:
        """File with the features of motions prescribed joint by joint; None where there are none of this robot.

        Args:
            clips: Where they lie, or are made.
            env_id: The robot's environment.
        """
        if env_id not in ROBOTS:
            return None
        if not completed(self.backend, clips.path):
            clips.save_request(ClipsRequest(env_id=env_id, variations=1))
            run_to_end(self.backend, "clips", clips.path)
        return clips.features_path
