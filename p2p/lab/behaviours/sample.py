"""A reduced run: sentences drawn evenly over robots and skills."""

from collections.abc import Iterator, Sequence
from random import Random

from p2p.lab.contracts.behaviours import Behaviour


def sample(behaviours: Sequence[Behaviour], n: int, seed: int) -> tuple[Behaviour, ...]:
    """Draw `n` sentences: robots take turns, and within a robot its skills do, as long as they have any left.

    A larger sample with the same seed holds the smaller one, so that a run can grow night by night.

    Args:
        behaviours: To draw from.
        n: How many; all where there are no more.
        seed: Of the draw.
    """
    dice = Random(seed)
    robots = sorted({one.env_id for one in behaviours})
    dice.shuffle(robots)
    turns = [_by_skill([one for one in behaviours if one.env_id == robot], dice) for robot in robots]
    drawn: list[Behaviour] = []
    while turns and len(drawn) < n:
        for turn in tuple(turns):
            one = next(turn, None)
            if one is None:
                turns.remove(turn)
            else:
                drawn.append(one)
    return tuple(drawn[:n])


def _by_skill(own: Sequence[Behaviour], dice: Random) -> Iterator[Behaviour]:
    """Sentences of one robot, shuffled, a skill after the other."""
    skills = sorted({one.skill for one in own})
    dice.shuffle(skills)
    piles = []
    for skill in skills:
        pile = [one for one in own if one.skill == skill]
        dice.shuffle(pile)
        piles.append(pile)
    return iter([pile[turn] for turn in range(max(map(len, piles))) for pile in piles if turn < len(pile)])
