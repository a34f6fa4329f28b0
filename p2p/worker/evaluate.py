"""Verb `evaluate`: rollouts of one checkpoint that were not used to choose it: of its report with pictures, or exam."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import mujoco

from p2p.analysis.scoring import Scores
from p2p.contracts.env import EnvSpec, without_hash
from p2p.contracts.errors import InvalidInput
from p2p.contracts.intent import Intent, score_in_words
from p2p.contracts.training import Evaluation, Purpose, Robustness, TrainConfig, first_seed
from p2p.contracts.work import EvaluateRequest
from p2p.store.arrays import save_arrays, save_features
from p2p.store.evaluations import ReportRecord
from p2p.store.iterations import IterationRecord
from p2p.store.pictures import SheetRecord
from p2p.store.policy import NumpyPolicy, load_policy
from p2p.worker.engine.environment import compiled_model
from p2p.worker.render.find_renderer import draws
from p2p.worker.reward.hosted import HostedReward
from p2p.worker.reward.inputs import asked_by
from p2p.worker.rollout.episodes import (
    LABELS,
    judged_config,
    judged_order,
    labelled,
    run_episodes,
    scores_of,
    trajectory,
)
from p2p.worker.sandbox import levels


@dataclass(frozen=True, slots=True)
class EvaluationInputs:
    """Inputs of an evaluation."""

    record: ReportRecord
    request: EvaluateRequest
    run: IterationRecord
    config: TrainConfig
    spec: EnvSpec
    intent: Intent | None


def evaluate(job_dir: Path) -> None:
    """Run and write the rollouts that a request in `job_dir` asks for; those of a report with their pictures.

    The trained reward is run for the returns; criteria are measured on features alone.

    Raises:
        InvalidInput: the request, the environment, or the run it names is missing or broken.
        RewardFailed: the reward raised, or returned what is not a finite number.
    """
    job = _open(job_dir)
    policy = load_policy(job.run.checkpoint(job.request.checkpoint).policy_path)
    reward = HostedReward.from_file(job.run.reward_fn_path)
    exam = job.request.exam_seed
    first = exam if exam is not None else first_seed(Purpose.REPORT, job.config.seed) + job.request.seed_offset
    seeds = range(first, first + job.request.n_rollouts)
    rollouts = run_episodes(
        judged_config(job.config, job.intent), job.spec, policy, seeds, reward, asked_by(job.intent, job.spec)
    )
    scores = scores_of(job.intent, rollouts, job.spec) if job.intent is not None else None
    labels = labelled(judged_order(rollouts, scores)) if exam is None else {}
    model = compiled_model(job.spec, job.config.env_kwargs, job.config.terrain)
    record = job.record
    step = job.request.checkpoint
    save_features(record.features_path, [rollout.features for rollout in rollouts])
    for index, label in labels.items():
        save_arrays(record.trajectory(step, label), trajectory(rollouts[index], job.spec, model))
    record.save_evaluation(
        Evaluation(
            run_id=job.request.run_id,
            checkpoint=step,
            purpose=Purpose.REPORT if exam is None else Purpose.EXAM,
            dt=job.spec.dt,
            sandbox=levels.current(),
            rollouts=tuple(rollout.summary(labels.get(index)) for index, rollout in enumerate(rollouts)),
            robustness=_robustness(job, policy, seeds) if exam is None else None,
        )
    )
    if exam is None and draws():
        _picture(job, model, shown_as(scores, labels))


def _robustness(job: EvaluationInputs, policy: NumpyPolicy, seeds: Sequence[int]) -> Robustness | None:
    """The same episodes with robots drawn as in training; None where nothing is drawn, or code can measure nothing."""
    if job.intent is None or job.config.randomisation is None:
        return None
    config = judged_config(job.config, job.intent)
    rollouts = run_episodes(
        config, job.spec, policy, seeds, extra_features=asked_by(job.intent, job.spec), randomise=True
    )
    scores = scores_of(job.intent, rollouts, job.spec)
    if scores.success_rate is None or scores.low is None or scores.high is None:
        return None
    return Robustness(success_rate=scores.success_rate, low=scores.low, high=scores.high, n_rollouts=len(rollouts))


def _open(job_dir: Path) -> EvaluationInputs:
    record = ReportRecord(job_dir)
    job = IterationRecord(job_dir)
    request = record.read_request()
    spec = job.read_env_spec()
    if request is None or spec is None:
        raise InvalidInput(f"{job_dir} holds no readable request with the facts of its environment.")
    run = IterationRecord((job_dir / request.run_dir).resolve())
    config = run.read_config()
    if config is None:
        raise InvalidInput(f"{run.config_path} is missing or not valid: the run cannot be evaluated.")
    return EvaluationInputs(record, request, run, config, spec, job.read_criteria())


def shown_as(scores: Scores | None, labels: dict[int, str]) -> str:
    """Description of the rollout on the contact sheet: the middle one of the judged."""
    if scores is None:
        return "median by return"
    if not scores.rollouts:
        return "drawn by p2p"
    median = next(scores.rollouts[index] for index, label in labels.items() if label == "median")
    return f"median by score ({score_in_words(median.intent_score)}{'' if median.success else ', misses a criterion'})"


def _picture(job: EvaluationInputs, model: mujoco.MjModel, shown: str) -> None:
    """Write videos of the kept rollouts, and two pictures for the report's iteration."""
    from p2p.worker.pictures.report_pictures import (  # noqa: PLC0415  half a second, which an exam does not need
        film,
        picture_learning,
        picture_rollout,
    )

    step = job.request.checkpoint
    prompt = f": {job.intent.prompt}" if job.intent else ""
    robot = without_hash(job.spec.env_id)
    films = [(job.record.trajectory(step, label), job.record.video(label)) for label in LABELS]
    film(job.spec, model, films)
    median = job.record.trajectory(step, "median")
    picture_rollout(SheetRecord(job.record.path), job.spec, model, median, f"{robot}, {shown}{prompt}")
    siblings = [IterationRecord((job.record.path / name).resolve()) for name in job.request.sibling_runs]
    picture_learning(job.record.learning_curve_path, [job.run, *siblings], f"{robot}{prompt}")
