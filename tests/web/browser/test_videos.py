"""Videos in a browser: seeks load parts of them, and one that cannot be played is shown as a stick figure."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from browsing import Filming, Site
from filmed import READ_PICTURE

from p2p.worker.pictures.video import encode

SECONDS, FPS, SIDE, PATCH = 60, 25, 160, 64
OPEN = """async (address) => {
  const video = document.createElement("video");
  Object.assign(video, { preload: "metadata", muted: true, src: address });
  document.querySelector("main").append(video);
  await new Promise((done) => video.addEventListener("loadeddata", done, { once: true }));
}"""
SEEK = """async (at) => {
  const video = document.querySelector("main > video:last-child");
  video.currentTime = at;
  await new Promise((done) => video.addEventListener("seeked", done, { once: true }));
  return [video.duration, video.currentTime];
}"""


def noisy(rng: np.random.Generator, ground: np.ndarray) -> Iterator[np.ndarray]:
    """Pictures of a minute, as many bytes as a rollout has that is filmed."""
    for _ in range(SECONDS * FPS):
        ground[:PATCH, :PATCH] = rng.integers(0, 256, (PATCH, PATCH, 3), dtype=np.uint8)
        yield ground


def test_a_seek_in_a_minute_of_video_loads_a_part_of_it(
    site: Callable[[Path], Site], filming: Filming, tmp_path: Path
) -> None:
    filmed = filming("HalfCheetah-v5")
    runs = tmp_path / "runs"
    shutil.copytree(filmed.runs_dir, runs)
    video = runs / filmed.session_id / "iter_1/report/videos/report_median.mp4"
    rng = np.random.default_rng(1)
    ground = np.zeros((SIDE, SIDE, 3), np.uint8)
    encode(video, noisy(rng, ground), (SIDE, SIDE), (SIDE, SIDE), FPS)
    whole = video.stat().st_size
    assert whole > 3_000_000
    page = site(runs).open("/label")
    loaded = []
    client = page.context.new_cdp_session(page)
    client.send("Network.enable")
    client.on("Network.dataReceived", lambda event: loaded.append(event["dataLength"]))
    address = f"/api/sessions/{filmed.session_id}/iterations/1/videos/report_median.mp4"
    page.evaluate(OPEN, address)
    opened = sum(loaded)
    duration, at = page.evaluate(SEEK, 50)
    print(
        f"{whole:,} bytes; {opened:,} loaded at first, {sum(loaded) - opened:,} until 50 of {duration:.0f} s were shown"
    )
    assert (round(duration), round(at)) == (60, 50)
    assert sum(loaded) < whole / 2


def test_a_video_that_cannot_be_played_is_shown_as_a_stick_figure(
    site: Callable[[Path], Site], filming: Filming, tmp_path: Path
) -> None:
    filmed = filming("HalfCheetah-v5")
    runs = tmp_path / "runs"
    shutil.copytree(filmed.runs_dir, runs)
    (runs / filmed.session_id / "iter_1/report/videos/report_p10.mp4").write_bytes(b"of another kind" * 1000)
    page = site(runs).open(f"/e2e/{filmed.session_id}/iterations/1?label=median&with=p10&row=20")
    page.wait_for_selector("canvas.in-place-of-video")
    page.wait_for_selector("body[data-ready]")
    assert "cannot be played" in page.get_attribute("canvas.in-place-of-video", "aria-label")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.querySelector('canvas.in-place-of-video').dataset.row === '21'")
    page.wait_for_function("() => !document.querySelector('video').seeking")
    assert page.query_selector("video").evaluate(READ_PICTURE) == 21, "the other one goes on"
