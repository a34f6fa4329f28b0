"""The messages between a model and its tools, each written down as it is added."""

from collections.abc import Callable, Sequence

from p2p.contracts.agent import Spending
from p2p_mcp.agent.context import holds_pictures, without_pictures
from p2p_mcp.agent.converter import Block, text_block
from p2p_mcp.agent.transcript import Transcript


class Conversation:
    """What the model is sent.

    Args:
        transcript: where each message is written.
        spending: what is spent up to now.
        messages: what was said before.
    """

    def __init__(
        self, transcript: Transcript, spending: Callable[[], Spending], messages: Sequence[Block] = ()
    ) -> None:
        self.messages = list(messages)
        self.transcript, self._spending = transcript, spending

    def assistant(self, content: Sequence[Block]) -> None:
        """Add what the model said; nothing, where it said nothing."""
        if content:
            self._add("assistant", content)

    def user(self, content: Sequence[Block]) -> None:
        """Add results or words; they join those that wait for the model already."""
        self._add("user", content)

    def say(self, text: str) -> None:
        """Add words of the host."""
        self.user([text_block(text)])

    def note(self, text: str) -> None:
        """Write down something that the model is not told."""
        self.transcript.note(text, self._spending())

    def forget_pictures(self) -> None:
        """Put a line in the place of every picture: what was judged need not be sent again."""
        if holds_pictures(self.messages):
            self.messages = without_pictures(self.messages)

    def _add(self, role: str, content: Sequence[Block]) -> None:
        self.transcript.message({"role": role, "content": list(content)}, self._spending())
        if self.messages and self.messages[-1]["role"] == role:
            before = self.messages[-1]
            self.messages[-1] = {"role": role, "content": [*before["content"], *content]}
        else:
            self.messages.append({"role": role, "content": list(content)})
