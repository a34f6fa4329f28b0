"""Which tools a server offers."""

from p2p.contracts.base import Contract

SLIM = (
    "create_session",
    "write_reward",
    "train_iteration",
    "get_job",
    "judge_videos",
    "submit_judgment",
    "revise_reward",
)
TOOLSETS = ("catalog", "sessions", "rewards", "training", "judging", "viewing", "export")


class ServerOptions(Contract):
    """Which tools a server offers; the narrowest wins."""

    toolsets: tuple[str, ...] = ()
    """Names of `TOOLSETS`; none means all."""
    tools: tuple[str, ...] = ()
    """Names of tools; none means all."""
    read_only: bool = False
    """Only tools that change nothing."""
    slim: bool = False
    """Only the seven that the loop cannot do without."""

    def admit(self, name: str, toolset: str, *, read_only: bool) -> bool:
        """Whether a tool is wanted."""
        return (
            (read_only or not self.read_only)
            and (not self.slim or name in SLIM)
            and (not self.toolsets or toolset in self.toolsets)
            and (not self.tools or name in self.tools)
        )
