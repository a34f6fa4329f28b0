"""Tools of the reviser: the session's records, and the tiers of its lessons."""

import json
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from p2p.agents.history import SessionHistory, tag_history
from p2p.agents.lessons import in_words, with_tier
from p2p.contracts.base import Contract
from p2p.inference.tool_loop import NoArguments, Tool
from p2p.store.sessions import SessionRecord

MAX_RESULT = 12_000
"""Characters of one result."""


class OneIteration(Contract):
    """Which iteration."""

    iteration: int


class OneRun(OneIteration):
    """Which run; without one, the run that was judged."""

    run_id: str | None = None


class TwoIterations(Contract):
    """Which two."""

    iter_a: int
    iter_b: int


class OneCheckpoint(Contract):
    """Which checkpoint of the newest iteration; without a step, all of them."""

    step: int | None = None
    run_id: str | None = None
    detail: str = "aggregate"


class OneRollout(Contract):
    """Which of the judged rollouts: by its label, or by its place."""

    rollout_label: str | None = "median"
    episode_idx: int | None = None
    iteration: int | None = None


class Best(Contract):
    """How many of the best iterations are shown with their source."""

    top_k: int = 1


class TierChange(Contract):
    """Which lesson, counted from 0, goes to which tier, and why."""

    index: int
    tier: str
    reason: str


def revise_tools(record: SessionRecord, history: SessionHistory) -> list[Tool]:
    """All eleven tools.

    Args:
        record: The session, for what is written: the tiers of lessons.
        history: Its judged iterations.
    """
    look = _Lookup(record, history)
    return [
        _tool(
            "get_iteration_scores", "Scores of all iterations, trend, best source. Look here first.", Best, look.scores
        ),
        _tool("get_strategy_summary", "What kept going wrong over the iterations.", NoArguments, look.strategy),
        _tool(
            "get_experiment_lineage", "The tree of attempts, and the lessons with their tiers.", NoArguments, look.tree
        ),
        _tool("get_iteration_reward_code", "The reward of an iteration, word for word.", OneIteration, look.code),
        _tool(
            "get_iteration_training_dynamics",
            "How a run trained: numbers, warnings, reward terms.",
            OneRun,
            look.dynamics,
        ),
        _tool(
            "compare_iterations",
            "What differs between two iterations, and in what they reached.",
            TwoIterations,
            look.pair,
        ),
        _tool(
            "get_iteration_judgment_detail",
            "The judgment of an iteration, criterion by criterion.",
            OneIteration,
            look.judgment,
        ),
        _tool(
            "get_checkpoint_judgments",
            "How each checkpoint of the newest iteration did.",
            OneCheckpoint,
            look.checkpoints,
        ),
        _tool("get_rollout_judgment", "What was measured in one judged rollout.", OneRollout, look.rollout),
        _tool("get_config_comparison", "How configurations and seeds of an iteration did.", OneIteration, look.configs),
        _tool(
            "update_experiment_lessons",
            "Move a lesson to another tier (HARD, STRONG, SOFT, RETIRED), for a reason.",
            TierChange,
            look.move,
        ),
    ]


class _Lookup:
    """Handlers of the tools."""

    def __init__(self, record: SessionRecord, history: SessionHistory) -> None:
        self._record = record
        self._history = history

    def scores(self, arguments: Best) -> dict[str, Any]:
        scores = self._history.scores()
        ranked = sorted(scores["iterations"], key=lambda row: -(row["score"] or 0.0))[: max(0, min(3, arguments.top_k))]
        sources = {row["iteration"]: self._history.attempt(row["iteration"]).source for row in ranked}
        return {**scores, "best_sources": sources}

    def strategy(self, _: NoArguments) -> dict[str, Any]:
        return self._history.strategy()

    def tree(self, _: NoArguments) -> dict[str, Any]:
        return {**self._history.tree(), "lessons": in_words(self._history.lineage.lessons)}

    def code(self, arguments: OneIteration) -> str:
        return self._history.attempt(arguments.iteration).source

    def dynamics(self, arguments: OneRun) -> dict[str, Any]:
        run = self._history.run(arguments.iteration, arguments.run_id)
        summary = run.read_summary()
        if summary is None:
            return {"note": "This run failed, or is not finished: it has no summary."}
        return {
            "dynamics": summary.dynamics,
            "warnings": summary.warnings,
            "early_stop": summary.early_stop,
            "terms": summary.terms,
            "trained_with": run.read_config(),
        }

    def pair(self, arguments: TwoIterations) -> dict[str, Any]:
        return self._history.compare(arguments.iter_a, arguments.iter_b)

    def judgment(self, arguments: OneIteration) -> dict[str, Any]:
        attempt = self._history.attempt(arguments.iteration)
        known = {row["iteration"] for row in self._history.scores()["iterations"]}
        history = [self._history.attempt(n) for n in range(1, arguments.iteration + 1) if n in known]
        shown = attempt.judgment.model_dump(mode="json", exclude={"rollouts"})
        return {**shown, "failure_tag_history": tag_history(history)}

    def checkpoints(self, arguments: OneCheckpoint) -> list[dict[str, Any]]:
        _, rows = self._history.run(self._history.newest, arguments.run_id).parse_scalars()
        chosen = [row for row in rows if arguments.step in (None, row.get("global_step"))]
        if arguments.detail == "aggregate":
            wanted = ("global_step", "intent_score", "success_rate", "mean_return", "std_return")
            return [{name: row[name] for name in wanted if name in row} for row in chosen]
        return [dict(row) for row in chosen]

    def rollout(self, arguments: OneRollout) -> dict[str, Any]:
        rollouts = self._history.attempt(arguments.iteration or self._history.newest).judgment.rollouts
        if arguments.episode_idx is not None and 0 <= arguments.episode_idx < len(rollouts):
            return rollouts[arguments.episode_idx].model_dump(mode="json")
        found = [rollout for rollout in rollouts if rollout.label == arguments.rollout_label]
        if found:
            return found[0].model_dump(mode="json")
        labels = [rollout.label for rollout in rollouts if rollout.label]
        return {"note": f"There is no such rollout. There are {len(rollouts)}, of which {labels} have labels."}

    def configs(self, arguments: OneIteration) -> dict[str, Any]:
        return self._history.configs(arguments.iteration)

    def move(self, arguments: TierChange) -> str:
        lineage = self._history.lineage
        lessons = with_tier(lineage.lessons, arguments.index, arguments.tier, arguments.reason)
        self._record.save_lineage(lineage.model_copy(update={"lessons": lessons}))
        return in_words(lessons)


def _tool(name: str, description: str, arguments: type[Contract], handler: Callable[[Any], object]) -> Tool:
    def answer(given: Any) -> str:
        found = handler(given)
        text = found if isinstance(found, str) else json.dumps(found, default=_plain)
        return text if len(text) <= MAX_RESULT else f"{text[:MAX_RESULT]} … cut; ask for less"

    return Tool(name, description, arguments, answer)


def _plain(value: object) -> object:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else str(value)
