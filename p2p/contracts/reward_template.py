"""Behaviours that the built-in author knows, as they are shown."""

from p2p.contracts.base import Contract


class TemplateTerm(Contract):
    """A term of a template's reward."""

    name: str
    weight: float
    """Negative for what is penalised."""
    latex: str
    description: str


class RewardTemplate(Contract):
    """A behaviour: sentences that ask for it, and the reward of the first of them."""

    name: str
    about: str
    environments: tuple[str, ...]
    """Where it is possible."""
    phrases: tuple[str, ...]
    """Sentences that ask for it, in the first of these environments."""
    summary: str
    """What the first of them rewards, as a sentence without its full stop."""
    terms: tuple[TemplateTerm, ...]
    """Of its reward."""
    latex: str
    """The reward as a sum."""
