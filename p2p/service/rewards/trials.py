"""Short trainings of candidate rewards: length, budget, and result."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from p2p.contracts.reward import Candidate, CandidateState, RewardDraft, RewardReport
from p2p.contracts.session import NewSession
from p2p.contracts.training import RunResult, RunSummary, TrainConfig
from p2p.service.training.plan import base_config, first_config, run_configs

SHARE = 0.1
"""Of the steps of one training of the session."""
PREFERRED = (
    CandidateState.TRAINED,
    CandidateState.ACCEPTED,
    CandidateState.NO_ROOM,
    CandidateState.FAILED,
    CandidateState.REFUSED,
    CandidateState.UNWRITTEN,
)
FEWEST = 2
"""Fewer than these are not trained: there is nothing to compare."""


@dataclass(frozen=True, slots=True)
class TrialSteps:
    """Environment steps for training a candidate."""

    trial: int
    """Steps of the short training."""
    whole: int
    """Steps of all trainings of the iteration, if the candidate is chosen."""


def trial_config(session: NewSession, draft: RewardDraft) -> TrainConfig:
    """Configuration of a short training: the usual one with fewer steps and one evaluation at the end.

    The steps are the same for all candidates, as far as whole rollouts allow; so is the seed, and with it the
    selection rollouts.

    Raises:
        InvalidConfig: what the candidate asks for cannot be trained.
    """
    whole = first_config(session, draft)
    rollout = whole.n_envs * whole.n_steps
    wanted = SHARE * base_config(session, RewardDraft(source="")).total_timesteps
    steps = rollout * max(1, math.ceil(wanted / rollout))
    return whole.model_copy(update={"total_timesteps": steps, "num_evals": 1})


def steps_of(session: NewSession, draft: RewardDraft) -> TrialSteps:
    """Environment steps for training a candidate, without variants, which are dropped if they do not fit.

    Raises:
        InvalidConfig: what it asks for cannot be trained.
    """
    configs = run_configs(session, draft.model_copy(update={"variants": ()})).values()
    trial = trial_config(session, draft).total_timesteps
    return TrialSteps(trial=trial, whole=sum(config.total_timesteps for config in configs))


def affordable(wanted: Mapping[int, TrialSteps], left: int | None) -> tuple[int, ...]:
    """Numbers of the candidates to train, leaving enough steps to train any chosen one in full.

    Args:
        wanted: Candidate -> what its training takes.
        left: Environment steps the session may still take; None without a cap.
    """
    if left is None:
        return tuple(wanted)
    possible = {number: steps for number, steps in wanted.items() if steps.trial + steps.whole <= left}
    reserved = max((steps.whole for steps in possible.values()), default=0)
    chosen: list[int] = []
    used = 0
    for number, steps in possible.items():
        if used + steps.trial + reserved <= left:
            chosen.append(number)
            used += steps.trial
    return tuple(chosen)


def described(number: int, draft: RewardDraft, report: RewardReport, *, mended: bool) -> Candidate:
    """Candidate with the result of its check."""
    return Candidate(
        number=number,
        reasoning=draft.reasoning,
        terms=tuple(term.name for term in report.terms),
        mended=mended,
        state=CandidateState.ACCEPTED if report.accepted else CandidateState.REFUSED,
        findings=tuple(f"{issue.severity}: {issue.message}" for issue in report.issues),
        problem="" if report.accepted else "; ".join(report.errors),
    )


def measured(candidate: Candidate, result: RunResult, summary: RunSummary | None) -> Candidate:
    """Candidate with the result of its short training."""
    completed = result.status == "completed"
    return candidate.model_copy(
        update={
            "state": CandidateState.TRAINED if completed else CandidateState.FAILED,
            "environment_steps": summary.total_timesteps if summary is not None else None,
            "score": result.selection_score,
            "success_rate": result.selection_success,
            "episode_return": result.selection_return,
            "problem": result.error or "",
        }
    )


def best_of(candidates: Sequence[Candidate]) -> Candidate:
    """Trained candidate with the highest judge score, then return; the earliest among equals.

    Where none was trained: one that could be, or at least one that needs the fewest corrections.
    """
    return max(candidates, key=_merit)


def _merit(candidate: Candidate) -> tuple[int, float, float, int, int]:
    errors = sum(finding.startswith("error") for finding in candidate.findings)
    return (
        -PREFERRED.index(candidate.state),
        candidate.score if candidate.score is not None else -1.0,
        candidate.episode_return if candidate.episode_return is not None else -math.inf,
        -errors,
        -candidate.number,
    )
