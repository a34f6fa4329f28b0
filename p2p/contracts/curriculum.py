"""What changes while a training goes on: starts, weights of the reward's terms, episodes, pushes, assistance."""

from itertools import pairwise
from typing import Annotated, Self

from pydantic import Field, model_validator

from p2p.contracts.base import Contract
from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidConfig
from p2p.contracts.intent import Bounds

Share = Annotated[float, Field(ge=0, le=1)]
Knot = tuple[Share, Annotated[float, Field(ge=0, le=1000)]]
"""A share of the training's steps, and a factor there."""


class StartCurriculum(Contract):
    """`start_states` that are left as the training succeeds, or that move back from the goal."""

    goal: Bounds = Field(default=(), max_length=8)
    """What a training episode has to reach: all of these at one step. A text such as "yaw_turns >= 1.8" is enough.
    Without a goal, the success of the selection rollouts at the last checkpoint counts in place of the episodes'."""
    share_end: float = Field(default=0.0, ge=0, le=1)
    """Share of the resets that begin in `start_states` once every episode from the environment's own start succeeds;
    in between it moves in proportion to their success, from `start_states.share`."""
    reverse: bool = False
    """Begins in the last states of each motion of `start_states`, nearest the goal, and moves back with success. Half
    of the starts lie in the earliest state from which six in ten episodes succeed and the two before it, one in ten in
    any, the others in states from which some succeed, and beside them (Florensa et al., Reverse curriculum generation,
    2017)."""
    success: float = Field(default=0.7, gt=0, le=1)
    """Share of the episodes from a state that have to reach the goal before `reverse` hardly begins in it any more."""
    episodes: int = Field(default=20, ge=3, le=1000)
    """Number of last episodes that a success is the share of; it counts as 0 until there are so many. For `reverse`, of
    the moving average from 0 of each state."""

    @model_validator(mode="after")
    def _reverse_has_a_goal(self) -> Self:
        if self.reverse and not self.goal:
            raise ValueError('reverse needs a goal, which training episodes are to reach: ["up >= 0.9"]')
        return self


class EpisodeGrowth(Contract):
    """Training episodes that begin short and grow to `episode_s`."""

    start_s: float = Field(gt=0)
    """Length of an episode at the training's start [s]."""
    until: float = Field(default=0.5, gt=0, le=1)
    """Share of the training's steps after which episodes have their whole length; it grows linearly until then."""


class Pushes(Contract):
    """Pushes of the torso in training, in random horizontal directions, that grow; evaluation has none."""

    speed: float = Field(gt=0, le=20)
    """Change of the whole robot's velocity that a push gives at full strength, if nothing holds it [m/s]."""
    speed_start: float = Field(default=0.0, ge=0, le=20)
    """The same at the training's start [m/s]."""
    until: float = Field(default=0.5, gt=0, le=1)
    """Share of the training's steps after which pushes have full strength; it grows linearly until then."""
    every_s: float = Field(default=2.0, gt=0)
    """Mean time between two pushes of a robot [s]; they come at random."""
    lasts_s: float = Field(default=0.1, gt=0)
    """Duration of a push [s], in whole control steps."""

    @model_validator(mode="after")
    def _has_pauses(self) -> Self:
        if self.lasts_s >= self.every_s:
            raise ValueError(f"pushes last {self.lasts_s:g} s and come every {self.every_s:g} s: leave a pause between")
        return self


