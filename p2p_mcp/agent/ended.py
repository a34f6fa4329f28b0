"""How the loop ends: by an exception that carries why."""

from p2p.contracts.agent import AgentEnding


class Ended(Exception):
    """The agent stops here.

    Args:
        ending: why, as one word.
        reason: why, in a sentence for people.
    """

    def __init__(self, ending: AgentEnding, reason: str) -> None:
        super().__init__(reason)
        self.ending = ending
        self.reason = reason
