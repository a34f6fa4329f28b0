"""Mirror images of rollouts: found in the robot's geometry and in what the simulator shows, and verified there."""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidConfig
from p2p.contracts.training import TrainConfig
from p2p.worker.engine.mirrored_state import MirroredState, SignedOrder, mirrored_state
from p2p.worker.engine.vec_env import VecEnv
from p2p.worker.features.kinematics import Kinematics
from p2p.worker.reward.evaluator import Reward, run_steps, steps_of
from p2p.worker.reward.inputs import inputs_of
from p2p.worker.rollout.policy_inputs import PolicyInputs, beyond_the_simulator

Floats = NDArray[np.float64]

PAIRS = 32
ROUNDS = 24
STEPS = 4
"""States are stepped so often: contacts are chaotic, and a longer motion says nothing about symmetry."""
SEED = 20_211
TOLERANCE = 1e-3
"""Of a number and that of its mirror image, relative to the largest there is."""
AGREEING = 0.98
"""Share of the numbers that have to: a contact that is just made may differ by a rounding."""
_SMALL = 1e-9


@dataclass(frozen=True, slots=True)
class Mirror:
    """Mirror images of what a policy sees and does."""

    observations: SignedOrder
    actions: SignedOrder


def find_mirror(config: TrainConfig, spec: EnvSpec, reward: Reward) -> Mirror:
    """The mirror of a training, verified by stepping random states and their mirror images side by side.

    Args:
        config: What the policy sees, and the environment's arguments.
        spec: Of the robot.
        reward: What it is paid; it has to pay both sides alike.

    Raises:
        InvalidConfig: the robot, what the policy sees, or the reward is not symmetric.
    """
    told = config.commands.model_copy(update={"resample_s": None}) if config.commands is not None else None
    # on the level floor: a terrain is not its own mirror image, and a training meets it from all sides alike
    plain = config.model_copy(
        update={"curriculum": None, "max_episode_steps": STEPS + 1, "commands": told, "terrain": None}
    )
    env = VecEnv(plain, spec, 2 * PAIRS)
    try:
        state = mirrored_state(env.simulation.model, spec)
        inputs = PolicyInputs(plain, env)
        generator = np.random.default_rng(SEED)
        seen: list[Floats] = []
        paid: list[Floats] = []
        names: tuple[str, ...] = ()
        for _ in range(ROUNDS):
            _begin_pairs(env, inputs, state, generator)
            for _ in range(STEPS):
                inputs.follow(env.step(_actions(env, state, generator)))
                seen.append(inputs.now)
            block = env.take_block()
            columns = inputs_of(env.simulation, reward.source).read(block)
            table, names = run_steps(reward, steps_of(block, columns))
            paid += list(block.grid(table))
    finally:
        env.close()
    rows = np.array(seen)
    senses, appended = beyond_the_simulator(config, spec)
    shown = [one.name for one in (senses.inputs if senses is not None else spec.observation)]
    shown += [one.name for one in appended]
    observations = _signed_order(rows[:, :PAIRS], rows[:, PAIRS:], shown)
    _require_equal_pay(np.array(paid), names)
    return Mirror(observations, state.controls)


