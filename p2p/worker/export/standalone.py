"""Replay this policy's recorded episode in Gymnasium and compare the returns.

    python replay.py
    python replay.py --format onnx

It needs gymnasium[mujoco], and for a format its own library (onnxruntime, torch, stable-baselines3; none for numpy).
Everything it knows about the episode is in export.json beside it.

The simulator, the seed and the policy are deterministic, so the return is the recorded one to the last digit, with
the versions in export.json. The policy was judged with observations and actions in float32 and all between in float64,
where the order of a library's sums is lost in the rounding. `sb3-predict` computes in float32: it differs in the
last bit of an action, of which a robot that runs makes, after some seconds, a somewhat different episode.

The return is Gymnasium's own. The reward this policy was trained on reads measurements that p2p makes: what it gave in
the same replay is in export.json, under "trained_return".
"""

import argparse
import importlib
import json
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent
TOLERANCE = 1e-6
"""Relative difference of two returns that are called the same."""
FLOAT32 = ("sb3-predict",)
"""Formats that need not meet the recorded return."""
Act = Callable[[NDArray[Any]], NDArray[np.float32]]
"""Deterministic actions, shape (B, action_dim), for observations of shape (B, obs_dim)."""


def open_numpy(folder: Path) -> Act:
    """The policy out of its plain arrays: observations and actions are float32, all between them is float64."""
    with np.load(folder / "policy.npz") as archive:
        arrays = {name: archive[name] for name in archive.files}
    deviation = np.sqrt(arrays["variance"] + 1e-8)
    layers = sum(name.startswith("weight_") for name in arrays)

    def act(observations: NDArray[Any]) -> NDArray[np.float32]:
        hidden = (observations.astype(np.float32) - arrays["mean"]) / deviation
        hidden = np.clip(hidden, -arrays["clip"], arrays["clip"])
        for i in range(layers):
            hidden = hidden @ arrays[f"weight_{i}"].astype(np.float64) + arrays[f"bias_{i}"]
            if i < layers - 1:
                hidden = np.maximum(hidden, 0.0) if arrays["activation"] == "relu" else np.tanh(hidden)
        actions: NDArray[np.float32] = np.clip(hidden.astype(np.float32), arrays["low"], arrays["high"])
        return actions

    return act


def open_sb3(folder: Path) -> Act:
    """The parameters of the stable-baselines3 model and its VecNormalize, computed with in float64."""
    model, normalizer = _load_sb3(folder)
    policy = model.policy.double()
    torch = importlib.import_module("torch")
    network = torch.nn.Sequential(policy.mlp_extractor.policy_net, policy.action_net)

    def act(observations: NDArray[Any]) -> NDArray[np.float32]:
        normal = observations.astype(np.float32).astype(np.float64)
        if normalizer.norm_obs:
            normal = (normal - normalizer.obs_rms.mean) / np.sqrt(normalizer.obs_rms.var + normalizer.epsilon)
            normal = np.clip(normal, -normalizer.clip_obs, normalizer.clip_obs)
        with torch.inference_mode():
            actions = network(torch.tensor(normal)).float().numpy()
        return np.asarray(np.clip(actions, model.action_space.low, model.action_space.high))

    return act


def open_sb3_predict(folder: Path) -> Act:
    """The same by stable-baselines3's own `predict`, which computes in float32."""
    model, normalizer = _load_sb3(folder)

    def act(observations: NDArray[Any]) -> NDArray[np.float32]:
        actions, _ = model.predict(normalizer.normalize_obs(observations), deterministic=True)
        return np.asarray(actions, dtype=np.float32)

    return act


def open_onnx(folder: Path) -> Act:
    """The policy out of its ONNX graph."""
    session = importlib.import_module("onnxruntime").InferenceSession(folder / "policy.onnx")

    def act(observations: NDArray[Any]) -> NDArray[np.float32]:
        (actions,) = session.run(["action"], {"observation": observations.astype(np.float32)})
        return np.asarray(actions, dtype=np.float32)

    return act


def open_torchscript(folder: Path) -> Act:
    """The policy out of its TorchScript module."""
    torch = importlib.import_module("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # TorchScript is finished, and stays loadable
        module = torch.jit.load(str(folder / "policy.pt"), map_location="cpu")

    def act(observations: NDArray[Any]) -> NDArray[np.float32]:
        with torch.inference_mode():
            actions = module(torch.tensor(observations, dtype=torch.float32))
        return np.asarray(actions, dtype=np.float32)

    return act


def _load_sb3(folder: Path) -> tuple[Any, Any]:
    """The model, and the normaliser around an environment that is never stepped."""
    vec_env = importlib.import_module("stable_baselines3.common.vec_env")
    model = importlib.import_module("stable_baselines3").PPO.load(folder / "model.zip", device="cpu")
    spaces = gymnasium.Env[Any, Any]()
    spaces.observation_space = model.observation_space
    spaces.action_space = model.action_space
    return model, vec_env.VecNormalize.load(folder / "vecnormalize.pkl", vec_env.DummyVecEnv([lambda: spaces]))


OPENERS: dict[str, Callable[[Path], Act]] = {
    "numpy": open_numpy,
    "sb3": open_sb3,
    "sb3-predict": open_sb3_predict,
    "onnx": open_onnx,
    "torchscript": open_torchscript,
}


def play(episode: Mapping[str, Any], act: Act) -> float:
    """Run the episode; return the sum of Gymnasium's rewards.

    Args:
        episode: Environment, seed and number of steps, as in export.json.
        act: What acts.
    """
    # without the wrappers: the recorded episode went its whole time, past Gymnasium's limit and the robot's falls
    env = gymnasium.make(episode["env_id"], **episode["env_kwargs"]).unwrapped
    observation, _ = env.reset(seed=episode["seed"])
    total = 0.0
    for _ in range(episode["steps"]):
        observation, reward, *_ = env.step(act(np.asarray(observation)[None])[0])
        total += float(reward)
    env.close()
    return total


def main(arguments: list[str] | None = None) -> int:
    """Replay and compare; exit 1 if a format that must match does not."""
    report = json.loads((HERE / "export.json").read_text(encoding="utf-8"))
    episode = report["episode"]
    formats = [check["format"] for check in report["checks"]]
    parser = argparse.ArgumentParser(description="Replay the recorded episode of this policy.")
    parser.add_argument("--format", choices=formats, default=formats[0], help="exported file to run")
    chosen = parser.parse_args(arguments).format
    recorded = episode["gymnasium_return"]
    replayed = play(episode, OPENERS[chosen](HERE))
    difference = abs(replayed - recorded)
    same = difference <= TOLERANCE * max(1.0, abs(recorded))
    print(f"{episode['env_id']}, seed {episode['seed']}, {episode['steps']} steps, acted by {chosen}")
    print(f"Gymnasium's return: recorded {recorded:.6f}, replayed {replayed:.6f}, difference {difference:.3g}")
    print(f"The trained reward of the recorded episode was {episode['trained_return']:.6f}; computing it needs p2p.")
    return 0 if same or chosen in FLOAT32 else 1


if __name__ == "__main__":
    raise SystemExit(main())
