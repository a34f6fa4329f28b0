"""Records that tests need and do not look into: each with usual values, of which a test names those that matter."""

from typing import Any

from p2p.contracts.intent import Comparison
from p2p.contracts.judgment import CriterionScore, Judgment, Provenance, Verdict
from p2p.contracts.training import RunSummary


def run_summary(**fields: Any) -> RunSummary:
    """Of a training of 1,000 steps that chose nothing."""
    usual: dict[str, Any] = {
        "total_timesteps": 1000,
        "training_time_s": 1.0,
        "final_episodic_return": 1.0,
        "total_episodes": 10,
        "steps_per_second": 1000.0,
        "best_checkpoint": None,
        "best_selection_score": None,
        "best_selection_success": None,
        "best_selection_return": 1.0,
    }
    return RunSummary(**usual | fields)


def judgment(**fields: Any) -> Judgment:
    """Of 50 rollouts, none of which met what was asked."""
    usual: dict[str, Any] = {
        "verdict": Verdict.FAILED,
        "intent_score": 0.4,
        "pass_threshold": 0.8,
        "success_rate": 0.0,
        "success_low": 0.0,
        "success_high": 0.1,
        "n_rollouts": 50,
        "criteria": (),
        "rollouts": (),
        "diagnosis": "It falls.",
        "provenance": Provenance(judge="code", code_hash="0" * 16),
    }
    return Judgment(**usual | fields)


def criterion_score(**fields: Any) -> CriterionScore:
    """Of a required lower bound that every rollout meets."""
    usual: dict[str, Any] = {
        "key": "speed",
        "title": "Speed",
        "required": True,
        "weight": 1.0,
        "value": 2.0,
        "low": 1.5,
        "high": 2.5,
        "comparison": Comparison.AT_LEAST,
        "threshold": 1.0,
        "upper": None,
        "unit": "m/s",
        "score": 1.0,
        "met_share": 1.0,
        "met": True,
    }
    return CriterionScore(**usual | fields)
