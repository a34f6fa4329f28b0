"""Replay this policy's recorded episode in Gymnasium and compare the returns.

    python replay.py
    python replay.py --format onnx
    python replay.py --command 0.8,0,0    # of a policy that follows commands: these instead of the recorded ones

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
from typing import Any, Protocol

import gymnasium
import mujoco
import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent
TOLERANCE = 1e-6
"""Relative difference of two returns that are called the same."""
FLOAT32 = ("sb3-predict",)
"""Formats that need not meet the recorded return."""
Act = Callable[[NDArray[Any]], NDArray[np.float32]]
"""Deterministic actions, shape (B, action_dim), for observations of shape (B, obs_dim)."""
COMMAND_STREAM = 0xC0DE
"""Keeps the draws of commands apart from those of the reset, which has the same seed."""
KEPT_STANDING = ("height",)
"""Commands that a draw to stand still leaves as they are drawn."""
ERRORS = {
    "velocity": ("of the velocity", "m/s"),
    "yaw_rate": ("of the yaw rate", "rad/s"),
    "heading": ("of the heading", "rad"),
    "height": ("of the height", "m"),
}
"""What is measured of how commands are followed, in words, and its unit."""
SPREAD_M = 0.05
"""Largest distance of what an arm is to reach from its place in the model file, as an episode begins [m]."""
STEEPEST = 0.5
"""Horizontal length of a body axis below which turns about it fade out."""


class Robot(gymnasium.Env[NDArray[np.float64], NDArray[np.float32]]):
    """The environment of a robot that was trained from its model file.

    Its model is in export.json. An action is in [-1, 1], and 0 holds the stance; the observation is every position but
    x and y of a free base, and every velocity. On a terrain, episodes begin at one of some places, and the height of
    the base is that above the ground below it. A thing beside an arm, which is to reach it, lies elsewhere in each
    episode.

    Args:
        episode: As in export.json.
    """

    def __init__(self, episode: Mapping[str, Any]) -> None:
        robot = episode["robot"]
        self.model = mujoco.MjModel.from_xml_string(robot["xml"])
        self.data = mujoco.MjData(self.model)
        self._begins = np.array(robot.get("lying") or robot["stance"])
        self._frame_skip = int(episode["frame_skip"])
        self.dt = float(self.model.opt.timestep) * self._frame_skip
        self._noise = float(episode["env_kwargs"].get("reset_noise_scale", 0.02))
        self._noise_of_positions = np.full(self.model.nq, self._noise)
        if robot.get("start_noise_m") is not None:
            self._noise_of_positions[:3] = min(robot["start_noise_m"], self._noise)
        self._loose = robot.get("loose")
        first_is_free = int(self.model.jnt_type[0]) == int(mujoco.mjtJoint.mjJNT_FREE)
        self._skip = 2 if first_is_free and self._loose is None else 0
        self._healthy = robot["healthy"] or (-np.inf, np.inf)
        self._starts = np.array(episode.get("starts") or [])
        self._ground = Ground(self.model) if len(self._starts) else None
        seen = self.model.nq - self._skip + self.model.nv
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (seen,), np.float64)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (self.model.nu,), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """Begin in the stance, or lying, with noise."""
        super().reset(seed=seed, options=options)
        mujoco.mj_resetData(self.model, self.data)
        noise = self._noise_of_positions
        self.data.qpos[:] = self._begins + self.np_random.uniform(-noise, noise)
        self.data.qvel[:] = self._noise * self.np_random.standard_normal(self.model.nv)
        if len(self._starts):
            self.data.qpos[:2] += self._starts[self.np_random.integers(len(self._starts))]
        if self._loose is not None:
            self._lay()
        mujoco.mj_forward(self.model, self.data)
        return self._observed(), {}

    def _lay(self) -> None:
        """Lay what is to be reached somewhere within `SPREAD_M` of its place, at rest."""
        joint = int(self.model.body(self._loose).jntadr[0])
        q, v = int(self.model.jnt_qposadr[joint]), int(self.model.jnt_dofadr[joint])
        away, angle = SPREAD_M * np.sqrt(self.np_random.random()), self.np_random.uniform(0.0, 2.0 * np.pi)
        self.data.qpos[q : q + 7] = self._begins[q : q + 7]
        self.data.qpos[q : q + 2] += away * np.array([np.cos(angle), np.sin(angle)])
        self.data.qvel[v : v + 6] = 0.0

    def step(self, action: NDArray[np.float32]) -> tuple[NDArray[np.float64], float, bool, bool, dict[str, Any]]:
        """Make one control step; the reward is the speed along x, and 1 while it has not fallen."""
        before = float(self.data.qpos[0])
        self.data.ctrl[:] = action
        mujoco.mj_step(self.model, self.data, nstep=self._frame_skip)
        velocity = (float(self.data.qpos[0]) - before) / self.dt
        low, high = self._healthy
        healthy = bool(low < self._positions()[2] < high) if self._skip else True
        return self._observed(), velocity + healthy, False, False, {}

    def _observed(self) -> NDArray[np.float64]:
        return np.concatenate([self._positions()[self._skip :], self.data.qvel])

    def _positions(self) -> NDArray[np.float64]:
        qpos: NDArray[np.float64] = self.data.qpos.copy()
        if self._ground is not None:
            qpos[2] -= self._ground.height(float(qpos[0]), float(qpos[1]))
        return qpos


class Ground:
    """The height field of a model, whose only one is its terrain.

    Args:
        model: The compiled model.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        (geom,) = np.flatnonzero(model.geom_type == int(mujoco.mjtGeom.mjGEOM_HFIELD))
        rows, columns = int(model.hfield_nrow[0]), int(model.hfield_ncol[0])
        half, scale = model.hfield_size[0, :2], model.hfield_size[0, 2]
        heights = model.geom_pos[geom, 2] + scale * model.hfield_data.astype(np.float64)
        self._heights = heights.reshape(rows, columns)
        self._last = np.array([columns - 1, rows - 1])
        self._origin = model.geom_pos[geom, :2] - half
        self._cell = 2.0 * half / self._last

    def height(self, x: float, y: float) -> float:
        """Height of the ground at a place in the world [m], on the triangles that MuJoCo makes of it."""
        place = np.clip((np.array([x, y]) - self._origin) / self._cell, 0.0, self._last)
        column, row = np.minimum(place.astype(int), self._last - 1)
        u, v = place - (column, row)
        low, high = self._heights[row : row + 2, column : column + 2]
        if u >= v:
            return float(low[1] + (1.0 - u) * (low[0] - low[1]) + v * (high[1] - low[1]))
        return float(high[0] + u * (high[1] - high[0]) + (1.0 - v) * (low[0] - high[0]))


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


