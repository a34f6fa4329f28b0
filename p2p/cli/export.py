"""`p2p export`: a policy in formats that others load."""

from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.console import RenderableType
from rich.text import Text

from p2p.cli.completion import complete_format
from p2p.cli.formats import short_path
from p2p.cli.options import AsJson, Iteration, RunsDir, SessionName, examples, known_names, open_workspace
from p2p.cli.output import Output
from p2p.cli.session_options import loggers
from p2p.cli.tables import table
from p2p.contracts.errors import InvalidInput
from p2p.contracts.intent import number
from p2p.contracts.loggers import LoggerName
from p2p.contracts.work import Export, ExportFormat, NewExport
from p2p.service.logs.writing import write_logs
from p2p.service.progress.listing import find_session
from p2p.service.sessions.export import export_policy
from p2p.service.workspace import Workspace

EXPORT_EXAMPLES = examples(
    "p2p export --format sb3",
    "p2p export latest --format onnx --format torchscript --output my-policy",
    "p2p export latest --log tensorboard",
    "p2p export 1a2b3c4d --format onnx --iteration 2 --run baseline_seed_10 --checkpoint 300000 --json",
)

Formats = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        metavar="|".join(ExportFormat),
        help="Format to write; for several, repeat it or separate them by commas.",
        autocompletion=complete_format,
    ),
]
RunName = Annotated[
    str | None, typer.Option("--run", metavar="ID", help="Run to export.", show_default="the best of the iteration")
]
Checkpoint = Annotated[
    int | None, typer.Option(min=0, metavar="STEP", help="Its checkpoint.", show_default="the best of the run")
]
ExportLog = Annotated[
    list[str] | None,
    typer.Option("--log", metavar="|".join(LoggerName), help="Write its records for this logger, as far as they miss."),
]
OutputDir = Annotated[
    Path | None,
    typer.Option("--output", metavar="DIR", help="Output folder.", show_default="a new one in the session"),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the files of an earlier export in that folder.")]
License = Annotated[
    str, typer.Option("--license", metavar="NAME", help="Licence named in the model card, in the Hub's spelling.")
]


def export(  # noqa: PLR0913  typer reads one parameter per option
    formats: Formats = None,
    session: SessionName = "latest",
    log: ExportLog = None,
    iteration: Iteration = None,
    run: RunName = None,
    checkpoint: Checkpoint = None,
    output_dir: OutputDir = None,
    overwrite: Overwrite = False,
    license_name: License = "mit",
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Write a trained policy for stable-baselines3, ONNX or TorchScript, with a model card and a replay.

    Each file is checked against the policy on recorded observations before it is handed out. With --log, what the
    session recorded is written for TensorBoard or Weights & Biases.
    """
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    if log and formats:
        raise InvalidInput("--log and --format write different things: give one of them at a time.")
    if log:
        _write_logs(ws, output, find_session(ws, session), log)
        return
    names = known_names("format", formats, list(ExportFormat))
    if not names:
        wrong = "--format is empty" if formats else "Nothing to export"
        raise InvalidInput(f"{wrong}: expected --format with {', '.join(ExportFormat)}, or several of them.")
    request = _request(
        formats=tuple(map(ExportFormat, names)),
        iteration=iteration,
        run_id=run,
        checkpoint=checkpoint,
        output=output_dir,
        overwrite=overwrite,
        license=license_name,
    )
    made = export_policy(ws, find_session(ws, session), request)
    output.result(made, *exported(made))


def _write_logs(ws: Workspace, output: Output, session_id: str, words: list[str]) -> None:
    names = loggers(words)
    rows = write_logs(ws, session_id, names)
    where = short_path(ws.runs.path / session_id)
    lines = [f"Wrote {rows:,} rows of {session_id} for {' and '.join(names)}."]
    lines += [f"  to see them: tensorboard --logdir {where}"] * (LoggerName.TENSORBOARD in names)
    output.result({"session_id": session_id, "log": [str(name) for name in names], "rows": rows}, *lines)


def exported(made: Export) -> list[RenderableType]:
    """What was written, and how each format did."""
    episode = made.report.episode
    report = made.report
    numbers = ("largest difference", "trained reward", "Gymnasium's reward")
    checks = table("replayed by", *numbers, right=numbers)
    checks.add_row("as recorded", "", number(episode.trained_return), number(episode.gymnasium_return))
    for check in report.checks:
        returned = number(check.trained_return), number(check.gymnasium_return)
        checks.add_row(check.format, f"{check.max_difference:.2g}", *returned)
    folder = short_path(Path(made.directory))
    return [
        Text(f"Exported {report.run_id} of iteration {made.iteration}, checkpoint {report.checkpoint:,}."),
        checks,
        *(f"  {folder}/{Path(path).name}" for path in made.files),
        "",
        f"To replay it: python {folder}/replay.py",
    ]


def _request(**fields: object) -> NewExport:
    try:
        return NewExport.model_validate(fields)
    except ValidationError as error:
        wrong = error.errors()[0]
        raise InvalidInput(f"--{wrong['loc'][0]}: {wrong['msg']}, got {wrong['input']!r}.") from error
