"""Robots that differ from their model, one set of draws for each of n simulations of a batch."""

from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.contracts.randomisation import SAME, Randomisation
from p2p.worker.engine.library import NativeBatch
from p2p.worker.saved_state import State, fill, generator_state, joined, part, restore_generator

Floats = NDArray[np.float64]
_STREAM = 0x5A17
"""Keeps the draws apart from those of the episode's start, which has the same seed."""
_OF_ALL = 6
"""Draws of the whole robot, before those of its actuators."""
_FRICTION = ("geom_friction", "pair_friction")
_MASS = ("body_mass", "body_inertia")
_MOTORS = ("actuator_gainprm", "actuator_biasprm", "actuator_forcerange", "jnt_actfrcrange")


class Randomiser:
    """Draws how n robots differ and writes it into the models of their simulations.

    MuJoCo's batch keeps a value of its own for each simulation of the fields it is told to expand, so that a
    simulation is the same to the bit as one of a model that was changed by hand.

    Args:
        randomisation: The ranges.
        model: The robot as it is.
        torso: Its body, which carries the payload.
        batch: The simulations.
    """

    def __init__(self, randomisation: Randomisation, model: mujoco.MjModel, torso: int, batch: NativeBatch) -> None:
        self._ranges = randomisation
        self._model = model
        self._torso = torso
        self._batch = batch
        n, nu = batch.n, model.nu
        # each field that a simulation has of its own is copied at every step: only those that are drawn
        changed: tuple[str, ...] = _FRICTION if randomisation.friction != SAME else ()
        self._masses_differ = randomisation.mass != SAME or randomisation.payload[1] > 0.0
        changed += _MASS if self._masses_differ else ()
        motors_differ = bool(model.nu) and (randomisation.gains, randomisation.motor_strength) != (SAME, SAME)
        changed += _MOTORS if motors_differ else ()
        self._fields = {name: batch.expand(name) for name in changed if getattr(model, name).size}
        self._gravity = batch.expand("opt.gravity") if randomisation.slope[1] else None
        self.down: Floats | None = np.tile([0.0, 0.0, -1.0], (n, 1)) if randomisation.slope[1] else None
        """Direction of gravity of each robot, live, shape (n, 3); None where the ground is level."""
        self._nominal = {name: getattr(model, name).ravel().copy() for name in self._fields}
        self._robot = np.flatnonzero(model.body_rootid == model.body_rootid[torso])
        self._at_joint = np.flatnonzero(model.actuator_trntype == int(mujoco.mjtTrn.mjTRN_JOINT))
        """Actuators of one joint each, whose torque may be limited at the joint."""
        self._joints = model.actuator_trnid[self._at_joint, 0]
        width = _OF_ALL + 3 * nu
        self.draws: Floats = np.zeros((n, width))
        """Of each robot, shape (n, 6 + 3 nu): friction, mass, payload, latency, x and y of gravity's direction;
        stiffness, damping and strength of each actuator."""
        self.draws[:, [0, 1]] = 1.0
        self.draws[:, _OF_ALL:] = 1.0
        self._sent = np.zeros((n, randomisation.latency[1] + 1, nu))
        """Actions of the last steps, the newest first."""
        self._generators: list[np.random.Generator | None] = [None] * n

    def begin(self, ids: Sequence[int], seeds: Sequence[int | None]) -> None:
        """Draw the robots `ids` of new episodes; a seed of None draws on."""
        for i, seed in zip(ids, seeds, strict=True):
            generator = self._generators[i]
            if generator is None or seed is not None:
                generator = np.random.default_rng(None if seed is None else (_STREAM, seed))
                self._generators[i] = generator
            self.draws[i] = self._draw(generator)
        self._sent[list(ids)] = 0.0
        self._write(ids)

    def delayed(self, actions: NDArray[np.floating]) -> Floats:
        """What reaches the motors in this step, of the actions that are sent in it, shape (n, nu)."""
        self._sent = np.roll(self._sent, 1, axis=1)
        self._sent[:, 0] = actions
        rows: Floats = self._sent[np.arange(len(actions)), self.draws[:, 3].astype(np.intp)]
        return rows

    def state(self) -> State:
        """Draws, actions under way and generators."""
        known = {str(i): generator_state(g) for i, g in enumerate(self._generators) if g is not None}
        return {"draws": self.draws, "sent": self._sent, **joined({"generator": known})}

    def restore(self, state: State) -> None:
        """Continue from a saved state."""
        fill(self.draws, state["draws"])
        fill(self._sent, state["sent"])
        for name, words in part(state, "generator").items():
            self._generators[int(name)] = generator = np.random.default_rng(0)
            restore_generator(generator, words)
        self._write(range(self._batch.n))

    def _draw(self, generator: np.random.Generator) -> Floats:
        ranges = self._ranges
        nu = self._model.nu
        low, high = ranges.latency
        whole = [generator.uniform(*limits) for limits in (ranges.friction, ranges.mass, ranges.payload)]
        gains = generator.uniform(*ranges.gains, 2 * nu)
        strength = generator.uniform(*ranges.motor_strength, nu)
        latency = float(generator.integers(low, high + 1))
        steepness = np.sin(generator.uniform(*ranges.slope))
        side = generator.uniform(-np.pi, np.pi)
        fall = steepness * np.cos(side), steepness * np.sin(side)
        return np.array([*whole, latency, *fall, *gains, *strength])

    def _write(self, ids: Sequence[int]) -> None:
        """Write the draws of some robots into their models."""
        model, nu = self._model, self._model.nu
        for i in ids:
            friction, mass, payload, _, fall_x, fall_y = self.draws[i, :_OF_ALL]
            stiffness, damping, strength = self.draws[i, _OF_ALL:].reshape(3, nu)
            if self._gravity is not None and self.down is not None:
                self.down[i] = fall_x, fall_y, -np.sqrt(1.0 - fall_x**2 - fall_y**2)
                self._gravity[i] = self.down[i] * np.linalg.norm(model.opt.gravity)
            values = {name: nominal.copy() for name, nominal in self._nominal.items()}
            for name, sliding in (("geom_friction", [0]), ("pair_friction", [0, 1])):
                if name in values:
                    values[name].reshape(-1, getattr(model, name).shape[1])[:, sliding] *= friction
            if self._masses_differ:
                masses, inertias = values["body_mass"], values["body_inertia"].reshape(-1, 3)
                added = payload * masses[self._robot].sum()
                if masses[self._torso]:
                    inertias[self._torso] *= 1.0 + added / masses[self._torso]
                masses[self._torso] += added
                masses *= mass
                inertias *= mass
            if "actuator_gainprm" in values:
                servo = model.actuator_biasprm[:, 1] != 0.0
                gain = values["actuator_gainprm"].reshape(nu, -1)
                bias = values["actuator_biasprm"].reshape(nu, -1)
                kp = strength * np.where(servo, stiffness, 1.0)
                gain[:, 0] *= kp
                bias[:, :2] *= kp[:, None]
                bias[:, 2] *= strength * np.where(servo, damping, 1.0)
                values["actuator_forcerange"].reshape(nu, 2)[:] *= strength[:, None]
                limits = values["jnt_actfrcrange"].reshape(-1, 2)
                limits[self._joints] *= strength[self._at_joint][:, None]
            for name, value in values.items():
                self._fields[name][i] = value
        if self._masses_differ:
            self._batch.set_constants(np.sort(np.array(ids, dtype=np.int32)))
