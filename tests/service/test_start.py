"""What the doors and the service load when they start: whatever is heavy stands inside the function that needs it."""

import subprocess
import sys

import pytest

HEAVY = {"numpy", "torch", "mujoco", "gymnasium", "stable_baselines3", "matplotlib", "paramiko", "jinja2"}
HEAVY |= {"tensorboard", "wandb", "google"}
LOAD_ALL = """
import importlib, pkgutil, sys
package = importlib.import_module(sys.argv[1])
for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print(*({module.partition(".")[0] for module in sys.modules} & set(sys.argv[2:])))
"""


@pytest.mark.parametrize("package", ["p2p.cli", "p2p.service", "p2p.session", "p2p_mcp.tools", "p2p_mcp.views"])
def test_no_module_of_a_front_end_or_of_the_service_loads_anything_heavy(package: str) -> None:
    done = subprocess.run([sys.executable, "-c", LOAD_ALL, package, *HEAVY], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
