"""`p2p criteria`, and `p2p run --dry-run`: what a sentence means, before anything is trained."""

from collections.abc import Iterable
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from p2p.cli.config import choose_environment
from p2p.cli.options import AsJson, EnvId, RunsDir, examples, open_workspace
from p2p.cli.output import Output
from p2p.contracts.intent import Preview
from p2p.contracts.numbers import duration
from p2p.service.sessions import lifecycle
from p2p.service.sessions.requests import new_session

CRITERIA_EXAMPLES = examples(
    'p2p criteria "run faster than 4 m/s without jumping"',
    'p2p criteria "spin left twice, then stand still" --env Ant-v5',
    "p2p criteria \"jump\" --env Hopper-v5 --json | jq '.intent.criteria[].title'",
)
Sentence = Annotated[str, typer.Argument(metavar="SENTENCE", help="What the robot is to do.")]


def criteria(sentence: Sentence, env: EnvId = None, as_json: AsJson = False, runs_dir: RunsDir = None) -> None:
    """Show what a SENTENCE would be judged by; nothing is trained or saved."""
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    request = new_session(prompt=sentence, env_id=choose_environment(env, {}))
    preview = lifecycle.preview(ws, request)
    output.result(preview, _title(preview), *_judged(preview), *_open(preview))


def preview_text(preview: Preview) -> list[RenderableType]:
    """All that a session would be, in words."""
    configuration = ", ".join(
        f"{name}={value}" for name, value in preview.config.items() if value not in (None, {}, [])
    )
    return [
        _title(preview),
        *_judged(preview),
        *_open(preview),
        *_list("Rewarded:", (f"{term.name}: {term.description}" for term in preview.terms)),
        _heading("Trained:"),
        f"  {_training(preview)}",
        f"  configuration: {configuration}",
        f"  cost: {preview.cost}",
        *_list("Reward:", preview.reward.splitlines()),
        "Nothing was trained. To start it, leave out --dry-run.",
    ]


def summary(preview: Preview) -> str:
    """The same in two or three lines, for the moment before it starts."""
    lines = []
    if preview.intent is not None:
        lines.append(f"Judged by: {'; '.join(criterion.title for criterion in preview.intent.criteria)}.")
    lines += [*preview.left_over, *preview.assumed, f"{_training(preview)}."]
    return "\n".join(lines)


def _title(preview: Preview) -> Text:
    return Text(f'"{preview.prompt}" in {preview.env_id}', style="bold")


def _heading(text: str) -> Text:
    return Text(text, style="bold")


def _judged(preview: Preview) -> Iterable[RenderableType]:
    if preview.intent is None:
        return [f"{preview.author} would write the criteria before the first training; it was not asked now."]
    lines = []
    for criterion in preview.intent.criteria:
        eyes = "" if criterion.predicate is not None else " [eyes]"
        optional = "" if criterion.required else " [not required]"
        lines.append(f"{criterion.title}{eyes}{optional}: {criterion.description}")
    return _list(f"Judged by, in episodes of {preview.intent.episode_s:g} s:", lines)


def _open(preview: Preview) -> list[RenderableType]:
    found = [*_list("Left to eyes:", preview.left_over), *_list("Assumed:", preview.assumed)]
    if preview.intent is not None:
        found.append(f"Not judged: {', '.join(preview.not_judged)}, and how it looks.")
    return found


def _list(heading: str, lines: Iterable[str]) -> list[RenderableType]:
    found = [f"  {line}" for line in lines]
    return [_heading(heading), *found] if found else []


def _training(preview: Preview) -> str:
    time = f"about {duration(preview.expected_s)}" if preview.expected_s is not None else "duration not known yet"
    return (
        f"{preview.n_runs} x {preview.total_timesteps:,} steps in episodes of {preview.training_episode_s:g} s, {time} "
        f"({preview.expected_from}), for each of at most {preview.max_iterations} rewards"
    )
