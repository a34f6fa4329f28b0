"""Hyperparameter variants that a model proposes beside its plan."""

import json
from collections.abc import Mapping, Sequence

from pydantic import Field

from p2p.agents.model.asking import Role, RoleQuestion
from p2p.contracts.base import Contract
from p2p.contracts.errors import InvalidConfig
from p2p.contracts.inference import ReplyMalformed
from p2p.contracts.reward import ConfigVariant
from p2p.contracts.training import TrainConfig
from p2p.prompts import render
from p2p.training.tuning import BOUNDS, VARIED
from p2p.training.variants import varied

DIRECTIVES: dict[str, str] = {
    "another_way": "a cause the plan does not address: change what it leaves alone",
    "conservative": "smaller and steadier updates than the base",
    "aggressive": "larger updates, or more of them, than the base",
    "balanced": "half-way between the base and what did best so far, or a small correction of two fields",
    "exploring": "more exploration than the base",
    "patient": "returns that reach further into the future, or longer rollouts",
    "larger": "another network, or other normalisation",
}
"""What the variants try, in the order in which they are asked for."""


class VariantProposal(Contract):
    """One variant."""

    directive: str
    """Name of the directive it answers."""
    config_changes: dict[str, object] = Field(min_length=1, max_length=3)
    reason: str = Field(default="", max_length=500)


class Proposals(Contract):
    """One variant for each directive."""

    variants: tuple[VariantProposal, ...] = Field(min_length=1, max_length=len(DIRECTIVES))


class Variation:
    """What to vary, and limits of a variant.

    Args:
        base: Configuration of the plan.
        n_variants: How many are wanted.
        pinned: Fields that a person fixed.
        taken: Names of configurations that are there already.
    """

    def __init__(self, base: TrainConfig, n_variants: int, pinned: Sequence[str], taken: Sequence[str]) -> None:
        self.base = base
        self.pinned = tuple(pinned)
        free = [name for name in DIRECTIVES if name not in taken]
        self.directives = {name: DIRECTIVES[name] for name in free[:n_variants]}

    def problems(self, proposals: Proposals) -> list[str]:
        """Problems for the model to fix."""
        found = []
        for proposal in proposals.variants:
            try:
                self._config(proposal)
            except InvalidConfig as error:
                found.append(f"{proposal.directive}: {error}")
        given = [proposal.directive for proposal in proposals.variants]
        if sorted(given) != sorted(self.directives):
            found.append(f"Give one variant for each of {', '.join(self.directives)}; got {', '.join(given)}.")
        if not found:
            configs = [self._config(proposal).model_dump_json() for proposal in proposals.variants]
            alike = [name for name, config in zip(given, configs, strict=True) if configs.count(config) > 1]
            found += [f"The variants {', '.join(alike)} are the same."] if alike else []
        return found

    def _config(self, proposal: VariantProposal) -> TrainConfig:
        return varied(self.base, proposal.config_changes, self.pinned)


def propose_variants(role: Role, variation: Variation, plan: Mapping[str, object]) -> tuple[ConfigVariant, ...]:
    """Variants of the plan's configuration to train; none if the model gives none of use.

    Args:
        role: Who proposes.
        variation: What is varied.
        plan: Diagnosis and changes, as they were planned.

    Raises:
        ModelProblem: the model gave no answer.
    """
    if not variation.directives:
        return ()
    system = render(
        "config_variants",
        directives=variation.directives,
        bounds=", ".join(f"{name} {low:g} … {high:g}" for name, (low, high) in BOUNDS.items() if name in VARIED),
        pinned=", ".join(variation.pinned),
        base=variation.base.model_dump_json(include=set(VARIED)),
        plan=json.dumps(plan, default=str),
    )
    try:
        proposals = role.ask(RoleQuestion(system, "Give the variants."), Proposals, variation.problems)
    except ReplyMalformed:
        return ()  # the plan stands, and usual variants take their places
    return tuple(
        ConfigVariant(
            config_id=proposal.directive,
            directive=variation.directives[proposal.directive],
            changes=proposal.config_changes,
            reason=proposal.reason,
        )
        for proposal in proposals.variants
    )
