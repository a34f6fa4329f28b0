"""`p2p benchmark`: suites of sentences run, looked at, stopped and gone on with."""

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from p2p.cli.benchmark_comparison import COMPARE_EXAMPLES, compare
from p2p.cli.benchmark_entries import EXPORT_EXAMPLES, VERIFY_EXAMPLES, export, verify
from p2p.cli.benchmark_keeping import DELETE_EXAMPLES, RESTORE_EXAMPLES, delete, restore
from p2p.cli.benchmark_page import PAGE_EXAMPLES, page
from p2p.cli.config import read_config
from p2p.cli.formats import age, share
from p2p.cli.model_options import (
    CandidatesOption,
    CapOption,
    EffortOption,
    JudgeAuthor,
    JudgeModel,
    LightModel,
    Model,
    PriceOption,
    judge_fields,
    model_fields,
    parse_caps,
)
from p2p.cli.options import AsJson, Assignments, BackendName, Detach, RunsDir, SuiteRunName, examples, open_workspace
from p2p.cli.output import Output
from p2p.cli.session_options import (
    USUAL,
    Configs,
    Iterations,
    LogOption,
    PriorityOption,
    StopWhenClear,
    loggers,
    option,
)
from p2p.cli.tables import table
from p2p.contracts.errors import INTERRUPTED, NOT_PASSED, InvalidInput
from p2p.contracts.numbers import duration
from p2p.contracts.suite import CaseResult, NewSuiteRun, Outcome, RunState, Selection, SuiteRunView
from p2p.service.machines.setup import require_training
from p2p.service.sessions.requests import new_session
from p2p.service.suites.results import list_suite_runs, view_suite_run
from p2p.service.suites.revealing import check_revealed
from p2p.service.suites.running import new_suite_run, resume_suite_run, start_suite_run, stop_suite_run
from p2p.service.workspace import Workspace

LOOK_S = 1.0
LONGEST_ERROR = 120
"""Of a session in the table [characters]: `p2p show` has all of it."""
WHAT = "What is run"
WHO = "What is measured"
USUAL_RUN = NewSuiteRun()
COLOURS = {
    Outcome.PASSED: "green",
    Outcome.NOT_PASSED: "yellow",
    Outcome.NOT_TRAINED: "red",
    Outcome.CRASHED: "red",
    Outcome.CAPPED: "red",
    Outcome.TIMED_OUT: "red",
    Outcome.CANCELLED: "red",
    Outcome.SKIPPED: "dim",
    Outcome.OPEN: "",
}

benchmark = typer.Typer(name="benchmark", no_args_is_help=True, help="Suites of sentences with exams, and their runs.")

SuiteArgument = Annotated[
    str, typer.Argument(metavar="SUITE", help="A suite that comes with p2p, or a .toml or .csv file of cases.")
]
SeedList = Annotated[
    str, typer.Option("--seeds", metavar="1,2,3", help="Sessions of each case.", show_default="the suite's")
]
CaseNames = Annotated[
    list[str] | None, typer.Option("--case", help="Only this case; repeatable.", rich_help_panel=WHAT)
]
Categories = Annotated[
    list[str] | None, typer.Option("--category", help="Only this category; repeatable.", rich_help_panel=WHAT)
]
Difficulties = Annotated[
    list[str] | None, typer.Option("--difficulty", help="Only easy, medium or hard; repeatable.", rich_help_panel=WHAT)
]
Environments = Annotated[
    list[str] | None, typer.Option("--env", help="Only this environment; repeatable.", rich_help_panel=WHAT)
]
FromStage = Annotated[
    str, typer.Option("--from-stage", metavar="STAGE", help="Begin with this stage.", rich_help_panel=WHAT)
]
Flat = Annotated[bool, option(NewSuiteRun, "flat", "--flat", rich_help_panel=WHAT)]
RunName = Annotated[str, option(NewSuiteRun, "name", "--name")]
Parallel = Annotated[int, option(NewSuiteRun, "parallel", "--parallel")]
Erratum = Annotated[
    bool, typer.Option("--erratum", help="The suite's exams were corrected: score the recorded rollouts again.")
]
Again = Annotated[bool, typer.Option("--again", help="Sessions that crashed or were cancelled go on too.")]
Trainings = Annotated[int, option(type(USUAL), "n_seeds", "--trainings", rich_help_panel=WHO)]


