import shutil
from pathlib import Path

import pytest

from p2p.service.judging.label_queue import label_queue
from p2p.service.judging.labelling import label_rollout
from p2p.service.workspace import Workspace
from p2p.settings import Settings

RECORDED = Path(__file__).parents[1] / "session/recorded/session/files"
SESSION = "session_20260101_000000_0badcafe"


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """A session of two iterations; the first has three videos, the second one."""
    shutil.copytree(RECORDED, tmp_path / SESSION)
    for iteration, labels in ((1, ("p10", "median", "p90")), (2, ("median",))):
        videos = tmp_path / SESSION / f"iter_{iteration}/report/videos"
        videos.mkdir(parents=True)
        for label in labels:
            (videos / f"report_{label}.mp4").write_bytes(b"a video")
    return Workspace(Settings(runs_dir=tmp_path))


def test_what_has_a_video_and_no_score_of_the_person_waits(ws: Workspace) -> None:
    queue = label_queue(ws, "ada")
    assert sorted((clip.iteration, clip.rollout) for clip in queue.clips) == [
        (1, "median"),
        (1, "p10"),
        (1, "p90"),
        (2, "median"),
    ]
    label_rollout(ws, SESSION, 0.75, "ada", "p90", 1)
    assert label_queue(ws, "ada").waiting == 3
    assert label_queue(ws, "grace").waiting == 4


def test_the_order_is_the_persons_own_and_stays(ws: Workspace) -> None:
    orders = {name: [(c.iteration, c.rollout) for c in label_queue(ws, name).clips] for name in "abcdef"}
    assert len({tuple(order) for order in orders.values()}) > 1
    assert orders["a"] == [(c.iteration, c.rollout) for c in label_queue(ws, "a").clips]


def test_at_most_so_many_clips_come_and_all_are_counted(ws: Workspace) -> None:
    queue = label_queue(ws, "ada", SESSION, limit=2)
    assert (len(queue.clips), queue.waiting) == (2, 4)


def test_nothing_in_a_queue_says_what_judges_gave(ws: Workspace) -> None:
    fields = set(label_queue(ws, "ada").clips[0].model_dump())
    assert fields == {"session_id", "prompt", "env_id", "iteration", "rollout", "video"}
