"""`p2p agent`: Claude writes the rewards, looks at the pictures and revises, at the tools of the MCP server."""

import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from p2p.cli.completion import complete_environment
from p2p.cli.model_options import parse_price
from p2p.cli.options import AsJson, RunsDir, StopOnExit, examples, open_workspace
from p2p.cli.output import Output
from p2p.contracts.agent import AgentEnding, AgentLimits, AgentRequest
from p2p.contracts.errors import INTERRUPTED, NOT_PASSED, EnvironmentProblem, InvalidInput
from p2p.contracts.spending import Effort
from p2p.service.sessions.background import cancel_job
from p2p.service.sessions.transcripts import find_transcript, read_transcript
from p2p.service.workspace import Workspace
from p2p_mcp.agent.view import AgentView, ending_lines, plan_lines

CAPS = "What it may spend, over all its runs"
LIMITS = AgentLimits()
DEFAULTS = AgentRequest(model="")

AGENT_EXAMPLES = examples(
    'p2p agent "do a backflip" --env HalfCheetah-v5 --max-cost 3',
    'p2p agent "walk on the spot" --env Ant-v5 --model claude-sonnet-5-5 --effort high',
    'p2p agent "hop forward" --dry-run',
    "p2p agent --resume latest",
)

Sentence = Annotated[
    str, typer.Argument(metavar="[SENTENCE]", help="What the robot is to do; with --resume a line for the model.")
]
Environment = Annotated[
    str | None,
    typer.Option(
        "--env",
        help="Environment to train in; `p2p envs` lists them.",
        show_default="the model chooses",
        autocompletion=complete_environment,
    ),
]
Model = Annotated[str | None, typer.Option("--model", help="Which Claude.", show_default="P2P_AGENT_MODEL")]
EffortOption = Annotated[
    Effort | None,
    typer.Option("--effort", help="How hard it thinks; `off` for models that cannot.", show_default=DEFAULTS.effort),
]
PriceOption = Annotated[
    str | None,
    typer.Option(
        "--price",
        metavar="IN,OUT",
        help="Dollars per million tokens, for a model the table lacks.",
        rich_help_panel=CAPS,
    ),
]


def _cap(name: str, least: float, text: str, default: float) -> Any:
    """The option of one cap."""
    return typer.Option(name, min=least, help=text, show_default=f"{default:,.0f}", rich_help_panel=CAPS)


MaxTurns = Annotated[int | None, _cap("--max-turns", 1, "Answers of the model.", LIMITS.turns)]
MaxTokens = Annotated[int | None, _cap("--max-tokens", 1, "Tokens read and written.", LIMITS.tokens)]
MaxCost = Annotated[float | None, _cap("--max-cost", 0.01, "US dollars.", LIMITS.dollars)]
MaxMinutes = Annotated[float | None, _cap("--max-minutes", 0.01, "Time at work, with trainings.", LIMITS.minutes)]
MaxSteps = Annotated[int | None, _cap("--max-steps", 1, "Steps of all trainings.", LIMITS.environment_steps)]
Resume = Annotated[
    str | None,
    typer.Option("--resume", metavar="SESSION", help="Go on from a transcript, with its model and caps; or `latest`."),
]
Tools = Annotated[
    str | None,
    typer.Option("--tools", metavar="NAMES", help="Tools it may call, by commas.", show_default="those of the loop"),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show model, caps and tools, and send nothing.")]


def agent(  # noqa: PLR0913  typer reads one parameter per option
    sentence: Sentence = "",
    env: Environment = None,
    model: Model = None,
    effort: EffortOption = None,
    max_turns: MaxTurns = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    max_minutes: MaxMinutes = None,
    max_steps: MaxSteps = None,
    price: PriceOption = None,
    resume: Resume = None,
    tools: Tools = None,
    dry_run: DryRun = False,
    stop_on_exit: StopOnExit = False,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Let Claude turn a SENTENCE into a policy: it writes, trains, looks, judges and revises.

    Lines typed while it works reach it with its next turn. Needs ANTHROPIC_API_KEY; `p2p run` needs no key.
    """
    if not sentence.strip() and resume is None:
        raise InvalidInput('Say what to do, for example: p2p agent "do a backflip" --env HalfCheetah-v5')
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    caps = {
        "turns": max_turns,
        "tokens": max_tokens,
        "dollars": max_cost,
        "minutes": max_minutes,
        "environment_steps": max_steps,
    }
    choices = {
        "env_id": env,
        "model": model,
        "effort": effort,
        "price": parse_price(price) if price else None,
        "token_cap_given": True if max_tokens else None,
        "tools": tuple(name.strip() for name in tools.split(",") if name.strip()) if tools else None,
    }
    # What the transcript was last asked for; the defaults without one.
    entries = read_transcript(ws, find_transcript(ws, resume)) if resume else ()
    requests = [entry.request for entry in entries if entry.request]
    earlier = requests[-1] if requests else AgentRequest(model=ws.settings.agent_model)
    request = _request(earlier, sentence, resume, choices, caps)
    if dry_run:
        from p2p_mcp.agent.dry_run import plan as plan_of  # noqa: PLC0415 - the server, for this command alone

        plan = plan_of(ws, request)
        output.result(plan, *plan_lines(plan))
        return
    _work(ws, request, output, stop_on_exit)


def _request(
    earlier: AgentRequest,
    sentence: str,
    resume: str | None,
    choices: Mapping[str, object],
    caps: Mapping[str, float | None],
) -> AgentRequest:
    """The request with what was chosen now in the place of what was chosen earlier."""
    limits = earlier.limits.model_copy(update={name: cap for name, cap in caps.items() if cap is not None})
    chosen = {name: choice for name, choice in choices.items() if choice is not None}
    if chosen.get("model", earlier.model) != earlier.model:
        chosen.setdefault("price", None)  # the earlier one was another model's
    chosen["line" if resume else "sentence"] = sentence
    return earlier.model_copy(update={**chosen, "limits": limits, "resume": resume})


def _work(ws: Workspace, request: AgentRequest, output: Output, stop_on_exit: bool) -> None:
    """Run the agent, show how it ended, and leave with the exit code that says so."""
    from p2p_mcp.agent.agent_run import converse  # noqa: PLC0415 - the server, for this command alone

    with AgentView(output.console, request.limits) as view:
        report = converse(ws, request, view.show, sys.stdin if sys.stdin.isatty() else None)
    if stop_on_exit and report.ending is AgentEnding.INTERRUPTED:
        for job_id in report.running_jobs:
            cancel_job(ws, job_id)
        report = report.model_copy(update={"running_jobs": ()})
    output.result(report, *ending_lines(report))
    if report.ending is AgentEnding.PASSED:
        code = 0
    elif report.ending is AgentEnding.INTERRUPTED:
        code = INTERRUPTED
    else:
        code = EnvironmentProblem.exit_code if report.ending is AgentEnding.PROBLEM else NOT_PASSED
    raise typer.Exit(code)
