"""What is claimed of a policy's episode: only what its course shows beyond doubt."""

from pathlib import Path

import numpy as np
import pytest

from p2p.contracts.known_motions import ClaimKind
from p2p.lab.contracts.calibration import CalibrationRequest
from p2p.lab.judges.calibrate import calibrate
from p2p.lab.records import CalibrationRecord
from p2p.lab.worker.clips.policy_labels import SimulatedCourse, kinds_of
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.worker.known_motions.robots import ANT, CHEETAH, HOPPER, SWIMMER

T = 120


def course(vx: float = 0.0, vy: float = 0.0, **changes: object) -> SimulatedCourse:
    """An upright robot that goes steadily for 6 s."""
    t = np.linspace(0.0, 6.0, T + 1)
    values: dict[str, object] = {
        "place": np.stack([vx * t, vy * t, np.full_like(t, 0.6)], axis=1),
        "up": np.full_like(t, 0.98),
        "pitch": 0.1 * np.sin(t),
        "first_pitch": 0.0,
        "yaw": np.zeros_like(t),
        "touching": np.ones(T + 1, dtype=np.bool_),
        "joints": 0.5 * np.sin(6.0 * t)[:, None],
        "seconds": 6.0,
    }
    return SimulatedCourse(**{**values, **changes})


LYING = np.where(np.arange(T + 1) > 80, 0.1, 0.98)
WOBBLING = np.where(np.arange(T + 1) % 4 == 0, 0.5, 0.98)


@pytest.mark.parametrize(
    ("done", "kind"),
    [
        (course(4.0), ClaimKind.POSITIVE),
        (course(3.05), None),
        (course(2.4), ClaimKind.NEAR_MISS),
        (course(-4.0), ClaimKind.NEAR_MISS),
        (course(0.1), ClaimKind.NEGATIVE),
        (course(4.0, up=LYING), ClaimKind.NEAR_MISS),
        (course(4.0, up=WOBBLING), None),
        (course(4.0, joints=np.zeros((T + 1, 6))), None),
        (course(4.0, place=np.stack([24.0 * (np.arange(T + 1) > 60), *np.full((2, T + 1), 0.6)], axis=1)), None),
    ],
)
def test_running_is_claimed_of_what_is_clearly_fast_steady_and_upright(
    done: SimulatedCourse, kind: ClaimKind | None
) -> None:
    assert kinds_of(CHEETAH, done)["run forward as fast as you can"] is kind


def test_what_never_leaves_the_floor_does_not_jump_and_what_stays_upright_does_not_turn_over() -> None:
    kinds = kinds_of(HOPPER, course(0.0))
    assert {kinds["jump"], kinds["do a backflip"]} == {ClaimKind.NEGATIVE}
    kinds = kinds_of(HOPPER, course(0.0, touching=np.arange(T + 1) < 50, up=np.cos(np.linspace(0, 7, T + 1))))
    assert {kinds["jump"], kinds["do a backflip"]} == {None}


def test_turns_are_claimed_of_what_stays_in_its_place() -> None:
    turning = {"yaw": 2.0 * np.pi * np.linspace(0.0, 1.2, T + 1)}
    assert kinds_of(ANT, course(0.0, **turning))["spin in place"] is ClaimKind.POSITIVE
    assert kinds_of(ANT, course(1.0, **turning))["spin in place"] is None
    assert kinds_of(ANT, course(0.0, **turning))["spin clockwise"] is ClaimKind.NEAR_MISS
    assert kinds_of(ANT, course(0.0, up=LYING, **turning))["spin in place"] is None
    assert kinds_of(SWIMMER, course(0.3))["spin in place"] is ClaimKind.NEGATIVE


@pytest.mark.slow
@pytest.mark.nightly
def test_policies_are_trained_and_judged(tmp_path: Path) -> None:
    ws = Workspace(Settings(runs_dir=tmp_path / "runs"))
    request = CalibrationRequest(env_ids=("HalfCheetah-v5",), variations=1, mutations=False, policy_steps=4_000)
    judge = calibrate(ws, request).judges[0]
    assert judge.trained is not None
    assert (judge.trained.count, judge.trained.of > 50) == (0, True), judge.mistakes
    clips = CalibrationRecord(tmp_path / "runs").clips("HalfCheetah-v5").read_clips()
    assert clips is not None
    words = [clip.motion for clip in clips.clips if clip.trained]
    assert words[0] == "policy that has learnt nothing"
    assert words[-1].startswith("policy for backward, 4,")
