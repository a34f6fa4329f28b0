"""p2p: one sentence in, a trained and judged policy out.

import p2p

s = p2p.run("run forward", env="HalfCheetah-v5").wait()
print(s.judgment.diagnosis, s.video)
action = s.policy(observation)
"""

from importlib import import_module

TYPE_CHECKING = False
"""As in `typing`, which takes a hundredth of a second to import."""
if TYPE_CHECKING:
    from p2p.api import (
        Benchmark,
        Session,
        add_robot,
        compare_benchmarks,
        criteria,
        environment,
        environments,
        judge,
        load_benchmark,
        load_policy,
        load_session,
        portrait,
        remove_robot,
        run,
        run_benchmark,
        sessions,
        train,
        verify_benchmark,
    )

__version__ = "0.1.0"

DISTRIBUTION = "p2p-mcp"
"""Name of the distribution on the package index, where `p2p` is an unrelated project."""

__all__ = [
    "Benchmark",
    "Session",
    "add_robot",
    "compare_benchmarks",
    "criteria",
    "environment",
    "environments",
    "judge",
    "load_benchmark",
    "load_policy",
    "load_session",
    "portrait",
    "remove_robot",
    "run",
    "run_benchmark",
    "sessions",
    "train",
    "verify_benchmark",
]


def __getattr__(name: str) -> object:
    """Load the Python API when one of its names is first used: `import p2p` alone costs next to nothing."""
    if name not in __all__:
        raise AttributeError(f"module 'p2p' has no attribute {name!r}")
    return getattr(import_module("p2p.api"), name)


def __dir__() -> list[str]:
    """The public names, those not yet loaded included."""
    return sorted({*globals(), *__all__})
