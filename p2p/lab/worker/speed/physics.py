"""The speed of the simulator alone on the steps of a training, which the training cannot exceed."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.errors import EnvironmentProblem
from p2p.lab.contracts.measurement import SpeedMeasurement
from p2p.lab.worker.speed.stopwatch import Stopwatch
from p2p.worker.engine.batch_simulation import BatchSimulation
from p2p.worker.engine.frame import Frame
from p2p.worker.saved_state import State
from p2p.worker.training.run import Run
from p2p.worker.training.train import Training


def step(run: Run, watch: Stopwatch) -> SpeedMeasurement:
    """Train, and repeat the steps of each rollout without all that is not MuJoCo's; only the repetition counts.

    What a step costs depends on where the robot is: a humanoid on the floor has more contacts than one that acts at
    random from a standing start.

    Raises:
        EnvironmentProblem: these environments do not run as one MuJoCo batch.
        InvalidConfig, RewardFailed: as in a training.
    """
    training = Training(run, threads=1)
    steps = 0
    simulation = training.simulation
    if not isinstance(simulation, BatchSimulation):
        raise EnvironmentProblem(
            f"The physics of {run.spec.env_id} cannot be measured apart: it runs as {simulation.engine}."
        )
    watch.ready()
    while not watch.lap(steps):
        steps += run.config.n_envs * run.config.n_steps
        with watch.paused():
            tape = Tape(simulation)
            before = copied(simulation.state())
            with tape.recording():
                training.learn(steps)
            after = copied(simulation.state())
            simulation.restore(before)
        tape.play()
        with watch.paused():
            simulation.restore(after)
    return watch.result()


class Tape:
    """What a simulation is asked to do, to be asked again.

    Args:
        simulation: It is asked as before when the recording ends.
    """

    def __init__(self, simulation: BatchSimulation) -> None:
        self._simulation = simulation
        self._wishes: list[Callable[[], object]] = []

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Keep every step and every reset meanwhile."""
        simulation = self._simulation
        wishes = self._wishes
        advance = simulation.advance
        reset = simulation.reset

        def noted_advance(actions: NDArray[np.floating]) -> None:
            wishes.append(partial(advance, actions.copy()))
            advance(actions)

        def noted_reset(ids: Sequence[int], seeds: Sequence[int | None]) -> Frame:
            wishes.append(partial(reset, tuple(ids), tuple(seeds)))
            return reset(ids, seeds)

        vars(simulation).update(advance=noted_advance, reset=noted_reset)
        try:
            yield
        finally:
            del vars(simulation)["advance"], vars(simulation)["reset"]

    def play(self) -> None:
        """Repeat the recorded steps and resets."""
        for wish in self._wishes:
            wish()


def copied(state: State) -> State:
    """Copy a state of the simulator."""
    return {name: value.copy() for name, value in state.items()}