class Senses:
    """What the sensors of a robot measure, in place of the simulator's observation.

    Args:
        senses: As in export.json: where they read the simulator's state, whose entries are as MuJoCo numbers them.
    """

    def __init__(self, senses: Mapping[str, Any]) -> None:
        self._senses = senses
        self._last_action = np.zeros(len(senses["actions"]))

    def follow(self, action: NDArray[Any]) -> None:
        """Take the action of the next step."""
        self._last_action = np.asarray(action, dtype=np.float64)

    def read(self, env: Any) -> NDArray[np.float64]:
        """Gravity and angular velocity in the base's frame, joints about the stance, their velocities, last action."""
        senses, qpos, qvel = self._senses, env.data.qpos, env.data.qvel
        found: list[Any] = []
        if senses["root"] is not None:
            at, dof = senses["root"]
            w, x, y, z = qpos[at + 3 : at + 7]
            length = np.sqrt(w * w + x * x + y * y + z * z)
            w, x, y, z = w / length, x / length, y / length, z / length
            found.append([2.0 * (w * y - x * z), -2.0 * (y * z + w * x), 2.0 * (x * x + y * y) - 1.0])
            found.append(qvel[dof + 3 : dof + 6])
            if senses["velocity"]:
                a, b, c = qvel[dof : dof + 3]
                ahead = (1.0 - 2.0 * (y * y + z * z)) * a + 2.0 * (x * y + w * z) * b + 2.0 * (x * z - w * y) * c
                left = 2.0 * (x * y - w * z) * a + (1.0 - 2.0 * (x * x + z * z)) * b + 2.0 * (y * z + w * x) * c
                up = 2.0 * (x * z + w * y) * a + 2.0 * (y * z - w * x) * b + (1.0 - 2.0 * (x * x + y * y)) * c
                found.append([ahead, left, up])
        found.append(qpos[senses["positions"]] - np.array(senses["stance"]))
        found.append(qvel[senses["velocities"]])
        return np.concatenate([*found, self._last_action])


