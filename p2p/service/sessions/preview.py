"""Preview of a session: criteria, first reward, configuration, and effort."""

from collections.abc import Iterable, Mapping
from statistics import median

from p2p.contracts.env import EnvSpec
from p2p.contracts.intent import Preview, Understanding
from p2p.contracts.reward import RewardDraft
from p2p.contracts.session import NewSession
from p2p.service.training.plan import run_configs
from p2p.store.sessions import RunsDirectory
from p2p.training.speeds import STEPS_PER_SECOND

LOOKED_AT = 10
"""Newest sessions whose trainings tell how fast this machine is."""
MEASURES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("speed", ("velocity_x", "velocity_y", "speed", "forward_velocity", "velocity_error")),
    ("where it is", ("displacement", "displacement_x", "displacement_y")),
    ("height of the trunk", ("height", "height_error")),
    ("leaning and falling", ("up", "pitch", "roll")),
    ("turning about the vertical", ("yaw", "yaw_turns", "yaw_rate", "yaw_rate_error", "heading_error")),
    ("leaving the floor", ("airborne", "clearance")),
    ("feet on the floor", ("feet_down",)),
    ("trunk on the floor", ("torso_contact",)),
    ("joint speeds", ("joint_speed",)),
    ("motor effort", ("control_effort",)),
    ("smoothness of the motors", ("action_rate",)),
)
"""What is measured in words -> the features that measure it."""


def preview_of(
    request: NewSession,
    spec: EnvSpec,
    understood: Understanding | None,
    draft: RewardDraft | None,
    runs: RunsDirectory,
    slots: int,
) -> Preview:
    """Preview of a session.

    Args:
        request: What is asked for.
        spec: Its environment.
        understood: What its author makes of the sentence; None where a language model would say that.
        draft: The first reward; None where a language model would write it.
        runs: Earlier trainings, which tell how fast this machine is.
        slots: Trainings that run at a time.
    """
    configs = run_configs(request, draft or RewardDraft(source=""))
    config = next(iter(configs.values()))
    n_runs = len(configs)
    speed, source = _speed(runs, request.env_id)
    rounds = -(-n_runs // max(1, min(slots, n_runs)))
    not_judged = []
    if understood is not None:
        read = {name for criterion in understood.intent.criteria for name in _features(criterion.model_dump())}
        known = set(spec.feature_names)
        not_judged = [words for words, names in MEASURES if known & set(names) and not read & set(names)]
    models = [name for name in (request.author, request.judge_model, request.judge_author) if ":" in name]
    cost = "nothing but this machine's time: no model is asked"
    if models:
        cap = request.caps.dollars
        limit = f"at most {cap:g} dollars" if cap is not None else "no limit is set"
        cost = f"{', '.join(dict.fromkeys(models))} is asked in each iteration; {limit}"
    return Preview(
        prompt=request.prompt,
        env_id=request.env_id,
        author=request.author,
        intent=understood.intent if understood is not None else None,
        left_over=understood.left_over if understood is not None else (),
        assumed=understood.assumed if understood is not None else (),
        not_judged=tuple(not_judged),
        terms=understood.terms if understood is not None else (),
        reward=draft.source if draft is not None else "",
        config=config.model_dump(mode="json"),
        n_runs=n_runs,
        total_timesteps=config.total_timesteps,
        max_iterations=request.max_iterations,
        training_episode_s=round(config.episode_steps(spec.dt) * spec.dt, 3),
        expected_s=None if speed is None else round(rounds * config.total_timesteps / speed, 1),
        expected_from=source,
        cost=cost,
    )


def _speed(runs: RunsDirectory, env_id: str) -> tuple[float | None, str]:
    """Environment steps per second of one training, with the source of the measurement."""
    here = []
    for record in runs.sessions()[:LOOKED_AT]:
        iterations = record.iteration_records() if record.read_session().env_id == env_id else []
        for run in (run for iteration in iterations for run in iteration.runs()):
            summary = run.read_summary()
            if summary is not None and summary.steps_per_second > 0:
                here.append(summary.steps_per_second)
    if here:
        return median(here), f"{len(here)} earlier trainings here"
    if env_id in STEPS_PER_SECOND:
        return STEPS_PER_SECOND[env_id], "two cores of another machine; none was trained here yet"
    return None, "no training of this environment was measured yet"


def _features(value: object) -> Iterable[str]:
    """Names of all features a criterion reads."""
    if isinstance(value, Mapping):
        if isinstance(value.get("feature"), str):
            yield value["feature"]
        for part in value.values():
            yield from _features(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _features(part)
