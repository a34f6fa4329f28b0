from functools import cache

import pytest

from p2p.contracts.known_motions import ROBOTS, ClipSet, KnownMotionsRequest
from p2p.worker.known_motions.clips import MadeClip, make_clips


@cache
def _made(env_id: str) -> tuple[ClipSet, list[MadeClip]]:
    return make_clips(KnownMotionsRequest(env_id=env_id, seed=3, variations=1))


AT_NIGHT = {"Hopper-v5", "Humanoid-v5", "Walker2d-v5"}
"""Robots whose clips are dear to make."""


@pytest.fixture(params=[pytest.param(one, marks=[pytest.mark.nightly] * (one in AT_NIGHT)) for one in ROBOTS])
def made(request: pytest.FixtureRequest) -> tuple[ClipSet, list[MadeClip]]:
    """The clips of one robot, one of each motion, made once for all tests."""
    return _made(request.param)
