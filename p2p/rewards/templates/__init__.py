"""Reward templates: one skill per file, with the criteria that judge it and the recipe that trains it."""

from p2p.contracts.errors import UnknownName
from p2p.rewards.templates.balance import Balance
from p2p.rewards.templates.flip import Flip
from p2p.rewards.templates.follow import Follow
from p2p.rewards.templates.jump import Jump
from p2p.rewards.templates.move import Move
from p2p.rewards.templates.plan import Template
from p2p.rewards.templates.posture import Posture
from p2p.rewards.templates.push import Push
from p2p.rewards.templates.reach import Reach
from p2p.rewards.templates.rear import Rear
from p2p.rewards.templates.spin import Spin
from p2p.rewards.templates.stand_up import StandUp
from p2p.rewards.templates.still import Still

TEMPLATES: dict[str, type[Template]] = {
    template.name: template
    for template in (Move, Follow, Still, Posture, Jump, Spin, Flip, Rear, StandUp, Reach, Push, Balance)
}
"""Skill -> its template. A new skill is one file and one name here."""


def template(name: str) -> Template:
    """The template of a skill.

    Raises:
        UnknownName: there is none of that name.
    """
    if name not in TEMPLATES:
        raise UnknownName("skill", name, TEMPLATES)
    return TEMPLATES[name]()
