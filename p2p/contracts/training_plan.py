"""How the trainings of an iteration share the machine, and where one ends early."""

from p2p.contracts.base import Contract


class EarlyStop(Contract):
    """Where and why a training ended before all its steps were made."""

    step: int
    """The last one."""
    planned: int
    """Steps it would have made."""
    reason: str

    @property
    def steps_saved(self) -> int:
        """Steps not made."""
        return self.planned - self.step


class TrainingPlan(Contract):
    """How the runs of an iteration share the machine (`plan.json`)."""

    n_runs: int
    parallel: int
    """Runs at a time."""
    cores: int
    """Cores they use together."""
    candidate_steps: int = 0
    """Environment steps of each, where they are the short trainings that a reward is chosen by; 0 where not."""

    @property
    def threads(self) -> int:
        """Cores for each run."""
        return max(1, self.cores // self.parallel)