@benchmark.command(
    epilog=examples(
        "p2p benchmark run basic",
        "p2p benchmark run basic --seeds 1 --case pendulum-balance",
        "p2p benchmark run exotic --model anthropic:claude-opus-5-5 --parallel 4 --detach",
        "p2p benchmark run cases.csv --difficulty easy --flat",
    )
)
def run(  # noqa: PLR0913  typer reads one parameter per option
    suite: SuiteArgument,
    name: RunName = USUAL_RUN.name,
    seeds: SeedList = "",
    case: CaseNames = None,
    category: Categories = None,
    difficulty: Difficulties = None,
    env: Environments = None,
    from_stage: FromStage = "",
    flat: Flat = False,
    parallel: Parallel = USUAL_RUN.parallel,
    model: Model = None,
    light_model: LightModel = None,
    judge_model: JudgeModel = None,
    judge_author: JudgeAuthor = None,
    candidates: CandidatesOption = USUAL.candidates,
    effort: EffortOption = USUAL.effort,
    price: PriceOption = None,
    cap: CapOption = None,
    trainings: Trainings = USUAL.n_seeds,
    configs: Configs = USUAL.n_configs,
    iterations: Iterations = USUAL.max_iterations,
    assignments: Assignments = None,
    stop_when_clear: StopWhenClear = USUAL.stop_when_clear,
    priority: PriorityOption = None,
    log: LogOption = None,
    backend: BackendName = None,
    erratum: Erratum = False,
    detach: Detach = False,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Run a SUITE: a session for each case and seed, then the exam of its policy; begun again, it goes on."""
    ws = open_workspace(runs_dir, backend)
    system = new_session(
        **model_fields(ws.settings, model, light_model, effort, price),
        **judge_fields(judge_model, judge_author),
        candidates=candidates,
        caps=parse_caps(cap or ()),
        n_seeds=trainings,
        n_configs=configs,
        max_iterations=iterations,
        config=read_config(None, assignments or (), None),
        stop_when_clear=stop_when_clear,
        priority=priority or USUAL.priority,
        log=loggers(log) or ws.settings.log,
    )
    asked = new_suite_run(
        name=name,
        seeds=parse_seeds(seeds),
        only=Selection(
            case=tuple(case or ()),
            category=tuple(category or ()),
            difficulty=tuple(difficulty or ()),
            env_id=tuple(env or ()),
        ),
        from_stage=from_stage,
        flat=flat,
        parallel=parallel,
        backend=backend or "",
        system=system,
    )
    require_training(ws)
    follow(ws, Output(as_json), start_suite_run(ws, suite, asked, erratum=erratum), detach=detach)


@benchmark.command("list", epilog=examples("p2p benchmark list"))
def list_runs(as_json: AsJson = False, runs_dir: RunsDir = None) -> None:
    """List the runs of suites, the newest first."""
    views = list_suite_runs(open_workspace(runs_dir))
    lines = {"runs": [view.model_dump(mode="json", exclude={"results"}) for view in views]}
    empty = "No suite has been run here yet. To run one: p2p benchmark run basic"
    Output(as_json).result(lines, _runs_table(views) if views else empty)


@benchmark.command(epilog=examples("p2p benchmark show basic", "p2p benchmark show basic --json"))
def show(name: SuiteRunName, as_json: AsJson = False, runs_dir: RunsDir = None) -> None:
    """Show a run: its stages and gates, and each session with its own verdict and its exam."""
    view = view_suite_run(open_workspace(runs_dir), name)
    Output(as_json).result(view, *run_text(view))


@benchmark.command(epilog=examples("p2p benchmark stop basic"))
def stop(name: SuiteRunName, as_json: AsJson = False, runs_dir: RunsDir = None) -> None:
    """Stop a run and the trainings of its sessions; finished work is kept."""
    view = stop_suite_run(open_workspace(runs_dir), name)
    Output(as_json).result(view, f"Stopped {name}. To go on: p2p benchmark resume {name}")


@benchmark.command(epilog=examples("p2p benchmark resume basic", "p2p benchmark resume basic --again"))
def resume(
    name: SuiteRunName,
    again: Again = False,
    from_stage: FromStage = "",
    parallel: Annotated[int | None, option(NewSuiteRun, "parallel", "--parallel", show_default="as before")] = None,
    detach: Detach = False,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Go on with a run that was stopped or killed, or whose gate failed."""
    ws = open_workspace(runs_dir)
    view = resume_suite_run(ws, name, again=again, from_stage=from_stage, parallel=parallel)
    follow(ws, Output(as_json), view, detach=detach)


benchmark.command(epilog=DELETE_EXAMPLES)(delete)
benchmark.command(epilog=RESTORE_EXAMPLES)(restore)
benchmark.command(epilog=COMPARE_EXAMPLES)(compare)
benchmark.command(epilog=PAGE_EXAMPLES)(page)
benchmark.command(epilog=EXPORT_EXAMPLES)(export)
benchmark.command(epilog=VERIFY_EXAMPLES)(verify)


@benchmark.command(epilog=examples("p2p benchmark reveal p2p-60 revealed.json"))
def reveal(
    suite: SuiteArgument,
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="JSON with the revealed cases.")],
    as_json: AsJson = False,
) -> None:
    """Check that revealed cases are the ones that a suite kept back. Ends with 3 when one is not."""
    found = check_revealed(suite, file)
    lines = [f"{name}: {'as it was kept back' if same else 'not what was kept back'}" for name, same in found.items()]
    Output(as_json).result(found, *lines)
    raise typer.Exit(0 if all(found.values()) else NOT_PASSED)


