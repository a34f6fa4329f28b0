"""What a session would be, before anything is trained."""

from p2p.contracts.base import Contract
from p2p.contracts.intent import Intent


class PreviewTerm(Contract):
    """One summand of the reward."""

    name: str
    description: str


class Understanding(Contract):
    """A sentence as an author read it."""

    intent: Intent
    left_over: tuple[str, ...] = ()
    """What is not understood, or not measured, and left to eyes; a sentence for each."""
    assumed: tuple[str, ...] = ()
    """What the sentence does not say and is taken for granted; a sentence for each."""
    terms: tuple[PreviewTerm, ...] = ()


class Preview(Contract):
    """What would be judged, rewarded and trained, and what it would take."""

    prompt: str
    env_id: str
    author: str
    """Who would write criteria and rewards: "builtin", or `provider:model`."""
    intent: Intent | None
    """None where a language model would say what it is judged by."""
    left_over: tuple[str, ...] = ()
    """What is not understood, or not measured, and would be left to eyes; a sentence for each."""
    assumed: tuple[str, ...] = ()
    """What the sentence does not say and is taken for granted; a sentence for each."""
    not_judged: tuple[str, ...] = ()
    """What this robot measures and no criterion reads, in words."""
    terms: tuple[PreviewTerm, ...] = ()
    reward: str = ""
    """Source of the first reward; empty where a language model would write it."""
    config: dict[str, object] = {}
    """Every field of the training configuration."""
    n_runs: int = 0
    """Trainings of an iteration."""
    total_timesteps: int = 0
    """Steps of each training."""
    max_iterations: int = 1
    training_episode_s: float = 0.0
    """Longest episode while it trains [s]."""
    expected_s: float | None = None
    """Expected time of the trainings of one iteration [s]; None where no speed is known of this environment."""
    expected_from: str = ""
    """Where the speed behind it was measured."""
    cost: str = ""
    """What it costs besides this machine's time, in words."""
