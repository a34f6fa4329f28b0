"""`p2p analyze`: what a session taught, with the numbers it rests on."""

from rich.markdown import Markdown

from p2p.cli.options import AsJson, RunsDir, SessionName, examples, open_workspace
from p2p.cli.output import Output
from p2p.cli.remedies import in_commands
from p2p.service.progress.listing import find_session
from p2p.service.sessions.analyzing import analyze_session

ANALYZE_EXAMPLES = examples("p2p analyze", "p2p analyze 1a2b3c4d --json")


def analyze(session: SessionName = "latest", as_json: AsJson = False, runs_dir: RunsDir = None) -> None:
    """Report on a whole session: what was tried, what worked, and what to try next."""
    ws = open_workspace(runs_dir)
    report = analyze_session(ws, find_session(ws, session))
    findings = "\n".join(f"- {finding}" for finding in report.key_findings)
    advice = in_commands("\n".join(f"- {one}" for one in report.recommendations))
    whole = f"{report.analysis}\n\n## Findings\n\n{findings}\n" + (f"\n## Next\n\n{advice}\n" if advice else "")
    missing = f", because the session's model did not: {report.fallback}" if report.fallback else ""
    Output(as_json).result(report, Markdown(whole), f"Written by {report.written_by}{missing}")
