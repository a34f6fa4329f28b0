"""The clips of one robot: all its scenes, each with several draws of what is left to chance."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from p2p.contracts.calibration import Claim, Clip, ClipSet, ClipsRequest
from p2p.envs import catalog
from p2p.worker.calibration import flipping, jumping, resting, sliding, travelling, turning
from p2p.worker.calibration.motion import Motion
from p2p.worker.calibration.robots import ROBOTS, Robot
from p2p.worker.calibration.scene import NEGATIVE, Recipe, Scene
from p2p.worker.calibration.stage import Played, Stage

FAMILIES = (resting, travelling, jumping, flipping, turning, sliding)


@dataclass(frozen=True)
class MadeClip:
    """A clip with its states."""

    clip: Clip
    played: Played


def make_clips(request: ClipsRequest) -> tuple[ClipSet, list[MadeClip]]:
    """All clips of one robot, the same for the same request.

    Raises:
        KeyError: no such robot is in the set.
    """
    robot = ROBOTS[request.env_id]
    spec = catalog.load(robot.env_id)
    stage = Stage(spec, robot.settles, np.array(robot.crouch or 0.0))
    made = [
        MadeClip(clip, stage.play(scene.build(Motion.standing(spec.dt, robot.seconds))))
        for clip, scene in scenes(robot, request.seed, request.variations)
    ]
    return ClipSet(env_id=robot.env_id, seed=request.seed, dt=spec.dt, clips=tuple(m.clip for m in made)), made


def scenes(robot: Robot, seed: int, variations: int) -> Iterator[tuple[Clip, Scene]]:
    """The clips of a robot and what they are made from."""
    for number, recipe in enumerate(recipes_of(robot), start=1):
        for variation in range(variations):
            rng = np.random.default_rng([seed, zlib.crc32(robot.env_id.encode()), number, variation])
            scene = recipe.make(robot, rng)
            yield _clip(robot, recipe, f"{_short(robot)}-{number:03d}-{variation:02d}", scene), scene


def recipes_of(robot: Robot) -> list[Recipe]:
    """All kinds of scenes of a robot."""
    return [recipe for family in FAMILIES for recipe in family.recipes(robot)]


def _short(robot: Robot) -> str:
    return robot.env_id.partition("-")[0].lower()


def _clip(robot: Robot, recipe: Recipe, clip_id: str, scene: Scene) -> Clip:
    kinds = {asked.sentence: scene.kinds.get(asked.sentence, NEGATIVE) for asked in robot.asked}
    return Clip(
        clip_id=clip_id,
        env_id=robot.env_id,
        motion=recipe.name,
        parameters={name: float(value) for name, value in scene.parameters.items()},
        seconds=robot.seconds,
        claims=tuple(Claim(sentence=sentence, kind=kind) for sentence, kind in kinds.items() if kind is not None),
    )
