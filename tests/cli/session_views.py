"""A session half way, and the same one at its end."""

from p2p.contracts.intent import Category, Comparison, Criterion, Predicate, Statistic
from p2p.contracts.judgment import CriterionScore, Judgment, Provenance, Verdict
from p2p.contracts.session import (
    Artefacts,
    IterationData,
    RunProgress,
    Session,
    SessionStatus,
    SessionView,
)
from p2p.contracts.training_plan import TrainingPlan

SPEED = Criterion(
    key="speed",
    title="Runs forward",
    description="Mean speed of the torso.",
    category=Category.GAIT,
    predicate=Predicate(
        statistic=Statistic.MEAN,
        feature="velocity_x",
        comparison=Comparison.AT_LEAST,
        threshold=2.0,
        unit="m/s",
        margin=1.0,
    ),
)
UPRIGHT = Criterion(
    key="upright",
    title="Stays upright",
    description="Lowest value of the up-vector.",
    category=Category.POSTURE,
    predicate=Predicate(
        statistic=Statistic.MIN, feature="up", comparison=Comparison.AT_LEAST, threshold=0.5, unit="1", margin=0.5
    ),
    required=False,
)
GRACE = Criterion(
    key="grace", title="Looks graceful", description="For eyes.", category=Category.GAIT, predicate=None, required=False
)
SESSION = Session(
    prompt="run [fast]",
    env_id="HalfCheetah-v5",
    session_id="session_20260403_120000_1a2b3c4d",
    created_at="2026-04-03T12:00:00.000+00:00",
)


def run(seed: int, **changes: object) -> RunProgress:
    """A run at 40 % of its steps, changed by `changes`."""
    values: dict[str, object] = {
        "run_id": f"baseline_seed_{seed}",
        "state": "running",
        "step": 120_000,
        "total_timesteps": 300_000,
        "steps_per_second": 5432.1,
        "eta_s": 33.1,
        "episode_return": 1234.5,
        "returns": (1.0, 2.0, 5.0, 4.0, 8.0),
        "criteria": {"speed": 2.5, "upright": 0.2},
        "success_rate": 0.25,
    }
    return RunProgress.model_validate(values | changes)


def running(
    *runs: RunProgress, step: str = "train", iteration: int = 2, remaining_s: float | None = None
) -> SessionView:
    """The session while its second iteration is trained."""
    return SessionView(
        session=SESSION,
        status=SessionStatus.RUNNING,
        error=None,
        alive=True,
        iteration=iteration,
        step=step,
        runs=runs,
        plan=TrainingPlan(n_runs=6, parallel=2, cores=2),
        remaining_s=remaining_s,
        criteria=(SPEED, UPRIGHT, GRACE),
        best_iteration=1,
        judgment=None,
        history=(data(1, Verdict.FAILED),),
        artefacts=Artefacts(),
    )


def ended() -> SessionView:
    """The session after it passed."""
    change = "reward forward: 1.0 → 2.0 (too slow)"
    return running(run(10), run(11)).model_copy(
        update={
            "status": SessionStatus.PASSED,
            "step": "done",
            "alive": False,
            "best_iteration": 2,
            "judgment": judgment(),
            "history": (data(1, Verdict.FAILED), data(2, Verdict.PASSED, change)),
            "artefacts": Artefacts(policy=f"{SESSION.session_id}/iter_2/baseline_seed_10/checkpoints/300000"),
        }
    )


def judgment() -> Judgment:
    """It runs fast enough in all rollouts, and stays upright in some."""
    return Judgment(
        verdict=Verdict.PASSED,
        intent_score=0.93,
        pass_threshold=0.8,
        success_rate=1.0,
        success_low=0.93,
        success_high=1.0,
        n_rollouts=50,
        criteria=(
            score(SPEED, value=3.21, low=3.1, high=3.32, met_share=1.0),
            score(UPRIGHT, value=None, low=None, high=None, met_share=0.3),
        ),
        rollouts=(),
        diagnosis="Passed: it runs.\n- details",
        provenance=Provenance(judge="code", code_hash="0" * 16),
    )


def score(criterion: Criterion, value: float | None, low: float | None, high: float | None, met_share: float):
    """One criterion, measured."""
    wanted = criterion.predicate
    assert wanted is not None
    return CriterionScore(
        key=criterion.key,
        title=criterion.title,
        required=criterion.required,
        weight=1.0,
        value=value,
        low=low,
        high=high,
        comparison=wanted.comparison,
        threshold=wanted.threshold,
        upper=wanted.upper,
        unit=wanted.unit,
        score=0.9,
        met_share=met_share,
        met=met_share >= 0.8,
    )


def data(iteration: int, verdict: Verdict, *changes: str) -> IterationData:
    """One finished iteration."""
    return IterationData(
        iteration=iteration,
        iteration_dir=f"iter_{iteration}",
        intent_score=0.5,
        verdict=verdict,
        success_rate=0.4,
        diagnosis="Too slow.\n- details",
        failure_tags=(),
        best_run_id="baseline_seed_10",
        best_checkpoint=300_000,
        final_return=10.0,
        elapsed_time_s=75.0,
        changes=changes,
    )