def follow(ws: Workspace, output: Output, view: SuiteRunView, *, detach: bool = False) -> None:
    """Follow a run to its end, a line for each session that ends; leave with the exit code that says how.

    Args:
        ws: Where it is.
        output: Where it is shown.
        view: The run as it began.
        detach: Whether to leave at once.
    """
    if detach:
        output.result(view, f"Started {view.run.name}. To see it: p2p benchmark show {view.run.name}")
        return
    try:
        view = watch(ws, output, view)
    except KeyboardInterrupt:
        name = view.run.name
        text = f"{name} continues in the background.\n  see it:  p2p benchmark show {name}\n"
        output.console.print(f"{text}  stop it: p2p benchmark stop {name}", soft_wrap=True, markup=False)
        raise typer.Exit(INTERRUPTED) from None
    output.result(view, *run_text(view))
    all_passed = view.state is RunState.ENDED and all(result.passed_itself for result in view.results)
    raise typer.Exit(0 if all_passed else NOT_PASSED)


def watch(ws: Workspace, output: Output, view: SuiteRunView) -> SuiteRunView:
    """Wait until nothing drives a run any more, with a line for each session that ends and each exam."""
    name = view.run.name
    told = {_line(result) for result in view.results}
    while True:
        for result in view.results:
            if (line := _line(result)) not in told and result.outcome.ended:
                told.add(line)
                output.console.print(line, soft_wrap=True, markup=False)
        if view.state is not RunState.RUNNING:
            return view
        begun = time.monotonic()
        view = view_suite_run(ws, name)
        time.sleep(max(LOOK_S, 10 * (time.monotonic() - begun)))  # a run of 300 sessions is looked at less often


def parse_seeds(text: str) -> tuple[int, ...]:
    """Seeds of "1,2,3" or "1-3"; none of an empty text.

    Raises:
        InvalidInput: the text is neither.
    """
    seeds: list[int] = []
    try:
        for part in filter(None, text.split(",")):
            first, _, last = part.partition("-")
            seeds += range(int(first), int(last or first) + 1)
    except ValueError as error:
        raise InvalidInput(f"--seeds {text!r}: expected numbers such as 1,2,3 or 1-3.") from error
    return tuple(dict.fromkeys(seeds))


