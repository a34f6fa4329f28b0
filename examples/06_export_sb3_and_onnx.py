"""stable-baselines3 and ONNX Runtime load a policy, and act as it was judged. Two minutes on two cores.

Needs `pip install 'p2p-mcp[sb3,onnx]'`.
"""

import sys

import gymnasium
import numpy as np
import onnxruntime
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

import p2p

runs_dir = sys.argv[1] if len(sys.argv) > 1 else "runs"
session = p2p.run(
    "keep the pole balanced for 2 seconds",
    env="InvertedPendulum-v5",
    n_seeds=1,
    n_report_rollouts=10,
    runs_dir=runs_dir,
).wait()
export = session.export("sb3", "onnx")
folder = session.path.parent / export.directory
print(*sorted(file.name for file in folder.iterdir()))
for check in export.report.checks:  # each format replayed a recorded episode
    print(check.format, "differs by at most", check.max_difference)

environment = gymnasium.make("InvertedPendulum-v5")
observation, _ = environment.reset(seed=1)
judged = session.policy(observation)

normalizer = VecNormalize.load(str(folder / "vecnormalize.pkl"), DummyVecEnv([lambda: environment]))
model = PPO.load(folder / "model.zip", device="cpu")
by_sb3, _ = model.predict(normalizer.normalize_obs(observation), deterministic=True)

graph = onnxruntime.InferenceSession(folder / "policy.onnx")
(by_onnx,) = graph.run(["action"], {"observation": observation[None].astype(np.float32)})

print(judged, by_sb3, by_onnx[0])
assert np.allclose(judged, by_sb3, atol=1e-4)
assert np.allclose(judged, by_onnx[0], atol=1e-4)
