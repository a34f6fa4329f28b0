"""Videos in ranges, what has not changed, heads, and addresses that lead out of the runs directory."""

import os
from itertools import product
from pathlib import Path

import pytest
from asking import EXAMPLES, VIDEO, Asking

SESSION = EXAMPLES["session_id"]
ADDRESS = f"/api/sessions/{SESSION}/iterations/1/videos/median.mp4"
SECRET = b"what lies outside"


def test_a_video_is_sent_in_parts(web: Asking) -> None:
    whole = web("GET", ADDRESS)
    assert (whole.status, whole.body, whole.headers["content-type"]) == (200, VIDEO, "video/mp4")
    part = web("GET", ADDRESS, {"range": "bytes=100-199"})
    assert (part.status, part.body) == (206, VIDEO[100:200])
    assert part.headers["content-range"] == f"bytes 100-199/{len(VIDEO)}"
    end = web("GET", ADDRESS, {"range": "bytes=-10"})
    assert (end.status, end.body) == (206, VIDEO[-10:])
    two = web("GET", ADDRESS, {"range": "bytes=0-9,50-59"})
    assert two.status == 206
    assert two.headers["content-type"].startswith("multipart/byteranges")
    assert VIDEO[:10] in two.body
    assert VIDEO[50:60] in two.body
    assert web("GET", ADDRESS, {"range": f"bytes={len(VIDEO)}-"}).status == 416


def test_a_part_of_another_version_is_the_whole(web: Asking) -> None:
    tag = web("GET", ADDRESS).headers["etag"]
    assert web("GET", ADDRESS, {"range": "bytes=0-9", "if-range": tag}).status == 206
    assert web("GET", ADDRESS, {"range": "bytes=0-9", "if-range": '"older"'}).status == 200


def test_what_has_not_changed_is_not_sent_again(web: Asking, seeded: Path) -> None:
    tag = web("GET", ADDRESS).headers["etag"]
    again = web("GET", ADDRESS, {"if-none-match": f'"other", {tag}'})
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag)
    (seeded / SESSION / "iter_1/report/videos/median.mp4").write_bytes(VIDEO[:50])
    assert web("GET", ADDRESS, {"if-none-match": tag}).body == VIDEO[:50]


def test_a_video_under_its_version_never_changes(web: Asking) -> None:
    tag = web("GET", ADDRESS).headers["etag"].strip('"')
    assert "immutable" in web("GET", f"{ADDRESS}?v={tag}").headers["cache-control"]
    assert web("GET", f"{ADDRESS}?v=older").headers["cache-control"] == "private, no-cache"


LOAD = ("/api/resources/status", "/monitor")
"""What the machine does now, which is another thing a moment later."""


def test_every_read_has_a_head_an_etag_and_is_not_sent_twice(web: Asking) -> None:
    seen = 0
    for method, address in web.operations():
        if method != "GET" or "stream" in address or address in LOAD:
            continue
        found = web("GET", address)
        head = web("HEAD", address)
        assert (head.status, head.body) == (found.status, b""), address
        if found.status != 200:
            continue
        seen += 1
        assert head.headers["etag"] == found.headers["etag"], address
        assert head.headers["content-length"] == str(len(found.body))
        assert not found.headers["etag"].startswith("W/")
        assert found.headers["cache-control"] == "private, no-cache"
        again = web("GET", address, {"if-none-match": found.headers["etag"]})
        assert (again.status, again.body) == (304, b""), address
    assert seen > 25


def _spellings() -> list[str]:
    ups = ("..", "%2e%2e", ".%2e", "%2E%2e", "..%00", "..;", "%252e%252e", "．．", "..%c0%af", "....")
    between = ("/", "%2f", "%5c", "\\", "%252f", "//", "%2f%2f")
    ends = ("secret.mp4", "secret.mp4%00.mp4", f"{SESSION}/session.json")
    found = [f"{up}{slash}{up}{slash}{end}" for up, slash, end in product(ups, between, ends)]
    return [*found, "/etc/passwd", "%2fetc%2fpasswd", "file:///etc/passwd", "~", "%00", ".", "con", "a" * 5000]


def test_no_spelling_of_a_path_leads_out_of_the_runs_directory(web: Asking, seeded: Path) -> None:
    (seeded.parent / "secret.mp4").write_bytes(SECRET)
    (seeded / "secret.mp4").write_bytes(SECRET)
    spellings = _spellings()
    assert len(spellings) > 200
    places = (
        f"/api/sessions/{SESSION}/iterations/1/videos/{{}}",
        f"/api/sessions/{SESSION}/iterations/1/pictures/{{}}",
        f"/api/sessions/{SESSION}/iterations/{{}}/videos/median.mp4",
        f"/api/sessions/{SESSION}/iterations/1/runs/{{}}/metrics",
        "/api/sessions/{}",
        "/api/jobs/{}/log",
        "/api/benchmarks/{}",
        "/static/{}",
        "/{}",
    )
    for place, spelling in product(places, spellings):
        answer = web("GET", place.format(spelling))
        assert answer.status == 404, (place, spelling, answer.body[:200])
        assert SECRET not in answer.body


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_planted_link_is_not_followed(web: Asking, seeded: Path, kind: str) -> None:
    outside = seeded.parent / "outside"
    outside.mkdir()
    (outside / "linked.mp4").write_bytes(SECRET)
    videos = seeded / SESSION / "iter_1/report/videos"
    if kind == "file":
        (videos / "linked.mp4").symlink_to(outside / "linked.mp4")
    else:
        videos.rename(seeded.parent / "away")
        videos.symlink_to(outside)
    answer = web("GET", f"/api/sessions/{SESSION}/iterations/1/videos/linked.mp4")
    assert answer.status == 404
    assert SECRET not in answer.body


def test_a_pipe_in_the_place_of_a_video_is_no_file(web: Asking, seeded: Path) -> None:
    os.mkfifo(seeded / SESSION / "iter_1/report/videos/pipe.mp4")
    assert web("GET", f"/api/sessions/{SESSION}/iterations/1/videos/pipe.mp4").status == 404


def test_what_is_no_picture_and_no_video_is_a_download(web: Asking) -> None:
    found = web("GET", f"/api/sessions/{SESSION}/iterations/1/metrics.csv")
    assert found.headers["content-disposition"].startswith("attachment")
    assert found.headers["x-content-type-options"] == "nosniff"
