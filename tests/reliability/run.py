"""Every campaign of faults, and what went wrong in it: `make reliability`.

PYTHONPATH=tests python tests/reliability/run.py          all of them, 200 kills of a server and so on
        …        --only job_machine --count 20            one of them
        …        --readme docs/reliability.md             writes the table into the document
"""

import argparse
import sys
import tempfile
import time
import traceback
from pathlib import Path

from campaigns import CAMPAIGNS, Campaign
from findings import HEAD, Findings

BEGIN, END = "<!-- reliability -->", "<!-- /reliability -->"


def main(arguments: list[str] | None = None) -> int:
    """Run campaigns and print a table; 1 when anything went wrong in one."""
    options = _parse(arguments)
    wanted = options.only or list(CAMPAIGNS)
    failed = 0
    for name in wanted:
        campaign = CAMPAIGNS[name]
        begun = time.monotonic()
        findings = conduct(campaign, options.count or campaign.full)
        print(f"{HEAD}\n{findings.row(campaign.title)}\n{name}: {time.monotonic() - begun:.0f} s", flush=True)
        print("\n".join(findings.failures), file=sys.stderr, flush=True)
        failed += bool(findings.failures)
        if options.readme is not None:
            write_row(options.readme, campaign, findings)
    return int(failed > 0)


def conduct(campaign: Campaign, count: int) -> Findings:
    """One campaign in a runs directory of its own; one that breaks off has failed."""
    with tempfile.TemporaryDirectory(prefix="p2p-reliability-", ignore_cleanup_errors=True) as place:
        try:
            return campaign.conduct(count, Path(place) / "runs")
        except Exception:
            findings = Findings()
            findings.went_wrong("campaigns broken off", traceback.format_exc())
            return findings


def write_row(document: Path, campaign: Campaign, findings: Findings) -> None:
    """Put the row of a campaign into the table of a document; the other rows stay as they are."""
    before, _, rest = document.read_text(encoding="utf-8").partition(BEGIN)
    table, _, after = rest.partition(END)
    known = {row.split(" | ")[0]: row for row in table.splitlines() if row.startswith("| ")}
    row = findings.row(campaign.title)
    known[row.split(" | ")[0]] = row
    order = [f"| {c.title}" for c in CAMPAIGNS.values()]
    rows = [known[title] for title in order if title in known]
    document.write_text("\n".join([f"{before}{BEGIN}", HEAD, *rows, f"{END}{after}"]), encoding="utf-8")


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=list(CAMPAIGNS), help="this one; again for more")
    parser.add_argument("--count", type=int, help="how often, instead of what each campaign holds for enough")
    parser.add_argument("--readme", type=Path, metavar="FILE", help=f"write the rows between {BEGIN} and {END}")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
