"""MuJoCo's warnings: on stderr, and not in a log file in the working directory."""

import sys

import mujoco


def redirect_warnings() -> None:
    """From now on, print the warnings of simulations, and drop those about the wording of a model file."""
    mujoco.set_mju_user_warning(_print)


def _print(message: str) -> None:
    if "deprecated" not in message:
        print(f"mujoco: {message}", file=sys.stderr)
