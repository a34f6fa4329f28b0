"""Script of a sentence: motions that do what it asks for, and what is wrong about changing them."""

from dataclasses import dataclass

from p2p.lab.worker.exams.phases import Phase
from p2p.worker.known_motions.robots import KnownSentence


@dataclass(frozen=True)
class Script:
    """What a sentence asks for, as phases, and what of it matters. No judge or predicate is asked."""

    phases: tuple[Phase, ...]
    family: str
    """What kind of thing it is: motions of another family do not do it."""
    unclear_with: tuple[str, ...] = ()
    """Families whose motions may do it too."""
    least: float = 0.5
    """Share of all amounts that is surely too little; 0 where even little may do."""
    most: float = 0.0
    """Multiple of all amounts that is surely too much; 0 where more is right too."""
    directed: bool = True
    """Whether the other direction is wrong."""
    steps: bool = False
    """Whether it is to be done with the joints, so that sliding is a trick."""
    counted: bool = False
    """Whether a number is said, so that one more is wrong."""
    economical: bool = False
    in_place: bool = False
    lasting: bool = True
    """Whether half of it is wrong."""
    on_feet: bool = True
    """Whether it is to be on its feet, to the end."""
    ordered: bool = False
    """Whether its phases are to come in this order."""
    comes_to_rest: bool = False
    """Whether it is to stop before the end."""
    timed: bool = False
    """Whether it says how long a pose is held, and no longer than it must be."""
    known: KnownSentence | None = None
    """Its meaning for the clips of the judges' calibration set; None where that has no skill like it. The first word
    decides whether it is to be done with the legs."""
    unclear_clips: tuple[str, ...] = ()
    """Words of those clips of that set whose truth is not clear for this sentence."""
    sided: bool = False
    """Whether the pose names one of two sides."""
    without: tuple[str, ...] = ()
    """Rules that do not apply, or whose truth is not clear."""

    @property
    def still(self) -> bool:
        """Whether it is to stand still and no more."""
        return all(phase.still for phase in self.phases)

    @property
    def travels(self) -> bool:
        """Whether it gets somewhere."""
        return any(phase.travels for phase in self.phases)


def steady(phase: Phase, family: str, **what: object) -> Script:
    """The same all the time."""
    return Script((phase,), family, **what)  # type: ignore[arg-type]
