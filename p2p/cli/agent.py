"""`p2p agent`: Claude writes the rewards, looks at the pictures and revises, at the tools of the MCP server."""

import sys
from typing import Annotated

import typer

from p2p import registry
from p2p.cli.agent_view import AgentView, ending_lines, plan_lines
from p2p.cli.options import AsJson, EnvId, RunsDir, StopOnExit, examples, open_service
from p2p.cli.output import Output
from p2p.contracts.agent import AgentEnding, AgentReport, AgentRequest, Effort, Limits, Price
from p2p.contracts.errors import INTERRUPTED, EnvironmentProblem, InvalidInput
from p2p.service import Service

PASSED, NOT_PASSED = 0, 3
CAPS = "What it may spend, over all its sittings"
DEFAULTS = Limits()

AGENT_EXAMPLES = examples(
    'p2p agent "do a backflip" --env HalfCheetah-v5 --max-cost 3',
    'p2p agent "walk on the spot" --env Ant-v5 --model claude-sonnet-5-5 --effort high',
    'p2p agent "hop forward" --dry-run',
    "p2p agent --resume latest",
)

Sentence = Annotated[
    str, typer.Argument(metavar="[SENTENCE]", help="What the robot is to do; with --resume a line for the model.")
]
Model = Annotated[
    str | None, typer.Option("--model", help="Which Claude.", show_default="P2P_AGENT_MODEL, or the newest Opus")
]
EffortOption = Annotated[Effort, typer.Option("--effort", help="How hard it thinks; `off` for models that cannot.")]
PriceOption = Annotated[
    str | None,
    typer.Option(
        "--price",
        metavar="IN,OUT",
        help="Dollars per million tokens, for a model the table lacks.",
        rich_help_panel=CAPS,
    ),
]
MaxTurns = Annotated[int, typer.Option("--max-turns", min=1, help="Answers of the model.", rich_help_panel=CAPS)]
MaxTokens = Annotated[
    int | None,
    typer.Option(
        "--max-tokens",
        min=1,
        help="Tokens read and written.",
        show_default=f"{DEFAULTS.tokens:,}",
        rich_help_panel=CAPS,
    ),
]
MaxCost = Annotated[float, typer.Option("--max-cost", min=0.01, help="US dollars.", rich_help_panel=CAPS)]
MaxMinutes = Annotated[
    float, typer.Option("--max-minutes", min=0.01, help="Time at work, trainings included.", rich_help_panel=CAPS)
]
MaxSteps = Annotated[
    int, typer.Option("--max-steps", min=1, help="Environment steps of all trainings.", rich_help_panel=CAPS)
]
Resume = Annotated[
    str | None, typer.Option("--resume", metavar="SESSION", help="Go on from a transcript; `latest` is one too.")
]
Tools = Annotated[
    str | None,
    typer.Option("--tools", metavar="NAMES", help="Tools it may call, by commas.", show_default="those of the loop"),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show model, caps and tools, and send nothing.")]


def agent(  # noqa: PLR0913  typer reads one parameter per option
    sentence: Sentence = "",
    env: EnvId = None,
    model: Model = None,
    effort: EffortOption = "medium",
    max_turns: MaxTurns = DEFAULTS.turns,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = DEFAULTS.dollars,
    max_minutes: MaxMinutes = DEFAULTS.minutes,
    max_steps: MaxSteps = DEFAULTS.environment_steps,
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
    service, output = open_service(runs_dir), Output(as_json)
    limits = Limits(
        turns=max_turns,
        tokens=max_tokens or DEFAULTS.tokens,
        dollars=max_cost,
        minutes=max_minutes,
        environment_steps=max_steps,
    )
    request = AgentRequest(
        sentence=sentence,
        env_id=env,
        resume=resume,
        model=model or service.settings.agent_model,
        effort=effort,
        price=parse_price(price) if price else None,
        limits=limits,
        token_cap_given=max_tokens is not None,
        tools=tuple(name.strip() for name in tools.split(",") if name.strip()) if tools else None,
    )
    if not sentence.strip() and resume is None:
        raise InvalidInput('Say what to do, for example: p2p agent "do a backflip" --env HalfCheetah-v5')
    if dry_run:
        plan = registry.load("host", registry.HOSTS, "plan")(service, request)
        output.result(plan, *plan_lines(plan))
        return
    _work(service, request, output, stop_on_exit)


def parse_price(text: str) -> Price:
    """A price given as "IN,OUT" in dollars per million tokens; the cache costs the usual multiples of reading.

    Raises:
        InvalidInput: it is not two numbers of at least zero.
    """
    try:
        read, write = (float(part) for part in text.split(","))
        return Price(
            input=read, output=write, cache_read=0.1 * read, cache_write_5m=1.25 * read, cache_write_1h=2 * read
        )
    except ValueError as error:
        raise InvalidInput(
            f"--price {text!r} is no price. Give dollars per million tokens read and written, such as --price 4,20."
        ) from error


def _work(service: Service, request: AgentRequest, output: Output, stop_on_exit: bool) -> None:
    """Run the agent, show how it ended, and leave with the exit code that says so."""
    converse = registry.load("host", registry.HOSTS, "converse")
    with AgentView(output.console, request.limits) as view:
        report: AgentReport = converse(service, request, view.show, sys.stdin if sys.stdin.isatty() else None)
    if stop_on_exit and report.ending is AgentEnding.INTERRUPTED:
        for job_id in report.running_jobs:
            service.cancel_job(job_id)
        report = report.model_copy(update={"running_jobs": ()})
    output.result(report, *ending_lines(report))
    raise typer.Exit(_exit_code(report.ending))


def _exit_code(ending: AgentEnding) -> int:
    if ending is AgentEnding.PASSED:
        return PASSED
    if ending is AgentEnding.INTERRUPTED:
        return INTERRUPTED
    return EnvironmentProblem.exit_code if ending is AgentEnding.PROBLEM else NOT_PASSED
