"""`p2p check`: a reward tried on real transitions and known motions, and with --probe in a training of some seconds."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType

from p2p.cli.config import choose_environment
from p2p.cli.options import AsJson, EnvId, RunsDir, examples, open_workspace
from p2p.cli.output import Output
from p2p.cli.run import read_source
from p2p.cli.tables import table
from p2p.contracts.errors import InvalidInput
from p2p.service.progress.listing import find_session
from p2p.service.rewards.submission import check_reward_source

CHECK_EXAMPLES = examples(
    "p2p check reward.py --env Hopper-v5",
    'p2p check reward.py --env HalfCheetah-v5 --intent "run forward" --probe',
    "p2p check reward.py --session latest --probe --json | jq .probe.returns",
)
RewardFile = Annotated[
    Path, typer.Argument(metavar="REWARD", exists=True, dir_okay=False, help="File with the reward function.")
]
Session = Annotated[str | None, typer.Option(help="Session to take the configuration and criteria from.")]
Sentence = Annotated[str, typer.Option("--intent", metavar="SENTENCE", help="What the reward is to teach.")]
Probe = Annotated[bool, typer.Option("--probe", help="Also train it for some seconds, and show what was learnt.")]


def check(
    reward: RewardFile,
    env: EnvId = None,
    session: Session = None,
    sentence: Sentence = "",
    probe: Probe = False,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Check a REWARD without starting a session: whether it loads, what it pays and, with --probe, what is learnt."""
    if session is not None and (env is not None or sentence):
        raise InvalidInput(
            "Give either --session or --env and --intent: a session has an environment and a sentence already."
        )
    ws = open_workspace(runs_dir)
    place = find_session(ws, session) if session is not None else choose_environment(env, {})
    report = check_reward_source(ws, place, read_source(reward), probe=probe, prompt=sentence)
    verdict = "accepted" if report.accepted else "not accepted: no training is started with it"
    issues = [f"{issue.severity}: {issue.message}" for issue in report.issues]
    lines: list[RenderableType] = [f"The reward is {verdict}.", *issues]
    if report.probe is not None:
        # Return and criteria at each step that was measured.
        steps = tuple(f"{step:,} steps" for step in report.probe.steps)
        shown = table("", *steps, "wanted", right=steps, title="Probe training")
        shown.add_row("return", *(f"{value:.4g}" for value in report.probe.returns), "")
        for one in report.probe.criteria:
            cells = [
                f"{'–' if value is None else f'{value:.3g}'} ({share:.0%})"
                for value, share in zip(one.values, one.met_shares, strict=True)
            ]
            shown.add_row(one.title, *cells, f"{one.wanted}{', met' if one.met else ''}")
        lines.append(shown)
    Output(as_json).result(report, *lines)
    if not report.accepted:
        raise typer.Exit(InvalidInput.exit_code)
