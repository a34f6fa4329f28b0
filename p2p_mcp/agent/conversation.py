"""The messages between a model and its tools, each written down as it is added."""

from collections.abc import Callable, Sequence

from p2p.contracts.agent import Spending
from p2p.contracts.inference import Message, Part, user
from p2p_mcp.agent.converter import holds_pictures, without_pictures
from p2p_mcp.agent.transcript import Transcript, joined


class Conversation:
    """What the model is sent.

    Args:
        transcript: where each message is written.
        spending: what is spent up to now.
        messages: what was said before.
    """

    def __init__(
        self, transcript: Transcript, spending: Callable[[], Spending], messages: Sequence[Message] = ()
    ) -> None:
        self.messages = list(messages)
        self.transcript = transcript
        self._spending = spending

    def add(self, message: Message) -> None:
        """Add what either side said; nothing, where it said nothing."""
        if message.parts:
            self.transcript.message(message, self._spending())
            self.messages = joined(self.messages, message)

    def answer(self, parts: Sequence[Part]) -> None:
        """Add results or words of ours; they join those that wait for the model already."""
        self.add(Message(role="user", parts=tuple(parts)))

    def say(self, text: str) -> None:
        """Add words of the host."""
        self.add(user(text))

    def note(self, text: str) -> None:
        """Write down something that the model is not told."""
        self.transcript.note(text, self._spending())

    def forget_pictures(self) -> None:
        """Put a line in the place of every picture: what was judged need not be sent again."""
        if holds_pictures(self.messages):
            self.messages = without_pictures(self.messages)
