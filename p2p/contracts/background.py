"""Background jobs: requests, tickets and views."""

import hashlib
from enum import StrEnum
from typing import Any

from pydantic import Field, model_validator

from p2p.contracts.base import Contract, Identifier
from p2p.contracts.job import JobState, Waiting
from p2p.contracts.session import Priority, RunProgress
from p2p.contracts.training import TrainConfig


class JobKind(StrEnum):
    """What a job does."""

    TRAINING = "training"
    """Trains one iteration, and runs and films the rollouts it is judged by."""
    SESSION = "session"
    """Drives a session to its end."""


class StartTraining(Contract):
    """How an iteration is to be trained; None leaves what the session says."""

    seeds: tuple[int, ...] | None = Field(default=None, min_length=1, max_length=10)
    """Training seeds, each in [0, 1000)."""
    configs: dict[str, dict[str, object]] | None = Field(default=None, min_length=1, max_length=8)
    """Named variants trained side by side, each a set of `TrainConfig` fields."""
    total_timesteps: int | None = Field(default=None, ge=1)
    """Environment steps of each run."""
    from_policy: str | None = Field(default=None, min_length=1, max_length=200)
    """Policy to go on from, as `PolicyName` reads it; "0": from zero, also where the reviser chose a policy."""
    resume_optimizer: bool | None = None
    """Whether the optimiser goes on with its moments; None, False: it begins anew."""
    priority: Priority | None = None
    """Priority of its runs and of later iterations; runs under way keep theirs."""
    backend: str | None = None
    """Backend of its runs and of later iterations."""
    idempotency_key: str | None = Field(default=None, min_length=1, max_length=200)
    """A second start with the same key returns the job of the first."""

    def digest(self) -> str:
        """Digest of all that is said; fields left alone do not count, so that new ones change none of it."""
        return hashlib.sha256(self.model_dump_json(exclude_none=True).encode()).hexdigest()[:32]


class TrainingRequest(Contract):
    """How an iteration is trained, and by which job (`training_request.json`)."""

    job_id: Identifier
    start: StartTraining
    configs: dict[str, TrainConfig] | None = None
    """Resulting configuration of each run, by the run's name; None in a request of an earlier version."""


class JobTicket(Contract):
    """What is known of a job from its start (`ticket.json`)."""

    job_id: Identifier
    """"job_" and 32 hexadecimal digits, which are random."""
    kind: JobKind
    session_id: Identifier
    iteration: int | None = None
    """Number of the iteration; None for a session."""
    asked: str | None = None
    """Digest of what its caller asked for, to tell the same request from another one; None for a session. The request
    itself is the iteration's `training_request.json`."""
    total: int = 0
    """Environment steps to be made, as planned at the start; 0 for a session."""
    created_at: str
    """UTC, ISO 8601."""

    @model_validator(mode="before")
    @classmethod
    def _of_an_earlier_version(cls, values: Any) -> Any:
        """Tickets once held the request itself, as `start`."""
        if not isinstance(values, dict) or "start" not in values:
            return values
        start = values["start"]
        asked = None if start is None else StartTraining.model_validate(start).digest()
        return {name: value for name, value in values.items() if name != "start"} | {"asked": asked}


class JobView(Contract):
    """How a job stands."""

    job_id: Identifier
    kind: JobKind
    session_id: Identifier
    iteration: int | None
    """The one it trains; of a session the current one."""
    state: JobState
    queue_position: int | None
    """Among the background jobs of the runs directory, from 1, which is next; None when it has its turn."""
    waiting: Waiting | None = None
    """What it waits for: its turn, or cores; None when it does not wait."""
    step: int
    """Environment steps made, over all runs of the iteration; of a session over those of all its iterations so far."""
    total: int
    """Environment steps to be made, of the same."""
    eta_s: float | None
    """Expected time until all runs are trained [s]; None where nothing is trained, or no run is under way yet."""
    runs: tuple[RunProgress, ...]
    error: str | None
    """What went wrong, in one line."""
    created_at: str
    """UTC, ISO 8601."""
