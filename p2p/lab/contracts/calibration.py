"""How often judges are right about clips whose truth is known."""

import random
from enum import StrEnum
from typing import Self

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.intent import Intent
from p2p.contracts.known_motions import ROBOTS, ClaimKind, Clip, KnownMotionsRequest
from p2p.contracts.spending import Caps


class MutationFamily(StrEnum):
    """What is changed of a clip that does what was asked."""

    STOPPED = "stopped"
    """It stands for part of the time."""
    BACKWARD = "played backward"
    MIRRORED = "mirrored"
    COUNTED = "one more or one less"
    DRIFTING = "drifting"
    FROZEN = "joints frozen"
    """The root goes on."""
    TRUNK = "trunk on the floor"
    MOTORS_OFF = "motors off"
    """Simulated from there on."""
    START = "start pose swapped"
    END = "end ruined"
    OTHER_START = "other start"
    NOISE = "small noise"
    TEMPO = "other tempo"
    RESTING = "rests on the way"
    TO_AND_FRO = "goes to and fro"
    STIFF_LEGS = "half of the legs stiff"
    SWAYING = "sways or bends slowly"
    LATE_FALL = "falls at the very end"
    LOWER = "one more, a little lower"
    OVERSHOOT = "swings over and comes back"
    ON_ITS_BACK = "comes down on its back"
    LEANING = "leans far over"
    SMALL_LEAN = "leans a little"
    UNEVEN = "unevenly fast"
    WEAVING = "weaves a little"

    @property
    def harmless(self) -> bool:
        """Whether the change never matters, so that the clip must still pass."""
        return self in _HARMLESS

    @property
    def newest(self) -> bool:
        """Whether it was written after the last change of the criteria; such families are held out."""
        return self in _NEWEST


_HARMLESS = frozenset(
    {
        MutationFamily.OTHER_START,
        MutationFamily.NOISE,
        MutationFamily.TEMPO,
        MutationFamily.SMALL_LEAN,
        MutationFamily.UNEVEN,
        MutationFamily.WEAVING,
    }
)
_NEWEST = frozenset(
    {
        MutationFamily.RESTING,
        MutationFamily.TO_AND_FRO,
        MutationFamily.STIFF_LEGS,
        MutationFamily.SWAYING,
        MutationFamily.LATE_FALL,
        MutationFamily.LOWER,
        MutationFamily.OVERSHOOT,
        MutationFamily.ON_ITS_BACK,
        MutationFamily.LEANING,
        MutationFamily.SMALL_LEAN,
        MutationFamily.UNEVEN,
        MutationFamily.WEAVING,
    }
)


class ClipsRequest(KnownMotionsRequest):
    """Make the clips of one robot, some of them changed or of trained policies."""

    mutations: bool = False
    """Whether clips are made from those that do what is asked, too."""
    policies: tuple[str, ...] = ()
    """Runs whose checkpoints make clips too, relative to the job's directory."""


class CalibrationRequest(Contract):
    """What is to be calibrated, on what."""

    judges: tuple[str, ...] = ("predicates",)
    """`predicates`; `provider:model` for the eyes of a model, `synthesis:provider:model` for both,
    `code:provider:model` for code that it writes."""
    judge_code: tuple[str, ...] = ()
    """Folders of judge functions that are there already, each a judge; then all judges are asked about the sentences
    alone that every folder has a function for."""
    caps: Caps = Caps()
    """What models may take at most, over all calibrations in this runs directory."""
    env_ids: tuple[str, ...] = ROBOTS
    seed: int = Field(default=1, ge=0)
    """Of all that is left to chance in the clips. The criteria were mended on seed 0: report on others."""
    variations: int = Field(default=2, ge=1, le=100)
    """Clips of each motion."""
    mutations: bool = True
    """Whether clips that do what is asked are changed, too, so that they must fail, or must still pass."""
    hold_out_seed: int = Field(default=14, ge=0)
    """Decides which mutated clips are never looked at one by one. Another seed would show them: do not change it."""
    open_held_out: bool = False
    """Whether the mistakes on them are listed all the same. Draw another `hold_out_seed` after that."""
    policy_steps: int | None = Field(default=None, ge=1)
    """Length of trainings whose policies make clips too; None trains none."""
    limit: int | None = Field(default=None, ge=1)
    """Most claims that each judge is asked about, drawn evenly from all; None asks about all."""


class HeldOut(Contract):
    """Mutated clips of which only rates are reported: criteria are never changed on their account.

    A clip is held out when it is of one of these families, whatever its robot, or of one of these robots, whatever its
    family. Clips that are not mutated were all looked at.
    """

    seed: int
    families: tuple[MutationFamily, ...]
    env_ids: tuple[str, ...]
    opened: bool = False
    """Whether somebody asked for the mistakes on them, so that they are used up."""

    @classmethod
    def drawn(cls, seed: int, opened: bool = False) -> Self:
        """The newest families; of the others three that spoil a clip and one that does not; and one robot."""
        rng = random.Random(seed)
        older = [family for family in MutationFamily if not family.newest]
        spoiling = rng.sample([family for family in older if not family.harmless], 3)
        harmless = rng.sample([family for family in older if family.harmless], 1)
        newest = tuple(family for family in MutationFamily if family.newest)
        return cls(seed=seed, families=(*spoiling, *harmless, *newest), env_ids=(rng.choice(ROBOTS),), opened=opened)

    def holds(self, clip: Clip) -> bool:
        """Whether a clip is held out."""
        return clip.mutation is not None and (clip.mutation in self.families or clip.env_id in self.env_ids)


