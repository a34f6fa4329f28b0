"""stub"""

from p2p.contracts.env import EnvSpec
from p2p.contracts.intent import Intent
from p2p.contracts.protocols import Attempt
from p2p.contracts.revision import Revision


def revise(intent: Intent, env: EnvSpec, attempts: tuple[Attempt, ...]) -> Revision:
    """Stub."""
    raise NotImplementedError
