"""`p2p label`: a person's score of a rollout, held against the judges'."""

import getpass
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.markup import escape

from p2p.cli.options import AsJson, Iteration, RunsDir, SessionName, examples, open_workspace
from p2p.cli.output import Output
from p2p.cli.tables import table
from p2p.contracts.intent import score_in_words, share_in_words
from p2p.contracts.judgment import Agreement, Labels
from p2p.service.judging import labelling
from p2p.service.judging.labelling import label_rollout
from p2p.service.progress.listing import find_session

LABEL_EXAMPLES = examples(
    "p2p view latest --label p10", "p2p label latest --score 0.3 --rollout p10", "p2p label --all"
)

Score = Annotated[
    float | None,
    typer.Option(min=0, max=1, help="How much of what was meant the rollout shows; without it, labels are listed."),
]
Rollout = Annotated[str, typer.Option("--rollout", metavar="p10|median|p90", help="Which of the recorded rollouts.")]
Annotator = Annotated[str | None, typer.Option("--by", help="Name of the person.", show_default="your user name")]
Comment = Annotated[str, typer.Option(help="What you saw, in a sentence.")]
All = Annotated[bool, typer.Option("--all", help="Show the labels of all sessions, and the agreement over them.")]


def label(  # noqa: PLR0913  typer reads one parameter per option
    session: SessionName = "latest",
    score: Score = None,
    rollout: Rollout = "median",
    iteration: Iteration = None,
    by: Annotator = None,
    comment: Comment = "",
    all_sessions: All = False,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Score a rollout as a person, and see how far the judges agree with people. No verdict changes."""
    ws = open_workspace(runs_dir)
    if all_sessions:
        labels = labelling.labels(ws)
    elif score is None:
        labels = labelling.labels(ws, find_session(ws, session))
    else:
        found = find_session(ws, session)
        labels = label_rollout(ws, found, score, by or getpass.getuser(), rollout, iteration, comment)
    Output(as_json).result(labels, *_shown(labels))


def _shown(labels: Labels) -> list[RenderableType]:
    if not labels.labels:
        return ["No rollout is labelled yet. Look at one (p2p view), then: p2p label SESSION --score 0.7"]
    rows = table("iteration", "rollout", "by", "score", "judges", "comment", right=("iteration", "score", "judges"))
    for one in labels.labels:
        scores = score_in_words(one.score), score_in_words(one.judged)
        rows.add_row(str(one.iteration), one.rollout, escape(one.annotator), *scores, escape(one.comment))
    return [rows, in_words(labels.agreement)]


def in_words(agreement: Agreement) -> str:
    """The agreement of judges with people, in a sentence."""
    parts = ["1 label" if agreement.n == 1 else f"{agreement.n} labels"]
    if agreement.same_side is not None:
        side = f"on the same side of {agreement.threshold:g} as the judges"
        one = side if agreement.same_side else f"not {side}"
        parts.append(one if agreement.n == 1 else f"{share_in_words(agreement.same_side)} {side}")
    parts.append("rank correlation " + ("unknown yet" if agreement.spearman is None else f"{agreement.spearman:.2f}"))
    parts.append(
        "kappa " + ("unknown yet" if agreement.kappa is None or agreement.n == 1 else f"{agreement.kappa:.2f}")
    )
    return ", ".join(parts) + "."
