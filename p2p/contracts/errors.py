"""The errors p2p raises on purpose.

P2PError                     exit code 1
├── InvalidInput             2   what came cannot be used; the message says what can
│   ├── UnknownName          2   a name that is not registered, with those that are
│   ├── AmbiguousName        2   a shortened name that more than one thing has
│   ├── UnknownPhrase        2   a sentence the built-in author does not understand
│   ├── Ambiguous            2   a sentence that can mean different things; it holds the question to ask
│   ├── Busy                 2   something of it is running, and must end first
│   ├── InvalidReward        2   a reward function that does not load, or breaks its contract
│   └── InvalidConfig        2   a training configuration with a wrong key or value
├── TrainingFailed           3   no training of an iteration reached its end
│   └── RewardFailed         3   a reward raised, or returned a non-finite number, while training
├── EnvironmentProblem       4   this machine lacks something; the message says what to do
│   ├── MissingExtra         4   an optional dependency, with the `pip install` line
│   ├── StorageProblem       4   the runs directory cannot be written (read-only, full disk)
│   └── NodeUnreachable      4   another machine does not answer, refuses us, or is not the one that was trusted
├── JobLost                  4   a process was killed before it could record an end; `p2p resume` goes on
├── CodeFailed               3   code that a model wrote to measure something raised, or gave no answer of use
├── ModelProblem             3   a language model gave no answer that could be used
│   ├── AuthenticationFailed 4   the provider refuses the key, or the account cannot pay
│   ├── RequestRejected      2   the provider refuses the request, or knows no such model
│   ├── RateLimited          3   too many requests, also after waiting
│   ├── ModelUnavailable     3   the provider is overloaded, failing or out of reach
│   ├── ModelTimeout         3   no answer within the time limit
│   ├── ModelRefused         3   the provider's filter, or the model, refuses to answer
│   ├── ReplyTruncated       3   the answer was cut off at its length limit
│   └── ReplyMalformed       3   the answer is empty, no JSON, or outside its ranges
└── BudgetExceeded           3   the next step would pass a cap of the session; it was not taken
"""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from enum import StrEnum

from p2p import DISTRIBUTION

NOT_PASSED = 3
"""Exit code of what was asked for and came out as no: a session, a suite, an entry, an exam of judges."""
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
        close = get_close_matches(name, [one.partition("[")[0] for one in known], n=1)  # "ssh[:NODE]" is called "ssh"
        hint = f" Did you mean {close[0]!r}?" if close else ""
        super().__init__(f"Unknown {kind} {name!r}.{hint} Known: {', '.join(known) or 'none yet'}.")
        self.kind = kind
        self.name = name
        self.known = known


class AmbiguousName(InvalidInput):
    """A shortened name that more than one thing has."""


class Refusal(StrEnum):
    """Why a sentence is not accepted."""

    UNKNOWN = "unknown"
    """A word is not known."""
    UNMEASURED = "unmeasured"
    """A word is known, but nothing measures it on this robot yet."""
    IMPOSSIBLE = "impossible"
    """The robot cannot do it."""
    CONFLICT = "conflict"
    """Two parts contradict each other, or do not go together."""
    VAGUE = "vague"
    """Something that must be said is missing."""
    TOO_MUCH = "too_much"
    """It asks for more than one sentence may hold."""


class UnknownPhrase(InvalidInput):
    """A sentence, or a part of one, that the built-in author does not accept.

    Args:
        message: What is wrong, and what to do.
        kind: Why it is not accepted.
        words: The parts of the sentence that are to blame.
        suggestions: Known words that may have been meant.
    """

    def __init__(
        self,
        message: str,
        kind: Refusal = Refusal.CONFLICT,
        words: Sequence[str] = (),
        suggestions: Sequence[str] = (),
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.words = tuple(words)
        self.suggestions = tuple(suggestions)


class Ambiguous(InvalidInput):
    """A sentence that can mean things which are judged differently.

    Args:
        question: What to ask the person.
    """

    def __init__(self, question: str) -> None:
        super().__init__(f"{question} Answer in the sentence, and start again.")
        self.question = question


class Busy(InvalidInput):
    """What was asked for would be possible if nothing of it were running, or waiting for its turn."""


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
    """A process was killed before it could record how its job ended."""

    exit_code = 4


class CodeFailed(P2PError):
    """Code that a model wrote raised, gave no answer in time, or answered something that cannot be used."""

    exit_code = 3

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message if line is None else f"line {line}: {message}")
        self.line = line
        """Line in its source; None when no single line is to blame."""


class EnvironmentProblem(P2PError):
    """This machine lacks something p2p needs."""

    exit_code = 4


class MissingExtra(EnvironmentProblem):
    """An optional dependency that is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed. Run: pip install '{DISTRIBUTION}[{extra}]'")


class StorageProblem(EnvironmentProblem):
    """The runs directory cannot be read or written."""


class NodeUnreachable(EnvironmentProblem):
    """Another machine does not answer, refuses us, or is not the one that was trusted."""


class BudgetExceeded(P2PError):
    """The next step would pass a cap of the session; it was not taken."""

    exit_code = 3
