"""Loading instructions in the model card."""

from p2p.contracts.export import ExportReport
from p2p.worker.export.interface import Interface

_MAKE = """import gymnasium

env = gymnasium.make({env_id!r}{kwargs})
observation, _ = env.reset()
"""
_SB3 = """from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

venv = VecNormalize.load("vecnormalize.pkl", DummyVecEnv([lambda: env]))
venv.norm_reward = False  # rewards as the environment gives them
model = PPO.load("model.zip", device="cpu")
action, _ = model.predict(venv.reset(), deterministic=True)
"""
_ONNX = """import onnxruntime

session = onnxruntime.InferenceSession("policy.onnx")
(actions,) = session.run(["action"], {"observation": observation[None].astype("float32")})
"""
_TORCHSCRIPT = """import torch

policy = torch.jit.load("policy.pt")
actions = policy(torch.tensor(observation[None], dtype=torch.float32))
"""
SNIPPETS = {
    "sb3": (
        "stable-baselines3 (`pip install stable-baselines3 'gymnasium[mujoco]'`). To train on, set `venv.training = "
        "True` and call `model.set_env(venv)`; the optimiser begins with new moments.",
        _SB3,
    ),
    "onnx": ("ONNX (`pip install onnxruntime`): float32 in and out, any number of rows, normalisation inside.", _ONNX),
    "torchscript": ("TorchScript (`pip install torch`): the same as a module.", _TORCHSCRIPT),
}
"""Format -> what to know about it, and the code that loads it."""
PICKLES = (
    "> **Warning.** `model.zip` and `vecnormalize.pkl` hold pickles: whoever loads them runs what they contain. "
    "Load them only from somebody you trust; `replay.py` loads them too. `policy.npz` is numbers "
    "alone, and is never unpickled."
)


def usage(interface: Interface, report: ExportReport) -> list[str]:
    """How to make the environment and act in it with each format."""
    kwargs = "".join(f", {name}={value!r}" for name, value in interface.env_kwargs.items())
    parts = [_code(_MAKE.format(env_id=interface.env_id, kwargs=kwargs))]
    for check in report.checks:
        if check.format in SNIPPETS:
            words, code = SNIPPETS[check.format]
            parts += [words, _code(code)]
    if any(check.format == "sb3" for check in report.checks):
        parts.append(PICKLES)
    return [
        *parts,
        "`policy.npz` holds the same as plain numpy arrays: `open_numpy` in `replay.py` acts by it.",
    ]


def _code(text: str) -> str:
    return f"```python\n{text}```"
