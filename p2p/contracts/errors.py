"""The errors p2p raises on purpose.

P2PError                     exit code 1
├── InvalidInput             2   what came cannot be used; the message says what can
│   ├── UnknownName          2   a name that is not registered, with those that are
│   ├── UnknownPhrase        2   a sentence the built-in author does not understand
│   ├── InvalidReward        2   a reward function that does not load, or breaks its contract
│   └── InvalidConfig        2   a training configuration with a wrong key or value
├── TrainingFailed           3   no training of an iteration reached its end
│   └── RewardFailed         3   a reward raised, or returned a non-finite number, while training
├── EnvironmentProblem       4   this machine lacks something; the message says what to do
│   ├── MissingExtra         4   an optional dependency, with the `pip install` line
│   └── StorageProblem       4   the runs directory cannot be written (read-only, full disk)
└── JobLost                  3   a job's supervisor died before it could record an end
"""

from collections.abc import Iterable
from difflib import get_close_matches

INTERRUPTED = 130
"""Exit code after Ctrl-C, which is no error: the jobs go on."""


class P2PError(Exception):
    """Anything p2p refuses or fails at, with a message a person can act on."""

    exit_code = 1


class InvalidInput(P2PError):
    """What the caller gave cannot be used."""

    exit_code = 2


class UnknownName(InvalidInput):
    """A name that is not registered."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        known = sorted(known)
        close = get_close_matches(name, known, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        super().__init__(f"Unknown {kind} {name!r}.{hint} Known: {', '.join(known) or 'none yet'}.")
        self.kind, self.name, self.known = kind, name, known


class UnknownPhrase(InvalidInput):
    """A sentence, or a part of one, that the built-in author does not understand."""


class InvalidReward(InvalidInput):
    """A reward function that does not load or breaks its contract."""


class InvalidConfig(InvalidInput):
    """A training configuration with a wrong key or value."""


class TrainingFailed(P2PError):
    """No training of an iteration reached its end."""

    exit_code = 3


class RewardFailed(TrainingFailed):
    """A reward raised, or returned a non-finite number, while training."""


class JobLost(P2PError):
    """A job's supervisor died before it could record how the job ended."""

    exit_code = 3


class EnvironmentProblem(P2PError):
    """This machine lacks something p2p needs."""

    exit_code = 4


class MissingExtra(EnvironmentProblem):
    """An optional dependency that is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed. Run: pip install 'p2p[{extra}]'")


class StorageProblem(EnvironmentProblem):
    """The runs directory cannot be read or written."""
