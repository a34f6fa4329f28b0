import numpy as np

from p2p.envs import catalog
from p2p.lab.worker.speed.physics import Tape, copied
from p2p.worker.engine.simulation import make_simulation


def test_a_tape_repeats_every_step_and_reset_to_the_bit():
    simulation = make_simulation(catalog.load("Hopper-v5"), 3, {}, True)
    simulation.reset(range(3), range(3))
    tape, before = Tape(simulation), copied(simulation.state())
    generator = np.random.default_rng(0)
    with tape.recording():
        for t in range(40):
            simulation.step(generator.uniform(-1, 1, (3, 3)))
            if t % 9 == 0:
                simulation.reset([t % 3], [None])
    after = copied(simulation.state())
    simulation.restore(before)
    tape.play()
    assert {name: value.tolist() for name, value in simulation.state().items()} == {
        name: value.tolist() for name, value in after.items()
    }
    assert not np.array_equal(after["physics"], before["physics"])
