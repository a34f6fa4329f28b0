"""The errors of language models; see the tree in `p2p.contracts.errors`."""

from p2p.contracts.errors import P2PError
from p2p.contracts.usage import Usage


class ModelProblem(P2PError):
    """A language model gave no answer that could be used.

    Args:
        message: What happened.
        usage: Tokens that were used all the same.
        retry_after_s: How long the provider asks to wait [s]; None where it does not say.
    """

    exit_code = 3
    transient = False
    """Whether the same request may be answered when it is made again."""

    def __init__(self, message: str, usage: Usage | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.usage, self.retry_after_s = usage or Usage(), retry_after_s


class AuthenticationFailed(ModelProblem):
    """The provider refuses the key, or the account cannot pay."""

    exit_code = 4


class RequestRejected(ModelProblem):
    """The provider refuses the request, or knows no such model."""

    exit_code = 2


class RateLimited(ModelProblem):
    """The provider had too many requests of this account, also after waiting."""

    transient = True


class ModelUnavailable(ModelProblem):
    """The provider is overloaded, failing or out of reach."""

    transient = True


class ModelTimeout(ModelProblem):
    """No answer came within the time limit."""

    transient = True


class ModelRefused(ModelProblem):
    """The provider's filter, or the model itself, refuses to answer."""


class ReplyTruncated(ModelProblem):
    """The answer was cut off at its length limit, so that it is not whole."""


class ReplyMalformed(ModelProblem):
    """The answer is empty, cannot be read, or holds what it may not.

    Args:
        message: What is wrong with it.
        usage: Tokens that were used all the same.
        transient: Whether it was broken on the way, so that asking again may help.
    """

    def __init__(self, message: str, usage: Usage | None = None, transient: bool = False) -> None:
        super().__init__(message, usage)
        self.transient = transient
