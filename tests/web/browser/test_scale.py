"""Long lists and long trainings: a page is there at once, and a list is read by keyboard."""

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from asking import EXAMPLES
from browsing import Site
from filmed import RECORDED
from test_many_tabs import processor_s

SESSION = EXAMPLES["session_id"]
PAGE = 50
MANY, LONG = 1000, 1_000_000
"""Sessions and rows by night, where the machine is idle and the goals of the clock hold: 50 ms for a list (95 %), 80 ms
for a session, 100 ms for a curve."""


def many_sessions(runs: Path, n: int) -> None:
    """Copies of a recorded session of two iterations without what its trainings left; every third is of a Hopper."""
    template = runs / "template"
    shutil.copytree(RECORDED, template, ignore=shutil.ignore_patterns("baseline_*", "report", "*.npz", "*.mp4"))
    kept = (template / "session.json").read_text()
    for number in range(n):
        name = f"session_20260101_{number:06d}_0badcafe"
        place = runs / name
        shutil.copytree(template, place)
        told = json.loads(kept.replace(SESSION, name))
        told["prompt"] = f"hop number {number}" if number % 3 == 0 else f"balance number {number}"
        told["env_id"] = "Hopper-v5" if number % 3 == 0 else told["env_id"]
        (place / "session.json").write_text(json.dumps(told))
    shutil.rmtree(template)


class Cost(NamedTuple):
    """What requests for an address cost."""

    clock_ms: list[float]
    """In ascending order; connected anew each time."""
    processor_ms: float
    """Of the server, for each: what else runs on the machine changes little of it."""
    body: int
    """[bytes]."""


def cost_of(site: Site, path: str, times: int = 20) -> Cost:
    """What a request costs once the server knows what it is about."""
    clock = []
    before = processor_s(site.server.pid)
    for _ in range(times):
        begun = time.perf_counter()
        answer, body = site.server.ask("GET", path)
        clock.append(1000 * (time.perf_counter() - begun))
        assert answer.status == 200
    return Cost(sorted(clock), 1000 * (processor_s(site.server.pid) - before) / times, len(body))


def bytes_read(site: Site) -> int:
    """What the server has read of files so far, from wherever they came."""
    told = Path(f"/proc/{site.server.pid}/io").read_text()
    return int(told.partition("rchar:")[2].split()[0])


@pytest.mark.parametrize("n", [120, pytest.param(MANY, marks=pytest.mark.nightly)])
def test_a_long_list_is_searched_filtered_sorted_and_paged_by_keyboard(
    n: int, site: Callable[[Path], Site], tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    many_sessions(runs, n)
    here = site(runs)
    page = here.open("/e2e")
    page.set_default_timeout(120_000)  # the first look reads every session
    rows = page.locator(".sessions > li")
    assert rows.count() == PAGE
    page.keyboard.press("/")
    page.keyboard.type("hop number")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=hop+number**")
    hops = -(-n // 3)
    page.wait_for_selector(f".pages >> text={hops:,} sessions")
    assert rows.count() == min(PAGE, hops)
    page.goto(here.address("/e2e?sort=oldest"))
    first = page.get_attribute(".sessions > li", "id")
    page.locator("a[rel=next]").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**cursor=**")
    page.wait_for_function(f"() => document.querySelector('.sessions > li').id !== '{first}'")
    for key in "jj":
        page.keyboard.press(key)
    wanted = page.locator(".sessions > li").nth(1).get_attribute("id")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/e2e/{wanted}")
    for address, most_ms in (("/e2e", 50), (f"/e2e/{wanted}", 80)):
        cost = cost_of(here, address)
        print(
            f"{n} sessions: {address} takes {cost.clock_ms[10]:.0f} ms (median), {cost.clock_ms[18]:.0f} ms (95 %), "
            f"{cost.processor_ms:.0f} ms of the processor, {cost.body:,} bytes"
        )
        assert cost.body < 150_000
        assert cost.processor_ms < 4 * most_ms, "beside whatever else keeps this machine busy"
        if n == MANY:
            assert cost.clock_ms[18] <= most_ms


@pytest.mark.parametrize("n", [25_600, pytest.param(LONG, marks=pytest.mark.nightly)])
def test_a_long_training_is_drawn_with_few_points(n: int, site: Callable[[Path], Site], tmp_path: Path) -> None:
    place = tmp_path / "runs" / SESSION
    shutil.copytree(RECORDED, place)
    [scalars] = (place / "iter_1/baseline_seed_10").rglob("*.jsonl")
    row = json.loads(next(line for line in scalars.read_text().splitlines() if "episodic_return" in line))
    with scalars.open("w") as lines:
        for number in range(1, n + 1):
            lines.write(json.dumps({**row, "global_step": 64 * number, "episodic_return": number % 97}) + "\n")
    here = site(tmp_path / "runs")
    address = f"/api/sessions/{SESSION}/iterations/1/runs/baseline_seed_10/metrics?names=episodic_return&points=1000"
    begun = time.perf_counter()
    for _ in range(8):  # at most 256 MB of a file are read for one request
        response, body = here.server.ask("GET", address)
        assert response.status == 200
        [curve] = json.loads(body)["curves"]
        if curve["steps"][-1] == 64 * n:
            break
    first = time.perf_counter() - begun
    assert 100 < len(curve["steps"]) <= 1000
    assert curve["steps"][-1] == 64 * n
    again = cost_of(here, address)
    before = bytes_read(here)
    with scalars.open("a") as lines:
        lines.writelines(json.dumps({**row, "global_step": 64 * (n + more)}) + "\n" for more in range(1, 11))
    _, body = here.server.ask("GET", address)
    assert json.loads(body)["curves"][0]["steps"][-1] == 64 * (n + 10)
    assert bytes_read(here) - before < scalars.stat().st_size / 10, "what is known is not read again"
    status = Path(f"/proc/{here.server.pid}/status").read_text()
    memory_mb = int(status.partition("VmRSS:")[2].split()[0]) / 1024
    print(
        f"{n:,} rows: {first:.1f} s at first, then {again.clock_ms[10]:.0f} ms, {again.processor_ms:.0f} ms of the "
        f"processor, {again.body:,} bytes; server {memory_mb:.0f} MB"
    )
    assert again.processor_ms < 400
    if n == LONG:
        assert again.clock_ms[10] <= 100
    assert again.body < 100_000
    assert memory_mb < 300
    page = here.open(f"/e2e/{SESSION}/iterations/1")
    page.locator("summary", has_text="Return while training").click()
    page.wait_for_selector("details[open] .uplot")
