"""What to do next about an iteration, from the measurements of its trainings."""

from p2p.agents.builtin.edits import fines
from p2p.analysis.plateau import advise
from p2p.contracts.advice import Advice, CheckpointPoint, TrainingCourse
from p2p.contracts.judgment import MET_SHARE_NEEDED
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord


def advice_on(record: SessionRecord, number: int) -> tuple[Advice, ...]:
    """Advice on a trained iteration, the most promising first; empty before its trainings have ended."""
    course = course_of(record, number)
    return advise(course) if course is not None else ()


def course_of(record: SessionRecord, number: int) -> TrainingCourse | None:
    """What is known of an iteration's trainings; None before they have ended."""
    iteration = record.iteration(number)
    aggregation = iteration.read_aggregation()
    if aggregation is None:
        return None
    run = IterationRecord(iteration.path / aggregation.best_run_id)
    config, summary = run.read_config(), run.read_summary()
    if config is None or summary is None:
        return None
    intent = record.read_criteria()
    _, evaluations = run.parse_scalars()
    met = {
        criterion.title: max((row.get("criteria_met", {}).get(criterion.key, 0.0) for row in evaluations), default=0.0)
        for criterion in (intent.criteria if intent is not None else ())
        if criterion.required and criterion.predicate is not None
    }
    unreached = tuple(title for title, share in met.items() if share == 0.0) if evaluations else ()
    best = aggregation.configs.get(aggregation.best_config_id)
    seeds = best.per_seed if best is not None else ()
    return TrainingCourse(
        total_timesteps=config.total_timesteps,
        episode_s=config.episode_s,
        judged_s=intent.episode_s if intent is not None else None,
        checkpoints=tuple(
            CheckpointPoint(
                step=row["global_step"], success_rate=row.get("success_rate"), score=row.get("intent_score")
            )
            for row in evaluations
        ),
        dynamics=summary.dynamics,
        silent_terms=_silent_terms(iteration, run) if unreached else (),
        unreached=unreached,
        seed_success=tuple(one.selection_success for one in seeds if one.selection_success is not None),
        net_arch=config.net_arch,
        has_start_states=config.start_states is not None,
        needed=MET_SHARE_NEEDED,
    )


def _silent_terms(iteration: IterationRecord, run: IterationRecord) -> tuple[str, ...]:
    """Terms that were 0 at every step, without those that its check, or its source, shows to be fines."""
    summary, report = run.read_summary(), iteration.read_reward_report()
    seen = {term.name for term in report.terms if term.minimum < 0.0 and term.maximum <= 0.0} if report else set[str]()
    known = seen | fines(iteration.read_reward_source())
    terms = summary.terms if summary is not None else ()
    return tuple(term.name for term in terms if term.minimum == term.maximum == 0.0 and term.name not in known)