def _begin_pairs(env: VecEnv, inputs: PolicyInputs, state: MirroredState, generator: np.random.Generator) -> None:
    """Begin episodes at random states that touch the floor, and in the other half of the environments their images."""
    model = env.simulation.model
    everyone = range(env.n)
    frame = env.simulation.reset(everyone, list(everyone))
    qpos = frame.qpos[:PAIRS].copy()
    qvel = generator.normal(size=(PAIRS, model.nv))
    torso = model.body(env.spec.morphology.torso).id
    free = [joint for joint in range(model.njnt) if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE]
    for joint in range(model.njnt):
        if joint not in free and model.jnt_bodyid[joint] != torso:
            low, high = model.jnt_range[joint] if model.jnt_limited[joint] else (-0.5, 0.5)
            qpos[:, model.jnt_qposadr[joint]] = generator.uniform(low, high, PAIRS)
    for joint in free:  # half of them nearly upright, half anyhow
        quaternions = slice(model.jnt_qposadr[joint] + 3, model.jnt_qposadr[joint] + 7)
        tilt = np.where(np.arange(PAIRS) % 2, 0.2, 2.0)[:, None]
        turned = qpos[:, quaternions] + tilt * generator.normal(size=(PAIRS, 4))
        qpos[:, quaternions] = turned / np.linalg.norm(turned, axis=1, keepdims=True)
    lows = Kinematics(model, env.spec).read(qpos, qvel).low
    for joint in free:
        qpos[:, model.jnt_qposadr[joint] + 2] -= lows - generator.uniform(-0.02, 0.02, PAIRS)
    positions = np.concatenate([qpos, state.qpos(qpos)])
    velocities = np.concatenate([qvel, state.velocities.apply(qvel)])
    for i in everyone:
        frame = frame.replaced(np.array([i]), env.simulation.place(i, positions[i], velocities[i]))
    env.begin(everyone, frame)
    if env.commands is not None and env.spec.commands is not None:
        told = generator.normal(size=(PAIRS, env.commands.now.shape[1]))
        ahead = [name in ("velocity_x", "height") for name in env.spec.commands.components(env.spec)]
        env.commands.tell(np.concatenate([told, np.where(ahead, told, -told)]))
    inputs.begin(everyone)


def _actions(env: VecEnv, state: MirroredState, generator: np.random.Generator) -> NDArray[np.float32]:
    """Random actions, and their mirror images for the other half of the environments."""
    low, high = env.simulation.action_low, env.simulation.action_high
    actions = generator.uniform(low, high, (PAIRS, len(low))).astype(np.float32)
    return np.concatenate([actions, state.controls.apply(actions).astype(np.float32)])


def _signed_order(rows: Floats, images: Floats, names: Sequence[str]) -> SignedOrder:
    """Which entry, with which sign, is the mirror image of each entry of the policy's inputs.

    Raises:
        InvalidConfig: naming the first that has none.
    """
    rows, images = rows.reshape(-1, rows.shape[-1]), images.reshape(-1, images.shape[-1])
    order = SignedOrder(np.arange(rows.shape[1]), np.ones(rows.shape[1]))
    for i, image in enumerate(images.T):
        scale = np.abs(image).max()
        found: list[tuple[float, bool, int, float]] = []
        for sign in (1.0, -1.0):
            agrees = np.abs(image[:, None] - sign * rows) <= TOLERANCE * scale + _SMALL
            says = (np.abs(image)[:, None] > _SMALL) | (np.abs(rows) > _SMALL)  # zeros agree with everything
            shares = (agrees & says).sum(axis=0) / np.maximum(1, says.sum(axis=0))
            shares[~says.any(axis=0)] = 1.0
            found += [(round(float(share), 2), j == i, j, sign) for j, share in enumerate(shares)]
        share, _, j, sign = max(found)
        if share < AGREEING:
            name = names[i] if i < len(names) else f"number {i + 1}"
            raise InvalidConfig(
                f"mirror: {name} of the policy's inputs is not what a mirror image of the robot would show: in random "
                f"steps at most {share:.0%} of its values agreed. The robot is not symmetric, or its inputs are not; "
                "remove mirror."
            )
        order.index[i], order.sign[i] = j, sign
    return order


def _require_equal_pay(table: Floats, names: Sequence[str]) -> None:
    """Refuse a reward that tells left from right: totals and terms, shape (T, 2 * PAIRS, 1 + n_terms).

    Raises:
        InvalidConfig: naming the term that differs most.
    """
    left, right = table[:, :PAIRS], table[:, PAIRS:]
    agrees = np.abs(left - right) <= TOLERANCE * np.abs(table).max(axis=(0, 1)) + _SMALL
    shares = agrees.mean(axis=(0, 1))
    if shares[0] < AGREEING:
        worst = names[int(shares[1:].argmin())] if names else "the reward"
        raise InvalidConfig(
            f"mirror: the reward tells left from right ({worst!r} differs most): it paid a motion and its mirror image "
            f"alike in {shares[0]:.0%} of random steps. Leave mirror out, or reward both sides alike."
        )