class Assistance(Contract):
    """A force that holds the torso up in training, and less of it the more episodes succeed; evaluation has none.

    Yu et al., Learning symmetric and low-energy locomotion, 2018; Huang et al., Learning humanoid standing-up control
    across diverse postures, 2025.
    """

    goal: Bounds = Field(min_length=1, max_length=8)
    """What a training episode has to reach: all of these at one step."""
    share: float = Field(default=1.0, gt=0, le=2)
    """Share of the robot's weight that the force holds at the training's start."""
    heights: tuple[float, float] | None = None
    """Height of the torso up to which it pulls in full, and from which on it does not [m]; in between it falls
    linearly. None pulls in full at any height."""
    success: float = Field(default=0.5, gt=0, lt=1)
    """Share of the episodes that have to reach the goal for the force to fall."""
    step: float = Field(default=0.003, gt=0, le=0.1)
    """By how much of the weight it falls after an episode that reached the goal. After one that did not it rises, by
    success / (1 - success) times as much: it stays where `success` of the episodes do (weighted up-down method,
    Kaernbach 1991)."""

    @model_validator(mode="after")
    def _heights_rise(self) -> Self:
        if self.heights is not None and self.heights[0] >= self.heights[1]:
            raise ValueError(f"heights must rise, got {self.heights[0]:g}, {self.heights[1]:g}")
        return self


class Curriculum(Contract):
    """What changes while a training goes on, by its share of steps or by its success. Evaluation never sees it."""

    starts: StartCurriculum | None = None
    """How `start_states` are left; None keeps their share."""
    weights: dict[str, tuple[Knot, ...]] = {}
    """Term of the reward -> its factor over the training, as pairs of a share of the steps and a factor: {"slip":
    [[0, 0.1], [0.6, 1]]}. Linear in between, constant before and after; checkpoints are evaluated with factor 1."""
    episodes: EpisodeGrowth | None = None
    """None keeps the length of the episodes."""
    pushes: Pushes | None = None
    """None pushes nobody."""
    assistance: Assistance | None = Field(default=None, exclude_if=lambda given: given is None)
    """None holds nobody up."""

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if not (self.starts or self.weights or self.episodes or self.pushes or self.assistance):
            raise ValueError(
                "curriculum changes nothing: give starts, weights, episodes, pushes or assistance, or leave it out"
            )
        for term, knots in self.weights.items():
            if not knots:
                raise ValueError(f"weights.{term} has no pairs; expected [[share of the training, factor], …]")
            if any(before[0] >= after[0] for before, after in pairwise(knots)):
                shares = ", ".join(f"{share:g}" for share, _ in knots)
                raise ValueError(f"the shares of weights.{term} must rise, got {shares}")
        return self

    def ended(self) -> "Curriculum | None":
        """What it has come to when a training ends, for one that goes on from its policy; None for nothing.

        `starts` and `assistance` follow success, and stay.
        """
        last = {term: knots[-1][1] for term, knots in self.weights.items()}
        weights = {term: ((0.0, factor),) for term, factor in last.items() if factor != 1.0}
        pushes = self.pushes.model_copy(update={"speed_start": self.pushes.speed}) if self.pushes else None
        if not (self.starts or weights or pushes or self.assistance):
            return None
        return Curriculum(starts=self.starts, weights=weights, pushes=pushes, assistance=self.assistance)

    @property
    def goals(self) -> dict[str, Bounds]:
        """Bounds that episodes are to reach, by where they stand in the configuration."""
        followed = {"starts": self.starts, "assistance": self.assistance}
        return {f"curriculum.{name}.goal": part.goal for name, part in followed.items() if part is not None}

    def require(self, env: EnvSpec) -> None:
        """Refuse what a robot cannot have.

        Raises:
            InvalidConfig: it is to be pushed or held up, and nothing lets it move away.
        """
        forces = {"pushes": self.pushes, "assistance": self.assistance}
        asked = [f"curriculum.{name}" for name, force in forces.items() if force is not None]
        roots = [joint for joint in env.joints if joint.body == env.morphology.torso]
        if asked and not any(joint.kind in ("free", "slide") for joint in roots):
            raise InvalidConfig(
                f"{asked[0]} moves a torso that can move away; that of {env.env_id} is fixed in its place. Remove it."
            )

    def require_terms(self, names: tuple[str, ...]) -> None:
        """Refuse weights of terms that a reward does not have.

        Raises:
            InvalidConfig: naming the first of them.
        """
        if unknown := [term for term in self.weights if term not in names]:
            raise InvalidConfig(
                f"curriculum.weights names {unknown[0]!r}, which is no term of the reward; its terms are "
                f"{', '.join(names) or 'none'}."
            )
