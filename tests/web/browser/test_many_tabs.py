"""Many tabs: one stream of the server, and news in all of them."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from asking import EXAMPLES
from browsing import Site

SESSION = EXAMPLES["session_id"]
KEEP_ALIVE_S = 6.0
"""A connection that asks for nothing is closed by then."""
MANY = 50
REST_S = 10.0
"""How long nothing happens [s]: processor time is counted in hundredths of a second."""
NEWS = "seen in every tab"
WATCH = """news => { window.told = new Promise(done => {
  const look = () => document.body.textContent.includes(news) && requestAnimationFrame(() => done(Date.now()));
  new MutationObserver(look).observe(document.body, {childList: true, subtree: true, characterData: true});
}); }"""
"""Has a page note when it draws the news [ms since 1970]: asking each page in turn would cost more than the news."""


def connections(port: int) -> int:
    """Established connections to a port of this machine, as its server has them."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(int(row[1].partition(":")[2], 16) == port and row[3] == "01" for row in rows)


def processor_s(pid: int) -> float:
    """Processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("tabs", [8, pytest.param(MANY, marks=pytest.mark.nightly)])
def test_tabs_share_one_stream_and_all_show_what_happens(tabs: int, site: Callable[[Path], Site], seeded: Path) -> None:
    here = site(seeded)
    first = here.open(f"/e2e/{SESSION}")
    pages = [first, *(here.tab(first.context) for _ in range(tabs - 1))]
    for page in pages[1:]:
        page.goto(here.address(f"/e2e/{SESSION}"))
    for page in pages:
        page.evaluate(WATCH, NEWS)
    time.sleep(KEEP_ALIVE_S)
    before = processor_s(here.server.pid)
    assert connections(here.server.port) == 1
    time.sleep(REST_S)
    at_rest = (processor_s(here.server.pid) - before) / REST_S
    log = seeded / SESSION / "events.jsonl"
    last = json.loads(log.read_text().splitlines()[-1])
    begun = time.time()
    with log.open("a") as lines:
        lines.write(
            json.dumps({**last, "seq": last["seq"] + 1, "event": "guardrail.warning", "data": {"a": NEWS}}) + "\n"
        )
    took = max(page.evaluate("told") for page in pages) / 1000 - begun
    begun = time.monotonic()
    assert here.server.ask("GET", "/api/sessions")[0].status == 200
    asked = time.monotonic() - begun
    status = Path(f"/proc/{here.server.pid}/status").read_text()
    memory_mb = int(status.partition("VmRSS:")[2].split()[0]) / 1024
    print(
        f"{tabs} tabs: all told after {took:.1f} s, a request {1000 * asked:.0f} ms, "
        f"{memory_mb:.0f} MB, at rest {100 * at_rest:.1f} % of a core"
    )
    assert memory_mb < 200
    assert at_rest < 0.05
    if tabs == MANY:  # the goals of an idle machine
        assert took <= 3
        assert asked <= 0.2
        assert at_rest < 0.01