class Told(Protocol):
    """What a policy is told besides the observation."""

    @property
    def values(self) -> NDArray[np.float64]:
        """What is appended to the present observation, shape (number of inputs,)."""
        ...

    def begin(self, env: Any) -> None:
        """Take an environment after its reset."""
        ...

    def follow(self, env: Any, action: NDArray[Any]) -> None:
        """Take it after one step with `action`."""
        ...


class Progress:
    """Time, turns and way of the torso since the start, and the steps of a sequence: by MuJoCo and numpy alone.

    On a robot, the turns are what its gyroscope says, added up, and the time is its clock's.

    Args:
        episode: As in export.json.
    """

    def __init__(self, episode: Mapping[str, Any]) -> None:
        self._observe = episode["observe"]
        self._torso = episode["torso"]
        self._upright = np.array(episode["upright"]) * np.array([1.0, -1.0, -1.0, -1.0])
        self._steps = self._observe.get("milestones", [])

    def begin(self, env: Any) -> None:
        """All is 0 at the start."""
        self._data = mujoco.MjData(env.model)
        self._time = 0.0
        self._rotation = np.zeros(3)
        self._turned = np.zeros(3)
        self._start, self._pose = self._torso_of(env)
        self._place = self._start
        self._done = 0
        self._origin = self._features()
        self._counted = 0
        self._within = True

    def follow(self, env: Any, action: NDArray[Any]) -> None:
        """Add up what the last step did."""
        del action
        before = self._pose
        self._place, self._pose = self._torso_of(env)
        turn, back = np.zeros(4), np.zeros(4)
        rotation = np.zeros(3)
        mujoco.mju_negQuat(back, before)
        mujoco.mju_mulQuat(turn, self._pose, back)
        mujoco.mju_quat2Vel(rotation, turn, 1.0)
        axes = np.zeros(9)
        mujoco.mju_quat2Mat(axes, self._pose)
        ahead, left, _ = axes.reshape(3, 3).T
        self._time += env.dt
        self._rotation = self._rotation + rotation
        self._turned = self._turned + np.array([_about(rotation, ahead), -_about(rotation, left), rotation[2]])
        now = self._features()
        if self._done < len(self._steps):
            step = self._steps[self._done]
            change = self._change(now)
            if change >= 1.0 or (step["either"] and change <= -1.0):
                self._done, self._origin = self._done + 1, now
        counter = self._observe.get("counter")
        if counter and not self._within and now[counter["feature"]] >= counter["high"]:
            self._counted, self._within = self._counted + 1, True
        elif counter and self._within and now[counter["feature"]] < counter["low"]:
            self._within = False

    @property
    def values(self) -> NDArray[np.float64]:
        """What is appended: features, steps done, time and progress of the present one, what is counted, a clock."""
        now = self._features()
        told = [now[name] for name in self._observe["features"]]
        if self._steps:
            told += [float(self._done > number) for number in range(len(self._steps))]
            change = self._change(now) if self._done < len(self._steps) else 0.0
            if self._done < len(self._steps) and self._steps[self._done]["either"]:
                change = abs(change)
            told += [now["time"] - self._origin["time"], min(1.0, max(-1.0, change))]
        if self._observe.get("counter"):
            told.append(float(self._counted))
        if self._observe.get("clock_s"):
            angle = 2.0 * np.pi / self._observe["clock_s"] * self._time
            told += [float(np.sin(angle)), float(np.cos(angle))]
        return np.array(told)

    def _change(self, now: Mapping[str, float]) -> float:
        step = self._steps[self._done]
        return (now[step["feature"]] - self._origin[step["feature"]]) / float(step["amount"])

    def _features(self) -> dict[str, float]:
        way = self._place - self._start
        found = {"time": self._time, "displacement_x": way[0], "displacement_y": way[1]}
        found["displacement"] = float(np.hypot(way[0], way[1]))
        for i, axis in enumerate("xyz"):
            found[f"rotation_{axis}"] = self._rotation[i]
        for i, name in enumerate(("roll", "pitch", "yaw")):
            found[f"{name}_turns"] = self._turned[i] / (2.0 * np.pi)
        return found

    def _torso_of(self, env: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return _pose_of(env, self._data, self._torso, self._upright)


class Commands:
    """What the policy is told to follow: drawn as it was trained, or given.

    Where a robot is steered, its own controller gives them: the last inputs of the policy, in the heading's frame;
    `heading` is at every step how far it has yet to turn, in [-pi, pi], positive to the left.

    Args:
        episode: As in export.json.
        given: What it is told throughout, in the order of `names` [m/s, rad/s, rad, m]; None draws from the episode's
            seed. `heading` is by how much to turn from the start.
    """

    def __init__(self, episode: Mapping[str, Any], given: NDArray[np.float64] | None = None) -> None:
        self._drawn = episode["commands"]
        self.names: tuple[str, ...] = tuple(self._drawn["names"])
        self._given = given
        self.values = np.zeros(len(self.names))
        self._aim = 0.0
        self._draws = np.random.default_rng((COMMAND_STREAM, episode["seed"]))
        self._torso = episode["torso"]
        self._upright = np.array(episode["upright"]) * np.array([1.0, -1.0, -1.0, -1.0])

    def begin(self, env: Any) -> None:
        """Take an environment after its reset."""
        self._data = mujoco.MjData(env.model)
        self._place, self._pose = _pose_of(env, self._data, self._torso, self._upright)
        self._steps = 0
        self._errors: list[dict[str, float]] = []
        self._tell(self._draw(), _heading(self._pose))

    def follow(self, env: Any) -> None:
        """Take it after one step: how far its motion was from the command, and the next one where it is due."""
        place, pose = self._place, self._pose
        self._place, self._pose = _pose_of(env, self._data, self._torso, self._upright)
        x, y, _ = (self._place - place) / env.dt
        turn, back = np.zeros(4), np.zeros(4)
        rotation = np.zeros(3)
        mujoco.mju_negQuat(back, pose)
        mujoco.mju_mulQuat(turn, self._pose, back)
        mujoco.mju_quat2Vel(rotation, turn, 1.0)
        yaw = _heading(self._pose)
        moved = {
            "velocity_x": np.cos(yaw) * x + np.sin(yaw) * y,
            "velocity_y": np.cos(yaw) * y - np.sin(yaw) * x,
            "yaw_rate": rotation[2] / env.dt,
            "heading": yaw - _heading(pose),
            "height": self._place[2],
        }
        apart = {name: float(told - moved[name]) for name, told in zip(self.names, self.values, strict=True)}
        speed = [apart[name] for name in self.names if name.startswith("velocity_")]
        others = {name: abs(apart[name]) for name in self.names if name in ("yaw_rate", "height")}
        if "heading" in apart:
            others["heading"] = abs(_within_half_turn(apart["heading"]))
        self._errors.append({"velocity": float(np.linalg.norm(speed))} | others)
        self._steps += 1
        if self._drawn["every"] is not None and self._steps % self._drawn["every"] == 0:
            self._tell(self._draw(), yaw)
        elif "heading" in self.names:
            self.values = self.values.copy()
            self.values[self.names.index("heading")] = _within_half_turn(self._aim - yaw)

    @property
    def words(self) -> str:
        """How far it was from the commands, on average."""
        means = {name: np.mean([row[name] for row in self._errors]) for name in self._errors[0]}
        said = [f"{ERRORS[name][0]} {mean:.3f} {ERRORS[name][1]}" for name, mean in means.items()]
        return "mean error " + ", ".join(said)

    def _tell(self, values: NDArray[np.float64], yaw: float) -> None:
        self.values = values
        self._aim = yaw + (values[self.names.index("heading")] if "heading" in self.names else 0.0)

    def _draw(self) -> NDArray[np.float64]:
        if self._given is not None:
            return self._given
        low, high = np.array(self._drawn["low"]), np.array(self._drawn["high"])
        shares = self._draws.random(len(low) + 1)
        drawn: NDArray[np.float64] = low + (high - low) * shares[:-1]
        stands = shares[-1] < self._drawn["stand_share"]
        return np.where([stands and name not in KEPT_STANDING for name in self.names], 0.0, drawn)


def _heading(pose: NDArray[np.float64]) -> float:
    """Direction that the torso faces, square to its left axis, positive to the left of x [rad]."""
    axes = np.zeros(9)
    mujoco.mju_quat2Mat(axes, pose)
    return float(np.arctan2(-axes[1], axes[4]))


def _within_half_turn(angle: float) -> float:
    return float((angle + np.pi) % (2.0 * np.pi) - np.pi)


def _pose_of(
    env: Any, data: Any, torso: str, upright: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Place and orientation of the torso."""
    # of data of our own: after a step the poses of the environment's are one sub-step old, and its rewards need that
    data.qpos[:] = env.data.qpos
    mujoco.mj_kinematics(env.model, data)
    body = data.body(torso)
    pose = np.zeros(4)
    mujoco.mju_mulQuat(pose, body.xquat, upright)
    return body.xpos.copy(), pose


def _about(rotation: NDArray[np.float64], axis: NDArray[np.float64]) -> float:
    length = float(np.hypot(axis[0], axis[1]))
    return float(rotation[0] * axis[0] + rotation[1] * axis[1]) / max(length, STEEPEST)


def play(episode: Mapping[str, Any], act: Act, told: Told | None = None, commands: Commands | None = None) -> float:
    """Run the episode; return the sum of Gymnasium's rewards.

    Args:
        episode: Environment, seed and number of steps, as in export.json.
        act: What acts.
        told: Tells the policy what it is told besides; None: by `Progress`, where the episode asks for that.
        commands: What it is told to follow; None draws them, where the episode has some.
    """
    if commands is None and episode.get("commands"):
        commands = Commands(episode)
    if told is None and episode.get("observe"):
        told = Progress(episode)  # raises KeyError for a feature that takes more of the robot than its torso
    # without the wrappers: the recorded episode went its whole time, past Gymnasium's limit and the robot's falls
    env: Any = Robot(episode) if episode.get("robot") else gymnasium.make(episode["env_id"], **episode["env_kwargs"])
    env = env.unwrapped
    observation, _ = env.reset(seed=episode["seed"])
    if told is not None:
        told.begin(env)
    if commands is not None:
        commands.begin(env)
    senses = Senses(episode["senses"]) if episode.get("senses") else None
    total = 0.0
    for _ in range(episode["steps"]):
        shown = np.asarray(observation) if senses is None else senses.read(env)
        shown = shown if told is None else np.concatenate([shown, told.values])
        shown = shown if commands is None else np.concatenate([shown, commands.values])
        action = act(shown[None])[0]
        observation, reward, *_ = env.step(action)
        if senses is not None:
            senses.follow(action)
        if told is not None:
            told.follow(env, action)
        if commands is not None:
            commands.follow(env)
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
    if episode.get("commands"):
        told = ",".join(episode["commands"]["names"])
        parser.add_argument("--command", help=f"{told} [m/s, rad/s, rad, m] throughout; --command=-0.3,... backwards")
    options = parser.parse_args(arguments)
    chosen = options.format
    commands = Commands(episode, _given(options.command, episode, parser)) if episode.get("commands") else None
    recorded = episode["gymnasium_return"]
    replayed = play(episode, OPENERS[chosen](HERE), commands=commands)
    if commands is not None:
        print(f"Commands {options.command or 'as recorded'}: {commands.words}")
        if options.command:
            return 0
    difference = abs(replayed - recorded)
    same = difference <= TOLERANCE * max(1.0, abs(recorded))
    print(f"{episode['env_id']}, seed {episode['seed']}, {episode['steps']} steps, acted by {chosen}")
    print(f"Gymnasium's return: recorded {recorded:.6f}, replayed {replayed:.6f}, difference {difference:.3g}")
    print(f"The trained reward of the recorded episode was {episode['trained_return']:.6f}; computing it needs p2p.")
    return 0 if same or chosen in FLOAT32 else 1


def _given(text: str | None, episode: Mapping[str, Any], parser: argparse.ArgumentParser) -> NDArray[np.float64] | None:
    """Numbers of the option --command; None where it is left out."""
    if not text:
        return None
    names = episode["commands"]["names"]
    try:
        given = np.array([float(number) for number in text.split(",")])
    except ValueError:
        given = np.zeros(0)
    if len(given) != len(names) or not np.isfinite(given).all():
        parser.error(f"--command: expected {len(names)} numbers, {','.join(names)}, got {text!r}")
    ranges = zip(names, given, episode["commands"]["low"], episode["commands"]["high"], strict=True)
    for name, number, low, high in ranges:
        if not low <= number <= high:
            print(f"{name} {number:g} lies outside [{low:g}, {high:g}], for which the policy was judged.")
    return given


if __name__ == "__main__":
    raise SystemExit(main())
