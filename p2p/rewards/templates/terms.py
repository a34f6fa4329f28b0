"""Terms and definitions shared by several templates."""

from p2p.contracts.errors import Refusal, UnknownPhrase
from p2p.rewards.templates.bodies import Band, RobotFacts
from p2p.rewards.templates.plan import Term
from p2p.rewards.templates.skill import HeightLevel, Params


def effort(weight: float) -> Term:
    """Price of acting."""
    return Term("effort", weight, 'info["control_effort"]', r"\overline{a^2}", "penalty for large actions", sign=-1)


def jerk(weight: float) -> Term:
    """Price of changing the action."""
    return Term(
        "jerk", weight, 'info["action_rate"]', r"\overline{\Delta a^2}", "penalty for changing actions", sign=-1
    )


def trunk(body: RobotFacts, weight: float = 0.3) -> tuple[Term, ...]:
    """Price of trunk or head on the floor; empty if they touch none."""
    if not body.has("torso_contact"):
        return ()
    return (Term("trunk", weight, 'info["torso_contact"]', "c_t", "penalty for the trunk on the floor", sign=-1),)


def alive(body: RobotFacts, gate: str = "upright", latex: str = "U") -> tuple[Term, ...]:
    """Bonus for being on the feet; empty if the robot needs none.

    Args:
        body: The robot.
        gate: Definition in [0, 1] that the bonus is multiplied by, on a robot whose bonus is.
        latex: The same in a formula.
    """
    if body.alive is None:
        return ()
    credit, formula = (gate, latex) if body.alive == "upright" else (body.alive, "1")
    return (Term("alive", body.alive_weight, credit, formula, "being on its feet"),)


def gate(body: RobotFacts) -> dict[str, str]:
    """Definition of `upright`, in [0, 1]."""
    return {"upright": body.gate}


def gate_latex(body: RobotFacts) -> str:
    """`upright` in a formula; empty if it is always 1."""
    return r"U\," if body.gate_latex else ""


def height_band(params: Params, body: RobotFacts) -> Band | None:
    """Requested torso heights [m]; None if not stated."""
    if params.height_range is not None:
        return Band(*params.height_range)
    if params.height is not None:
        half = max(0.04, 0.08 * params.height)
        return Band(round(params.height - half, 3), round(params.height + half, 3))
    if params.level is HeightLevel.LOW:
        return Band(0.0, body.low)
    if params.level is HeightLevel.HIGH:
        return Band(body.high)
    return None


def refuse(what: str, why: str) -> UnknownPhrase:
    """Error about a detail that contradicts a skill."""
    return UnknownPhrase(f"{what}: {why}.", Refusal.IMPOSSIBLE, (what,))


def number(value: float) -> str:
    """Format a number for Python and for people; infinity as numpy's."""
    if value == float("inf"):
        return "np.inf"
    return repr(round(float(value), 4))
