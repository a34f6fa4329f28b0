"""`p2p run` and `p2p train`: start a session, and follow it to its end."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from p2p.cli.config import choose_environment, read_config
from p2p.cli.follow import follow
from p2p.cli.interrupts import held_back
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
from p2p.cli.options import (
    AllowWeakSandbox,
    AsJson,
    Assignments,
    BackendName,
    ConfigFile,
    Detach,
    EnvId,
    RunsDir,
    StopOnExit,
    Timesteps,
    examples,
    open_workspace,
)
from p2p.cli.output import Output
from p2p.cli.preview import preview_text, summary
from p2p.cli.session_details import advice, report_returns
from p2p.cli.session_options import (
    USUAL,
    Configs,
    FromPolicy,
    Iterations,
    LogOption,
    PassThreshold,
    PriorityOption,
    ResumeOptimizer,
    RewardOnly,
    Rollouts,
    Seed,
    Seeds,
    StopWhenClear,
    loggers,
)
from p2p.cli.verdict import ending
from p2p.contracts.errors import (
    INTERRUPTED,
    NOT_PASSED,
    Ambiguous,
    EnvironmentProblem,
    InvalidInput,
    InvalidReward,
    P2PError,
)
from p2p.contracts.session import NewSession, SessionStatus, SessionView
from p2p.service.jobs.free_space import require_free_disk
from p2p.service.machines.setup import require_training
from p2p.service.progress.details import error_code
from p2p.service.progress.session_view import view_session
from p2p.service.rewards.criteria import clarify
from p2p.service.rewards.writing import elicit_intent
from p2p.service.sessions import lifecycle
from p2p.service.sessions.driving import start_session, stop_session
from p2p.service.sessions.lifecycle import create_session, discard_unstarted
from p2p.service.sessions.requests import new_session
from p2p.service.workspace import Workspace

MOST_QUESTIONS = 3
"""That a person is asked about one sentence."""
SEED_NOTE = "The configuration's seed is ignored: --seed and --seeds choose the seeds."

RUN_EXAMPLES = examples(
    'p2p run "run forward as fast as you can" --env HalfCheetah-v5',
    'p2p run "run at least 4 m/s" --dry-run',
    'p2p run "walk to the left" --env Ant-v5 --seeds 3 --iterations 5 --stop-when-clear',
    'p2p run "hop forward without falling" --env Hopper-v5 --set learning_rate=3e-4 --detach',
    'p2p run "do a backflip, then walk" --env Humanoid-v5 --model anthropic:claude-opus-5-5 --cap dollars=5',
)
TRAIN_EXAMPLES = examples(
    "p2p train --reward reward_fn.py --env Hopper-v5",
    "p2p train --reward faster.py --env Hopper-v5 --from latest",
    "p2p train --reward reward_fn.py --env HalfCheetah-v5 --config config.json --timesteps 200000",
    'p2p train --reward reward_fn.py --env Ant-v5 --intent "walk to the left"',
)

Sentence = Annotated[str, typer.Argument(metavar="SENTENCE", help="What the robot is to do.")]
RewardFile = Annotated[Path, typer.Option("--reward", exists=True, dir_okay=False, help="File with a reward function.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show criteria, reward, configuration, time and cost; train nothing.")
]
IntentSentence = Annotated[
    str, typer.Option("--intent", help="Sentence to judge it by; without one, nothing is judged.")
]


def run(  # noqa: PLR0913  typer reads one parameter per option
    sentence: Sentence,
    env: EnvId = None,
    seed: Seed = USUAL.seed,
    seeds: Seeds = USUAL.n_seeds,
    configs: Configs = USUAL.n_configs,
    reward_only: RewardOnly = USUAL.reward_only,
    iterations: Iterations = USUAL.max_iterations,
    timesteps: Timesteps = None,
    config: ConfigFile = None,
    assignments: Assignments = None,
    stop_when_clear: StopWhenClear = USUAL.stop_when_clear,
    pass_threshold: PassThreshold = USUAL.pass_threshold,
    rollouts: Rollouts = USUAL.n_report_rollouts,
    model: Model = None,
    light_model: LightModel = None,
    judge_model: JudgeModel = None,
    judge_author: JudgeAuthor = None,
    candidates: CandidatesOption = USUAL.candidates,
    effort: EffortOption = USUAL.effort,
    price: PriceOption = None,
    cap: CapOption = None,
    priority: PriorityOption = None,
    log: LogOption = None,
    from_policy: FromPolicy = USUAL.from_policy,
    resume_optimizer: ResumeOptimizer = USUAL.resume_optimizer,
    backend: BackendName = None,
    allow_weak_sandbox: AllowWeakSandbox = False,
    dry_run: DryRun = False,
    detach: Detach = False,
    stop_on_exit: StopOnExit = False,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Turn a SENTENCE into a trained and judged policy."""
    fields = read_config(config, assignments or (), timesteps)
    ws = open_workspace(runs_dir, backend, allow_weak_sandbox)
    output = Output(as_json)
    request = new_session(
        **model_fields(ws.settings, model, light_model, effort, price),
        **judge_fields(judge_model, judge_author),
        candidates=candidates,
        caps=parse_caps(cap or ()),
        prompt=sentence,
        env_id=choose_environment(env, fields),
        seed=seed,
        n_seeds=seeds,
        n_configs=configs,
        reward_only=reward_only,
        max_iterations=iterations,
        pass_threshold=pass_threshold,
        n_report_rollouts=rollouts,
        config=fields,
        stop_when_clear=stop_when_clear,
        priority=priority or USUAL.priority,
        log=loggers(log),
        from_policy=from_policy,
        resume_optimizer=resume_optimizer,
    )
    preview = lifecycle.preview(ws, request)
    if dry_run:
        output.result(preview, *preview_text(preview))
        return
    output.console.print(summary(preview), soft_wrap=True, markup=False)
    begin(ws, output, request, detach=detach, stop_on_exit=stop_on_exit)


