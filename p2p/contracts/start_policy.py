"""The policy that a training goes on from: which one, and what it had cost."""

import re
from typing import Any, Self

from pydantic import Field

from p2p.contracts.base import Contract, FileName
from p2p.contracts.curriculum import Curriculum

FROM_ZERO = "0"
"""In place of a policy: none, also where the reviser would have gone on from one."""
FORMS = "ITERATION of the same session, or SESSION[:ITERATION]; after it /RUN and @STEP choose another checkpoint"
_FORM = re.compile(
    r"(?:(?P<session>[^\s:/@]+?)(?::|(?=[/@]|$)))??(?P<iteration>\d{1,4})?"
    r"(?:/(?P<run>[a-z0-9][a-z0-9_-]*))?(?:@(?P<step>\d{1,12}))?"
)


class PolicyName(Contract):
    """Which kept policy is meant; None takes the best there is."""

    session: str | None = None
    """None: of the session that is trained."""
    iteration: int | None = None
    run: str | None = None
    step: int | None = None

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Read "2", "2@40000", "SESSION", "SESSION:2", "SESSION:2/baseline_seed_10@40000"; None: nothing of the kind.

        A number alone is an iteration.
        """
        found = _FORM.fullmatch(text.strip())
        if found is None or not any(found.groups()):
            return None
        parts = found.groupdict()
        return cls(
            session=parts.get("session"),
            iteration=int(parts["iteration"]) if parts["iteration"] else None,
            run=parts["run"],
            step=int(parts["step"]) if parts["step"] else None,
        )


class StartPolicy(Contract):
    """The policy that a training goes on from (`start_policy.json`); its files lie beside it.

    They are copies: the session stays whole where the one that it went on from is deleted, and on other machines.
    """

    session_id: str
    iteration: int
    run_id: FileName
    checkpoint: int
    """Step of its own training."""
    steps: int
    """Environment steps that led to it: those of its own training up to the checkpoint, and all before."""
    sha256: str
    """Of `start_policy.npz`."""
    optimizer_sha256: str = ""
    """Of `start_optimizer.npz`; empty where the optimiser begins anew."""
    config: dict[str, Any] = {}
    """Fields of the configuration that its networks fix: `FIXED`."""
    curriculum: Curriculum | None = Field(default=None, exclude_if=lambda curriculum: curriculum is None)
    """What changed while it was trained, from its start to its end; behind a training that goes on."""
    proposed_by: str = ""
    """Why it was gone on from without being asked for; empty where somebody asked."""

    @property
    def words(self) -> str:
        """Which policy, in words."""
        return f"iteration {self.iteration} of {self.session_id}, {self.run_id} at step {self.checkpoint:,}"

    def cost(self, own: int) -> str:
        """Environment steps of a policy that went on from this one, in words.

        Args:
            own: Steps of its own training, up to its checkpoint.
        """
        return f"{own:,} steps of its own, after {self.steps:,} of {self.words}: {own + self.steps:,} in all"


FIXED = ("net_arch", "activation", "normalize_obs", "clip_obs", "observe", "commands", "observation")
"""Fields of `TrainConfig` that a training takes over from the policy that it goes on from; it may draw commands from
other ranges."""


MOST_LINES = 0.3
"""Share of a reward's lines of code in which one that changed little differs, at most."""
LEAST_SCORE = 0.5
LEAST_SHARE = 0.2
"""A policy is gone on from unasked where it scores as much by each required criterion, or so many of its rollouts met
all of them. Below both it is usually stuck in what scores by itself, such as standing still."""
NEEDS_ZERO = (*(name for name in FIXED if name != "commands"), "log_std_init", "learner", "env_kwargs")
"""Fields of `TrainConfig` whose change has no effect, or no place, in a policy that exists already."""


class StartDecision(Contract):
    """Whether the next training is to go on from the policy whose reward was changed, and why."""

    from_iteration: int | None
    """None: it begins from zero."""
    lines_changed: float = Field(ge=0, le=1)
    """Share of the reward's lines of code that differ; comments, docstrings and layout do not count."""
    little: float = MOST_LINES
    """Most of it that is a little change."""
    reason: str