class ClipVideoRequest(Contract):
    """Film one clip. Paths are relative to the job's directory."""

    clips: str
    """Directory of the clips it is one of."""
    clip_id: str
    named: bool = True
    """Whether the pictures say which clip it is, which gives away its truth: those for a judge do not."""
    video: bool = True
    """Whether it is filmed besides its contact sheet, which takes several times as long."""


class ClipVideo(Contract):
    """A clip, with the pictures of it. Paths are relative to the runs directory."""

    clip: Clip
    video: str
    """Empty where only the sheet was asked for."""
    sheet: str
    """Contact sheet."""


class ClipVerdict(Contract):
    """What a judge says of one clip."""

    passed: bool | None
    """None for no verdict."""
    score: float | None = Field(ge=0, le=1)
    """None without a verdict."""
    cost_usd: float = 0.0
    """What the verdict cost in money."""
    reason: str = ""
    """Why there is none, where that is known."""


class Share(Contract):
    """A share with its 95 % Wilson interval."""

    count: int
    of: int
    low: float | None
    """None when `of` is 0."""
    high: float | None

    @property
    def value(self) -> float | None:
        """None when there is nothing to divide by."""
        return self.count / self.of if self.of else None


class Rates(Contract):
    """How often a judge errs on one kind of clips or sentences."""

    false_passes: Share
    """Near misses and exploits that passed."""
    false_fails: Share
    """Positives that did not pass."""


class SentenceRates(Rates):
    """How often a judge errs on one sentence of one robot."""

    env_id: str
    sentence: str


class Mistake(Contract):
    """A verdict that is wrong, or missing."""

    clip_id: str
    sentence: str
    kind: ClaimKind
    passed: bool | None
    score: float | None
    reason: str = ""
    """Why there is no verdict, where that is known."""


class JudgeCalibration(Contract):
    """How often one judge is right."""

    judge: str
    verdicts: dict[ClaimKind, dict[str, int]]
    """The confusion matrix: kind -> "passed", "failed" or "no_verdict" -> how many."""
    false_passes: dict[ClaimKind, Share]
    """Of each kind that should fail, how many passed."""
    costly: Share
    """False passes among near misses and exploits together."""
    false_fails: Share
    """Positives that did not pass."""
    by_robot: dict[str, Share]
    """Wrong or missing verdicts."""
    by_sentence: tuple[SentenceRates, ...] = ()
    by_mutation: dict[MutationFamily, Rates] = {}
    trained: Share | None = None
    """The same of clips that policies made; None without such clips."""
    auroc: float | None
    """That a positive scores higher than anything else, ties counting half; None without both."""
    score_variance: float | None
    """Largest variance of a score over repeated judging."""
    unsteady: int
    """Verdicts that were not the same each time."""
    repeated: int
    """How many claims were judged repeatedly."""
    seconds_per_verdict: float
    usd_per_verdict: float
    scores: dict[ClaimKind, tuple[int, ...]]
    """Histogram of the scores in ten equal bins from 0 to 1."""
    mistakes: tuple[Mistake, ...]
    """At most `MOST_MISTAKES`."""


class Calibration(Contract):
    """How often judges are right (`report.json`)."""

    seed: int
    clips: dict[str, int]
    """Robot -> clips."""
    sentences: int
    """Pairs of robot and sentence."""
    claims: int
    by_hand: tuple[Intent, ...]
    """Criteria of sentences that the built-in author does not understand."""
    judges: tuple[JudgeCalibration, ...]
    """On the clips that criteria may be mended on."""
    held_out: HeldOut | None = None
    """Which clips are in neither the above nor its mistakes; None where there are no mutated clips."""
    never_looked_at: tuple[JudgeCalibration, ...] = ()
    """The same judges on those, without the list of mistakes unless they are opened."""
    seconds: float
    """What making and judging took."""

    @property
    def n_clips(self) -> int:
        """Clips of all robots."""
        return sum(self.clips.values())


MOST_MISTAKES = 100
MOST_FALSE_PASSES = 0.01
"""Target of measured criteria: share of near misses and exploits that may pass."""
MOST_FALSE_FAILS = 0.02
"""Target of measured criteria: share of positives that may fail."""
LEAST_AUROC = 0.995


def on_target(judge: JudgeCalibration) -> bool:
    """Whether a judge that measures meets its targets: few false passes and false fails, a score that tells right from
    wrong, always the same."""
    costly = judge.costly.value
    fails = judge.false_fails.value
    return (
        costly is not None
        and costly <= MOST_FALSE_PASSES
        and fails is not None
        and fails <= MOST_FALSE_FAILS
        and judge.auroc is not None
        and judge.auroc >= LEAST_AUROC
        and judge.score_variance == 0.0
        and judge.unsteady == 0
    )