def run_text(view: SuiteRunView) -> list[RenderableType]:
    """A run as it is shown to people."""
    run = view.run
    tally = view.tally
    spent = sum(view.dollars.values())
    lines = [
        f"{run.name}: {run.suite} version {run.version} ({run.digest[:12]}), {view.state}",
        f"passed by themselves {_of(tally.passed, tally.ended)}; passed the exam {_of(tally.passed_exam, tally.exams)}"
        + (f"; {tally.skipped} skipped" if tally.skipped else ""),
        f"{sum(result.steps for result in view.results):,} steps, "
        f"{duration(sum(result.seconds for result in view.results))} at work"
        + (f", ${spent:.2f}" if view.dollars else ""),
    ]
    if view.state is RunState.INTERRUPTED:
        why = f"It stands still: {view.error}" if view.error else "It stands still."
        lines.append(f"{why} To go on: p2p benchmark resume {run.name}")
    stages = [stage for stage in view.stages if len(view.stages) > 1]
    return [*lines, *([_stages_table(view)] if stages else []), _results_table(view), *_next_steps(view)]


def _next_steps(view: SuiteRunView) -> list[RenderableType]:
    """Commands that show more, in grey."""
    name = view.run.name
    begun = [result for result in view.results if result.status]
    steps = [f"one session: p2p show {begun[0].session_id}"] if begun else []
    if view.tally.ended:
        steps += [f"every case with its video: p2p benchmark page {name}"]
        steps += [f"against another run: p2p benchmark compare OTHER {name}"]
    return [Text("\n".join(steps), style="dim")] if steps else []


def _of(count: int, total: int) -> str:
    return f"{count} of {total} ({share(count / total)})" if total else "– of 0"


def _line(result: CaseResult) -> str:
    """What came last of a session: its own verdict or end, then its exam."""
    where = f"{result.case} seed {result.seed}:"
    if result.exam is not None and result.exam.n_rollouts:
        verdict = "passed its exam" if result.exam.passed else "did not pass its exam"
        return f"{where} {verdict} ({result.exam.n_met} of {result.exam.n_rollouts} rollouts)"
    error = f": {result.error.splitlines()[0]}" if result.error else ""
    by_itself = " by itself" if result.outcome in (Outcome.PASSED, Outcome.NOT_PASSED) else ""
    return f"{where} {result.outcome.replace('_', ' ')}{by_itself}{error}"


def _runs_table(views: tuple[SuiteRunView, ...]) -> Table:
    numbers = ("ended", "passed", "exam", "age")
    made = table("run", "suite", "state", "measured", *numbers, right=numbers)
    for view in views:
        tally = view.tally
        made.add_row(
            view.run.name,
            f"{view.run.suite} v{view.run.version}",
            str(view.state),
            view.run.system.author,
            f"{tally.ended}/{tally.sessions}",
            share(tally.rate),
            share(tally.exam_rate),
            age(view.run.created_at),
        )
    return made


def _stages_table(view: SuiteRunView) -> Table:
    numbers = ("gate", "sessions", "ended", "passed", "exam")
    made = table("stage", "decided", *numbers, right=numbers)
    for stage in view.stages:
        made.add_row(
            stage.name,
            stage.decision or "",
            share(stage.gate),
            str(stage.tally.sessions),
            str(stage.tally.ended),
            share(stage.tally.rate),
            share(stage.tally.exam_rate),
        )
    return made


def _shortened(error: str) -> str:
    return error if len(error) <= LONGEST_ERROR else f"{error[: LONGEST_ERROR - 1]}…"


def _results_table(view: SuiteRunView) -> Table:
    numbers = ("seed", "score", "success", "exam", "iterations", "time")
    made = table("case", "seed", "outcome", *numbers[1:], "error", right=numbers)
    for result in view.results:
        exam = result.exam
        sat = "–" if exam is None else f"{exam.n_met}/{exam.n_rollouts} {'passed' if exam.passed else 'failed'}"
        outcome = result.status if result.outcome is Outcome.OPEN and result.status else result.outcome
        made.add_row(
            result.case,
            str(result.seed),
            Text(outcome.replace("_", " "), style=COLOURS[result.outcome]),
            "–" if result.intent_score is None else f"{result.intent_score:.2f}",
            share(result.success),
            sat,
            str(result.iterations or "–"),
            duration(result.seconds or None),
            Text(_shortened((result.error.splitlines() or [""])[0])),
        )
    return made
