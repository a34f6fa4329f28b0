"""What this machine has, and what it lacks."""

from p2p.contracts.setup import SetupReport
from p2p.service.wiring import Wiring


class Setup(Wiring):
    """What `p2p doctor` shows."""

    def check_setup(self) -> SetupReport:
        """Look at python, packages, renderers, cores, memory, disk and keys."""
        return SetupReport(checks=())
