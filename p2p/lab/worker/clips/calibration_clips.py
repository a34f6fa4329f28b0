"""The clips that judges are measured on: known motions, and with each those changed so that they fail or still pass."""

import zlib

import numpy as np

from p2p.contracts.known_motions import Claim, ClaimKind, Clip, ClipSet
from p2p.lab.contracts.calibration import ClipsRequest
from p2p.lab.worker.clips.mutations.failing import FAILING
from p2p.lab.worker.clips.mutations.mutation import BaseClip
from p2p.lab.worker.clips.mutations.newest import NEWEST
from p2p.lab.worker.clips.mutations.passing import PASSING
from p2p.worker.known_motions.clips import MadeClip, clip_set, play_scenes, stage_of
from p2p.worker.known_motions.robots import ROBOTS

MUTATIONS = (*FAILING, *PASSING, *NEWEST)


def make_clips(request: ClipsRequest) -> tuple[ClipSet, list[MadeClip]]:
    """All clips of one robot but those of policies, the same for the same request.

    Raises:
        KeyError: there are no clips of such a robot.
    """
    robot = ROBOTS[request.env_id]
    stage = stage_of(robot)
    made = []
    for one, scene, motion in play_scenes(robot, stage, request.seed, request.variations):
        made.append(one)
        if request.mutations and motion.limp is None:
            made += mutated(one.clip, BaseClip(robot, stage, scene, motion, one.played), request.seed)
    return clip_set(request, made), made


def mutated(clip: Clip, base: BaseClip, seed: int) -> list[MadeClip]:
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
                "mutation": str(mutation.family),
            }
            found.append(MadeClip(clip.model_copy(update=changed), mutant.played))
    return found
