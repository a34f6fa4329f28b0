"""Train an iteration: configurations × seeds."""

from collections.abc import Sequence

from p2p.contracts.background import StartTraining
from p2p.contracts.errors import TrainingFailed
from p2p.contracts.reward import RewardDraft
from p2p.contracts.session import EventName, Session
from p2p.contracts.start_policy import StartPolicy
from p2p.contracts.training import IterationAggregation, TrainConfig
from p2p.contracts.training_plan import TrainingPlan
from p2p.scheduler.resources import JOB_MEMORY_MB
from p2p.service.jobs.free_space import require_free_disk, require_free_memory
from p2p.service.jobs.waiting import let_others_go
from p2p.service.jobs.worker_jobs import ERRORS, last_line, worker_job
from p2p.service.models.session_models import require_steps
from p2p.service.training.aggregation import aggregate, run_result
from p2p.service.training.checkpoint_events import CheckpointJudgments
from p2p.service.training.environments import describe_environment, environment_of
from p2p.service.training.plan import run_configs, session_for
from p2p.service.training.start_policies import require_fit, settle_start
from p2p.service.workspace import Workspace
from p2p.store.iterations import IterationRecord, save_inputs
from p2p.store.sessions import SessionRecord
from p2p.training.trainer import Trainer


def train(ws: Workspace, session_id: str, number: int) -> IterationAggregation:
    """Train every untrained run of iteration `number`.

    Raises:
        TrainingFailed, InvalidInput, EnvironmentProblem: no run reached its end; the message holds the first error.
    """
    record = ws.record(session_id)
    iteration = record.iteration(number)
    if (aggregation := settled_aggregation(iteration)) is not None:
        return aggregation
    iteration.forget_aggregation()  # of checkpoints that were looked at while nothing trained it
    runs = _prepare(ws, record, iteration)
    require_steps(record, [run for run in runs if run.read_summary() is None])
    configs, plan = plan_runs(ws, runs)
    iteration.save_plan(plan)
    with record.events.span(
        EventName.TRAIN_START,
        EventName.TRAIN_END,
        number,
        num_runs=len(runs),
        parallel=plan.parallel,
        cores=plan.cores,
        env_id=configs[0].env_id,
        total_timesteps=configs[0].total_timesteps,
    ) as result:
        job = worker_job("train", plan.threads, ws.settings.max_memory_share, record.read_session().priority)
        checkpoints = CheckpointJudgments(record, number, runs, record.touch_heartbeat)
        first_look = True

        def look() -> None:
            nonlocal first_look
            if first_look:  # the first runs have taken over the place in the queue that their job kept for them
                let_others_go(record)
                first_look = False
            checkpoints.look()

        Trainer(ws.training_backend, job, plan.parallel, look).train(runs)
        checkpoints.look()
        aggregation = aggregate(runs)
        if aggregation is None:
            # Error of an iteration without a finished run; of the runs' own kind if they all failed alike.
            codes = {status.exit_code if (status := run.read_status()) is not None else None for run in runs}
            kind = ERRORS.get(codes.pop(), TrainingFailed) if len(codes) == 1 else TrainingFailed
            first = last_line(run_result(runs[0]).error)
            raise kind(f"No run of iteration {number} reached its end. {runs[0].iteration_id}: {first}")
        # Emit warnings about suspicious trainings.
        for run in runs:
            summary = run.read_summary()
            for message in summary.warnings if summary is not None else ():
                record.events.emit(EventName.GUARDRAIL, number, run_id=run.iteration_id, message=message)
        iteration.save_aggregation(aggregation)
        result |= {"num_runs": len(runs), "best_run_id": aggregation.best_run_id}
    return aggregation


def plan_runs(ws: Workspace, runs: Sequence[IterationRecord]) -> tuple[list[TrainConfig], TrainingPlan]:
    """Configurations of runs, and the plan that divides the cores among them.

    Raises:
        StorageProblem, EnvironmentProblem: there is no room for them on this machine.
    """
    configs = [config for run in runs if (config := run.read_config()) is not None]
    require_free_disk(ws)
    needed_mb = require_free_memory(ws, configs, describe_environment(ws, configs[0].env_id))
    # Cores in use: one per run; half of all cores if there are fewer runs than that. The other half is for the
    # trainings of another session, which would else wait for the end of these: a core is owned by one run. They take
    # all cores where there is memory for no further training.
    n_runs = len(runs)
    there = ws.training_backend.capacity(max(JOB_MEMORY_MB, needed_mb))
    allowed = ws.settings.max_parallel or there.runs
    parallel = min(n_runs, allowed, max(there.cores, there.runs))  # more would only wait for a core
    share = there.cores // 2 if there.runs > parallel else there.cores
    usable = min(ws.settings.max_parallel or there.cores, share, parallel * there.cores_per_run)
    return configs, TrainingPlan(n_runs=n_runs, parallel=parallel, cores=max(parallel, usable))


def _prepare(ws: Workspace, record: SessionRecord, iteration: IterationRecord) -> list[IterationRecord]:
    """Write the inputs of each run, unless written already."""
    session = session_for(record, iteration.number)
    intent = record.read_criteria()
    draft = iteration.read_draft()
    assert draft is not None, "an iteration is trained after its reward is written"
    spec = environment_of(ws, session, intent)
    request = iteration.read_training_request()
    configs = request.configs if request is not None else None
    policy = settle_start(record, iteration)
    if configs is None:
        configs = configs_by_run(iteration, session, draft, request.start if request is not None else None, policy)
    if policy is not None:
        require_fit(policy, configs.values())
    runs = []
    for name, config in configs.items():
        run = IterationRecord(iteration.path / name)
        runs.append(run)
        if run.read_config() is None:
            run.start_policy.copy_from(iteration.start_policy)
            save_inputs(run, draft.source, spec, config, intent)
    return runs


def configs_by_run(
    iteration: IterationRecord,
    session: Session,
    draft: RewardDraft,
    start: StartTraining | None,
    policy: StartPolicy | None = None,
) -> dict[str, TrainConfig]:
    """Configuration of every run of an iteration, by the run's name.

    Raises:
        InvalidConfig: a key is misspelt or a value is out of range.
    """
    return {
        (name := iteration.run(*key).iteration_id): config.model_copy(update={"iteration_id": name})
        for key, config in run_configs(session, draft, start, policy).items()
    }


def settled_aggregation(iteration: IterationRecord) -> IterationAggregation | None:
    """Results of the runs; None if they still have to be trained to their end.

    Checkpoints of runs that ended early count for good once the iteration has been judged by them.
    """
    aggregation = iteration.read_aggregation()
    if aggregation is not None and aggregation.by_checkpoints and iteration.read_judgment() is None:
        return None
    return aggregation
