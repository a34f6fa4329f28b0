"""The clips of one robot: all its scenes, each with several draws of what is left to chance."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from p2p.contracts.calibration import Claim, ClaimKind, Clip, ClipSet, ClipsRequest
from p2p.envs import catalog
from p2p.worker.calibration import flipping, jumping, resting, sliding, travelling, turning
from p2p.worker.calibration.motion import Motion
from p2p.worker.calibration.mutations.failing import FAILING
from p2p.worker.calibration.mutations.mutation import Base
from p2p.worker.calibration.mutations.newest import NEWEST
from p2p.worker.calibration.mutations.passing import PASSING
from p2p.worker.calibration.robots import ROBOTS, Robot
from p2p.worker.calibration.scene import NEGATIVE, Recipe, Scene
from p2p.worker.calibration.stage import Played, Stage

MUTATIONS = (*FAILING, *PASSING, *NEWEST)
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
    made = []
    for clip, scene in scenes(robot, request.seed, request.variations):
        motion = scene.build(Motion.standing(spec.dt, robot.seconds))
        made.append(MadeClip(clip, stage.play(motion)))
        if request.mutations and motion.limp is None:
            made += mutated(clip, Base(robot, stage, scene, motion, made[-1].played), request.seed)
    return ClipSet(env_id=robot.env_id, seed=request.seed, dt=spec.dt, clips=tuple(m.clip for m in made)), made


def mutated(clip: Clip, base: Base, seed: int) -> list[MadeClip]:
    """All mutations of a clip of which something is claimed; none of a clip that does nothing that is asked for."""
    found = []
    for mutation in MUTATIONS:
        positives = [a for a in base.robot.asked if clip.kind_for(a.sentence) is ClaimKind.POSITIVE]
        if not any(mutation.truth_for(base.robot, asked) for asked in positives):
            continue
        rng = np.random.default_rng([seed, zlib.crc32(clip.clip_id.encode()), zlib.crc32(mutation.key.encode())])
        mutant = mutation.make(base, rng)
        kinds = mutation.kinds(base, mutant) if mutant is not None else {}
        claims = tuple(Claim(sentence=sentence, kind=kind) for sentence, kind in kinds.items() if kind is not None)
        if mutant is not None and claims:
            changed = {
                "clip_id": f"{clip.clip_id}-{mutation.key}",
                "motion": f"{clip.motion}; {mutation.words}",
                "parameters": clip.parameters | {name: float(value) for name, value in mutant.parameters.items()},
                "claims": claims,
                "mutation": mutation.family,
            }
            found.append(MadeClip(clip.model_copy(update=changed), mutant.played))
    return found


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
