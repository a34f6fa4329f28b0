"""Which faults have a test: the rows of docs/reliability.md and of the table of deaths in docs/generated/errors.md.

PYTHONPATH=tests/reliability python tests/fault_coverage.py
"""

import subprocess
import sys
from pathlib import Path

from campaigns import CAMPAIGNS

from p2p.service.sessions.deaths import DEATHS

ROOT = Path(__file__).parent.parent
DOCUMENT = ROOT / "docs/reliability.md"
FILES = (
    "tests/reliability/test_reliability.py",
    "tests/service/test_deaths.py",
    "tests/mcp/test_client_without_key.py",
)
TEST_OF = {"job_machine": "test_random_histories_of_jobs", "server_kills": "test_client_without_key.py"}
"""Campaign -> part of the id of its test, where that is not its name in brackets."""


def main() -> None:
    """Print one row per fault, and how many of them have a test."""
    rows = DOCUMENT.read_text(encoding="utf-8").splitlines()
    campaigns = {name: one.title for name, one in CAMPAIGNS.items() if any(one.title in row for row in rows)}
    marks = {name: TEST_OF.get(name, f"[{name}") for name in campaigns}
    faults = {campaigns[name]: mark for name, mark in marks.items()}
    faults |= {f"{death.who}, {death.when}": f"[{death.who}, {death.when}]" for death in DEATHS}
    at_each_change, at_night = (collected(marked) for marked in ("not nightly", "nightly"))
    print("| fault | tests in `make test` | more in `make nightly` |\n|---|---|---|")
    tested = 0
    for fault, mark in faults.items():
        by_day, by_night = (sum(mark in test for test in tests) for tests in (at_each_change, at_night))
        print(f"| {fault} | {by_day} | {by_night} |")
        tested += by_day > 0
    print(f"\n{tested} of {len(faults)} faults have a test in `make test`.")


def collected(marked: str) -> list[str]:
    """Ids of the tests of the faults with a mark."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-n0", "-m", marked, *FILES]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if "::" in line]


if __name__ == "__main__":
    main()
