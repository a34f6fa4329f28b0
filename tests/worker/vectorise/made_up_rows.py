"""Rows that no robot made, and the comparison of a vectorised reward with the reward on them."""

import numpy as np

from p2p.worker.reward_source.loader import LoadedReward
from p2p.worker.vectorise import prove, vectorise

HEAD = "import math\nimport numpy as np\n"


def rows(count=60, seed=0):
    """Observations of 8, actions of 3, and an info with numbers, truth values, whole numbers and arrays."""
    rng = np.random.default_rng(seed)
    obs, action, next_obs = (rng.normal(size=(count, size)) for size in (8, 3, 8))
    info = {
        "speed": rng.normal(size=count),
        "height": rng.uniform(0.0, 2.0, count),
        "contact": (rng.random(count) < 0.5).astype(np.float64),
        "steps": rng.integers(0, 5, count),
        "healthy": rng.random(count) < 0.7,
        "forces": rng.normal(size=(count, 4)),
        "_episode_start": np.arange(count) % 20 == 0,
    }
    return obs, action, next_obs, info


def function(body, head=""):
    """A reward in the legacy format whose only term is `x`, which `body` computes."""
    lines = [*body.strip("\n").split("\n"), 'return float(x), {"x": float(x)}']
    indented = "\n".join(f"    {line}" for line in lines)
    return f"{HEAD}{head}\ndef reward_fn(obs, action, next_obs, info):\n{indented}\n"


def proven(source, count=60):
    """The vectorised reward, after its proof on made-up rows."""
    reward = LoadedReward(source)
    vector = vectorise(reward)
    obs, action, next_obs, info = rows(count)
    prove(vector, reward, obs, action, next_obs, info, info["_episode_start"])
    return vector
