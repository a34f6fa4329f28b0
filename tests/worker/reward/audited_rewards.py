"""Rewards whose worth is known by how they are made: what the audit of rewards is tuned on, and measured on.

A bad one leaves a robot without a reason to do what was asked, or gives it a better one to do something else; `why`
says which. A good one is of a form that is known to be learnt: Gymnasium's own rewards and common variants of them.
Nothing was trained to label them. The rules were tuned on `TUNED` alone; `KEPT` was measured once they stood.
"""

from dataclasses import dataclass

RUN, HOP, WALK, GO = "run forward as fast as you can", "hop forward", "walk forward", "run forward"
CHEETAH, HOPPER, WALKER, ANT = "HalfCheetah-v5", "Hopper-v5", "Walker2d-v5", "Ant-v5"


@dataclass(frozen=True)
class Audited:
    """One reward."""

    name: str
    env_id: str
    sentence: str
    terms: str
    """Of a dict display."""
    good: bool
    terminates: bool = False
    why: str = ""
    setup: str = ""
    """Lines before the terms."""

    @property
    def source(self) -> str:
        """The whole reward."""
        return (
            "def reward_fn(obs, action, next_obs, info):\n"
            "    v, effort = info['x_velocity'], float((action ** 2).sum())\n"
            f"{self.setup}    terms = {{{self.terms}}}\n    return sum(terms.values()), terms\n"
        )


def _bad(name: str, env_id: str, sentence: str, terms: str, why: str, terminates: bool = False) -> Audited:
    return Audited(name, env_id, sentence, terms, good=False, terminates=terminates, why=why)


def _good(name: str, env_id: str, sentence: str, terms: str, terminates: bool = False) -> Audited:
    return Audited(name, env_id, sentence, terms, good=True, terminates=terminates)


TUNED = (
    _bad("clipped speed", HOPPER, HOP, "'speed': max(0.0, v)", "nothing tells standing from falling", True),
    _bad("heavy effort", CHEETAH, RUN, "'speed': v, 'effort': -3.0 * effort", "noise costs more than speed pays"),
    _bad("wrong sign", CHEETAH, RUN, "'speed': -v, 'effort': -0.1 * effort", "pays for going backward"),
    _bad("upright alone", WALKER, GO, "'upright': info['up'], 'speed': 0.02 * v", "content with standing"),
    _bad("large alive", HOPPER, HOP, "'alive': 10.0, 'speed': 0.1 * v", "content with standing", True),
    _bad("height of torso", ANT, WALK, "'height': 5.0 * info['height'], 'speed': 0.1 * v", "pays for leaping up"),
    _bad("sparse", ANT, WALK, "'fast': 1.0 if v > 8.0 else 0.0", "nothing pays that it can find"),
    _bad("all costs", WALKER, GO, "'speed': v - 5.0, 'effort': -0.1 * effort", "falling ends the costs", True),
    _good("gymnasium", HOPPER, HOP, "'alive': 1.0, 'speed': v, 'effort': -0.001 * effort", True),
    _good("gymnasium", CHEETAH, RUN, "'speed': v, 'effort': -0.1 * effort"),
    _good("gymnasium", WALKER, GO, "'alive': 1.0, 'speed': v, 'effort': -0.001 * effort", True),
    _good("upright and speed", HOPPER, HOP, "'upright': 0.5 * info['up'], 'speed': v, 'effort': -0.01 * effort"),
    _good("gymnasium", ANT, WALK, "'alive': 1.0, 'speed': v, 'effort': -0.5 * effort", True),
    _good("bounded speed", WALKER, GO, "'upright': 0.3 * info['up'], 'speed': float(np.tanh(v))"),
    _good("straight", ANT, WALK, "'speed': v, 'aside': -0.2 * abs(info['y_velocity']), 'effort': -0.05 * effort"),
    _good("speed alone", CHEETAH, RUN, "'speed': v"),
)
KEPT = (
    _bad("clipped speed", WALKER, GO, "'speed': max(0.0, v), 'effort': 0.0 * effort", "nothing tells falling", True),
    _bad("heavy effort", ANT, WALK, "'speed': v, 'effort': -4.0 * effort", "noise costs more than speed pays"),
    _bad("wrong sign", HOPPER, HOP, "'alive': 1.0, 'speed': -2.0 * v", "pays for going backward", True),
    _bad("calm joints", ANT, WALK, "'calm': float(np.exp(-info['joint_speed'])), 'speed': 0.05 * v", "pays stillness"),
    _bad("large alive", WALKER, GO, "'alive': 20.0, 'speed': 0.5 * v", "content with standing", True),
    _bad("any speed", CHEETAH, RUN, "'speed': abs(v), 'effort': -0.1 * effort", "pays backward as much as forward"),
    _bad("sparse", CHEETAH, RUN, "'fast': float(v > 15.0)", "nothing pays that it can find"),
    _bad("all costs", HOPPER, HOP, "'effort': -0.5 * effort, 'speed': v - 4.0", "falling ends the costs", True),
    _good("weighted", HOPPER, HOP, "'alive': 0.5, 'speed': 2.0 * v, 'effort': -0.002 * effort", True),
    _good("bounded speed", CHEETAH, RUN, "'speed': float(np.clip(v, -5.0, 10.0)), 'effort': -0.05 * effort"),
    _good("upright and speed", WALKER, GO, "'upright': info['up'], 'speed': 1.5 * v, 'effort': -0.005 * effort"),
    _good("alive and straight", ANT, WALK, "'alive': 0.5, 'speed': v, 'aside': -0.1 * abs(info['y_velocity'])", True),
    _good("product", WALKER, GO, "'speed': v * max(0.0, info['up']), 'alive': 0.5 * (info['up'] > 0.6)"),
    _good("light effort", ANT, WALK, "'speed': v, 'upright': 0.3 * info['up'], 'effort': -0.1 * effort"),
    _good("no backward", CHEETAH, RUN, "'speed': v if v > 0 else 2.0 * v, 'flat': 0.2 * info['up']"),
    _good("gentle", HOPPER, HOP, "'alive': 1.0, 'speed': float(np.tanh(v)) * 2.0, 'effort': -0.01 * effort", True),
)
