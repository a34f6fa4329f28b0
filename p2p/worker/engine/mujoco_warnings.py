"""MuJoCo's warnings: on stderr, and not in a log file in the working directory."""

import sys

import mujoco


def redirect_warnings() -> None:
    """Print simulation warnings to stderr; drop those about a model file's wording."""
    mujoco.set_mju_user_warning(_print)


def _print(message: str) -> None:
    if "deprecated" not in message:
        print(f"mujoco: {message}", file=sys.stderr)
