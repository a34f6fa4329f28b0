"""Clips of one robot: all its scenes, each with several random draws."""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from p2p.contracts.known_motions import Claim, Clip, ClipSet, KnownMotionsRequest
from p2p.envs import catalog
from p2p.worker.known_motions import flipping, jumping, resting, sliding, travelling, turning
from p2p.worker.known_motions.motion import Motion
from p2p.worker.known_motions.motion_player import MotionPlayer, Played
from p2p.worker.known_motions.robots import ROBOTS, Robot
from p2p.worker.known_motions.scene import NEGATIVE, Recipe, Scene

FAMILIES = (resting, travelling, jumping, flipping, turning, sliding)


@dataclass(frozen=True)
class MadeClip:
    """A clip with its states."""

    clip: Clip
    played: Played


def make_clips(request: KnownMotionsRequest) -> tuple[ClipSet, list[MadeClip]]:
    """All clips of one robot, reproducible for equal requests.

    Raises:
        KeyError: there are no clips of such a robot.
    """
    robot = ROBOTS[request.env_id]
    stage = stage_of(robot)
    made = [clip for clip, _, _ in play_scenes(robot, stage, request.seed, request.variations)]
    return clip_set(request, made), made


def stage_of(robot: Robot) -> MotionPlayer:
    """Stage of a robot."""
    return MotionPlayer(catalog.load(robot.env_id), robot.settles, np.array(robot.crouch or 0.0))


def play_scenes(
    robot: Robot, stage: MotionPlayer, seed: int, variations: int
) -> Iterator[tuple[MadeClip, Scene, Motion]]:
    """Clips of a robot, each with its scene and motion."""
    dt = catalog.load(robot.env_id).dt
    for clip, scene in scenes(robot, seed, variations):
        motion = scene.build(Motion.standing(dt, robot.seconds))
        yield MadeClip(clip, stage.play(motion)), scene, motion


def clip_set(request: KnownMotionsRequest, made: Sequence[MadeClip]) -> ClipSet:
    """List of the clips made for a request."""
    dt = catalog.load(request.env_id).dt
    return ClipSet(env_id=request.env_id, seed=request.seed, dt=dt, clips=tuple(one.clip for one in made))


def scenes(robot: Robot, seed: int, variations: int) -> Iterator[tuple[Clip, Scene]]:
    """Clips of a robot, each with its recipe."""
    name = robot.env_id.partition("-")[0].lower()
    for number, recipe in enumerate(recipes_of(robot), start=1):
        for variation in range(variations):
            rng = np.random.default_rng([seed, zlib.crc32(robot.env_id.encode()), number, variation])
            scene = recipe.make(robot, rng)
            clip_id = f"{name}-{number:03d}-{variation:02d}"
            kinds = {asked.sentence: scene.kinds.get(asked.sentence, NEGATIVE) for asked in robot.asked}
            clip = Clip(
                clip_id=clip_id,
                env_id=robot.env_id,
                motion=recipe.name,
                parameters={name: float(value) for name, value in scene.parameters.items()},
                seconds=robot.seconds,
                claims=tuple(
                    Claim(sentence=sentence, kind=kind) for sentence, kind in kinds.items() if kind is not None
                ),
            )
            yield clip, scene


def recipes_of(robot: Robot) -> list[Recipe]:
    """All kinds of scenes of a robot."""
    return [recipe for family in FAMILIES for recipe in family.recipes(robot)]
