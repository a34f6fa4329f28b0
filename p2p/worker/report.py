"""The verb `evaluate`: report rollouts of one checkpoint, which nobody selected on, and their pictures."""

from pathlib import Path

from p2p.analysis.predicates import measure
from p2p.analysis.scoring import score
from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidInput
from p2p.contracts.intent import Intent
from p2p.contracts.rollout import Evaluation, Purpose, first_seed
from p2p.contracts.training import TrainConfig
from p2p.contracts.work import EvaluateRequest
from p2p.store.arrays import save_arrays, save_features
from p2p.store.evaluations import ReportRecord
from p2p.store.iterations import IterationRecord
from p2p.worker.evaluate import RecordedRollout, judged_config, labelled, run_episodes, trajectory
from p2p.worker.pictures import film
from p2p.worker.policy import load_policy
from p2p.worker.reward_loader import LoadedReward
from p2p.worker.simulation import compiled_model


def report(job_dir: Path) -> None:
    """Run the report rollouts a request in `job_dir` asks for, and write them with their pictures.

    The trained reward is run for the returns; criteria are measured on features alone.

    Raises:
        InvalidInput: the request, the environment, or the run it names is missing or broken.
        RewardFailed: the reward raised, or returned what is not a finite number.
    """
    record, job = ReportRecord(job_dir), IterationRecord(job_dir)
    request, spec = record.read_request(), job.read_env_spec()
    if request is None or spec is None:
        raise InvalidInput(f"{job_dir} holds no readable request with the facts of its environment.")
    run = IterationRecord((job_dir / request.run_dir).resolve())
    config, intent = run.read_config(), job.read_criteria()
    if config is None:
        raise InvalidInput(f"{run.config_path} is missing or not valid: the run cannot be evaluated.")
    rollouts = _run(request, run, config, spec, intent)
    labels = labelled(_order(rollouts, intent, spec.dt))
    _save(record, request, config, spec, rollouts, labels)


def _run(
    request: EvaluateRequest, run: IterationRecord, config: TrainConfig, spec: EnvSpec, intent: Intent | None
) -> list[RecordedRollout]:
    policy = load_policy(run.checkpoint(request.checkpoint).policy_path)
    first = first_seed(Purpose.REPORT, config.seed)
    reward = LoadedReward.from_file(run.reward_fn_path)
    seeds = range(first, first + request.n_rollouts)
    return run_episodes(judged_config(config, intent), spec, policy, seeds, reward)


def _order(rollouts: list[RecordedRollout], intent: Intent | None, dt: float) -> list[tuple[float, ...]]:
    """What the percentiles are taken of: the intent score, and the return where it is equal or unknown."""
    returns = [rollout.episode_return for rollout in rollouts]
    if intent is None:
        return [(value,) for value in returns]
    measured = [measure(intent, rollout.features, dt) for rollout in rollouts]
    scores = score(intent, measured, [rollout.summary() for rollout in rollouts])
    marks = [rollout.intent_score for rollout in scores.rollouts] or [0.0] * len(rollouts)
    return list(zip(marks, returns, strict=True))


def _save(
    record: ReportRecord,
    request: EvaluateRequest,
    config: TrainConfig,
    spec: EnvSpec,
    rollouts: list[RecordedRollout],
    labels: dict[int, str],
) -> None:
    """Numbers first, pictures last: a judge needs none."""
    model = compiled_model(spec, config.env_kwargs)
    save_features(record.features_path, [rollout.features for rollout in rollouts])
    for index, label in labels.items():
        path = record.trajectory(request.checkpoint, label)
        save_arrays(path, trajectory(rollouts[index], spec, model))
    record.save_evaluation(
        Evaluation(
            run_id=request.run_id,
            checkpoint=request.checkpoint,
            purpose=Purpose.REPORT,
            dt=spec.dt,
            rollouts=tuple(rollout.summary(labels.get(index)) for index, rollout in enumerate(rollouts)),
        )
    )
    film(
        spec, model, [(record.trajectory(request.checkpoint, label), record.video(label)) for label in labels.values()]
    )