def train(  # noqa: PLR0913  typer reads one parameter per option
    reward: RewardFile,
    env: EnvId = None,
    intent: IntentSentence = "",
    seed: Seed = USUAL.seed,
    seeds: Seeds = USUAL.n_seeds,
    timesteps: Timesteps = None,
    config: ConfigFile = None,
    assignments: Assignments = None,
    stop_when_clear: StopWhenClear = USUAL.stop_when_clear,
    pass_threshold: PassThreshold = USUAL.pass_threshold,
    rollouts: Rollouts = USUAL.n_report_rollouts,
    priority: PriorityOption = None,
    log: LogOption = None,
    from_policy: FromPolicy = USUAL.from_policy,
    resume_optimizer: ResumeOptimizer = USUAL.resume_optimizer,
    backend: BackendName = None,
    allow_weak_sandbox: AllowWeakSandbox = False,
    detach: Detach = False,
    stop_on_exit: StopOnExit = False,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Train a reward you wrote, once; with --intent SENTENCE, judge the policy."""
    source = read_source(reward)
    fields = read_config(config, assignments or (), timesteps)
    request = new_session(
        prompt=intent,
        env_id=choose_environment(env, fields),
        seed=seed,
        n_seeds=seeds,
        max_iterations=1,
        pass_threshold=pass_threshold,
        n_report_rollouts=rollouts,
        config=fields,
        stop_when_clear=stop_when_clear,
        priority=priority or USUAL.priority,
        log=loggers(log),
        from_policy=from_policy,
        resume_optimizer=resume_optimizer,
        author="given",
    )
    ws = open_workspace(runs_dir, backend, allow_weak_sandbox)
    output = Output(as_json)
    begin(ws, output, request, source, detach=detach, stop_on_exit=stop_on_exit)


def begin(
    ws: Workspace,
    output: Output,
    request: NewSession,
    reward: str | None = None,
    *,
    detach: bool,
    stop_on_exit: bool,
) -> None:
    """Create a session and follow it to its end; one that nothing was trained in is not left behind.

    Raises:
        P2PError: it is refused, or nothing can be started here.
        InvalidReward: the reward that was handed in cannot be trained.
    """
    if "seed" in request.config:
        output.console.print(SEED_NOTE)

    def create(session_id: str) -> None:
        create_session(ws, request, reward, session_id=session_id)
        require_free_disk(ws)  # after all that is wrong with the request, and before a model is asked
        if ":" in request.author:
            _settle_criteria(ws, output, session_id)

    launch(ws, output, create, detach=detach, stop_on_exit=stop_on_exit)


def launch(ws: Workspace, output: Output, create: Callable[[str], None], *, detach: bool, stop_on_exit: bool) -> None:
    """Have a session created under a new id and follow it to its end; one that nothing was trained in is not left.

    Raises:
        P2PError: it is refused, or nothing can be started here.
        InvalidReward: the reward that was handed in cannot be trained.
    """
    require_training(ws)
    session_id = ws.runs.new_session_id()
    try:
        create(session_id)
    except BaseException as stopped:
        with held_back():
            discard_unstarted(ws, session_id)
            if isinstance(stopped, KeyboardInterrupt):
                output.console.print(f"Interrupted: {session_id} was not started; its files were removed.")
        raise

    def start(name: str) -> None:
        try:
            start_session(ws, name)
        except P2PError:
            discard_unstarted(ws, name)
            raise

    try:
        finish(ws, session_id, output, start, detach=detach, stop_on_exit=stop_on_exit)
    except InvalidReward:
        with held_back():
            discard_unstarted(ws, session_id)
        raise


def finish(
    ws: Workspace,
    session_id: str,
    output: Output,
    start: Callable[[str], object] | None = None,
    *,
    detach: bool = False,
    stop_on_exit: bool = False,
) -> None:
    """Follow a session to its end, show how it ended, and leave with the exit code that says so.

    Args:
        ws: Where it is.
        session_id: Which.
        output: Where it is shown.
        start: What starts its process first; Ctrl-C waits for that, so that what runs is always told.
        detach: Whether to leave once it is started.
        stop_on_exit: Whether Ctrl-C stops it.
    """
    try:
        with held_back() as interrupted:
            if start is not None:
                start(session_id)
        if interrupted():
            raise KeyboardInterrupt
        if detach:
            view = view_session(ws, session_id)
            output.result(view, f"Started {session_id}. To see it: p2p watch {session_id}")
            return
        view = follow(ws, session_id, output)
    except KeyboardInterrupt:
        with held_back():
            # After Ctrl-C: the jobs go on, unless they were to stop with the terminal.
            if stop_on_exit:
                view = stop_session(ws, session_id)
                text = f"Stopped {session_id}; finished work is kept. To go on: p2p resume {session_id}"
            else:
                view = view_session(ws, session_id)
                text = going_on(session_id)
            output.console.print(text, soft_wrap=True)
            if output.as_json:
                output.result(view)
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:  # whoever read has seen enough; the session is told where it is still read
        typer.echo(going_on(session_id), err=True)
        raise
    if view.status is SessionStatus.INVALID_CODE and view.session.author == "given":
        raise InvalidReward(f"{view.error or 'The reward cannot be trained.'}\nNothing was trained.")
    output.result(view, *ending(view, ws.runs.path, report_returns(ws, view), advice(ws, view)))
    raise typer.Exit(exit_code(ws, view))


def exit_code(ws: Workspace, view: SessionView) -> int:
    """What the end of a session means to a shell."""
    if view.status in (SessionStatus.PASSED, SessionStatus.COMPLETED):
        return 0
    if not view.status.finished:  # its caller's next step is awaited
        return NOT_PASSED if view.error else 0
    return error_code(ws, view.session.session_id) if view.status is SessionStatus.ERROR else NOT_PASSED


def _settle_criteria(ws: Workspace, output: Output, session_id: str) -> None:
    """Have a model say what it will be judged by while its person is there, who may be asked back."""
    for _ in range(MOST_QUESTIONS):
        try:
            with output.console.status("asking the model what to judge by …"):
                elicit_intent(ws, session_id)
        except Ambiguous as doubt:
            if output.as_json or not sys.stdin.isatty():
                raise
            clarify(ws, session_id, typer.prompt(doubt.question))
        else:
            return
    elicit_intent(ws, session_id)


def going_on(session_id: str) -> str:
    """What can be done with a session whose terminal is left."""
    return (
        f"{session_id} continues in the background.\n"
        f"  see it:    p2p watch {session_id}\n"
        f"  stop it:   p2p stop {session_id}\n"
        f"  after a stop, go on: p2p resume {session_id}"
    )


def read_source(file: Path) -> str:
    """The text of a reward.

    Raises:
        InvalidInput: it cannot be read.
    """
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{file} is not UTF-8 text: {error}") from error
    except OSError as error:
        raise EnvironmentProblem(f"Cannot read {file}: {error.strerror or error}") from error
