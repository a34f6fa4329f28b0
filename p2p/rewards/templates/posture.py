"""Template: hold the torso low, high, at a height, or upright."""

from p2p.contracts.intent import Bound, Category, Criterion, Statistic, Window
from p2p.contracts.observe import Milestone
from p2p.rewards.templates.bodies import Band, RobotFacts
from p2p.rewards.templates.criteria import (
    IN_PLACE,
    at_least,
    at_most,
    between,
    off_its_trunk,
    on_steps,
    stays_near,
    stays_upright,
)
from p2p.rewards.templates.plan import Plan, Stage, Template, Term
from p2p.rewards.templates.skill import HeightLevel, Manner, Params
from p2p.rewards.templates.terms import alive, effort, gate, gate_latex, height_band, number, trunk

SETTLE_SHARE = 0.7
"""Share of the episode, from its end, in which the posture is judged: it has to be taken first."""
RIGHTED = r"\mathrm{tol}(u_z; 0.8, 1)"
"""Being the right way up at any height, in a formula."""


class Posture(Template):
    """Hold a posture, moving or not."""

    name = "posture"
    reads = frozenset({"level", "height", "height_range", "duration_s"})
    manners = frozenset({Manner.NO_FALL, Manner.UPRIGHT, Manner.IN_PLACE})

    def examples(self, body: RobotFacts) -> tuple[str, ...]:
        """Sentences by words and by number."""
        return ("stay low", "stay high", f"hold a height of {(body.low + body.high) / 2:.2g} m", "stay upright")

    def missing(self, body: RobotFacts) -> str:
        """Reason why the robot has no posture."""
        return f"nothing about {body.noun} is high, low or upright"

    def plan(self, params: Params, body: RobotFacts, stage: Stage) -> Plan:
        """A torso height, or no fall, held for most of the time."""
        band = height_band(params, body)
        hold = params.duration_s or 1.5
        label = "StayUpright" if band is None else f"Stay{params.level.title() if params.level else 'AtHeight'}"
        where = (at_least("up", body.upright.up if body.upright else 0.7),) if band is None else (_bound(band),)
        words = "upright" if band is None else _words(band)
        if stage.last:
            predicate = on_steps(
                Statistic.FRACTION, where, Band(0.9), margin=0.5, window=Window(last_share=SETTLE_SHARE)
            )
            description = f"In the last {SETTLE_SHARE:.0%} of the episode the torso is {words} for 90% of the time."
        else:
            predicate = on_steps(Statistic.LONGEST_HOLD, where, Band(hold), margin=hold)
            description = f"The torso is {words} for {hold:g} s without a break."
        main = Criterion(
            key="holds_posture",
            title=f"Holds its torso {words}",
            description=description,
            category=Category.POSTURE,
            predicate=predicate,
            weight=2.0,
        )
        steady = body.terminates and params.level is not HeightLevel.LOW and params.height is None
        recipe = {"total_timesteps": body.budget("posture"), "terminate_when_unhealthy": steady}
        definitions = gate(body)
        if band is not None and band.high < body.stand.low and "height" in body.gate:
            # the gate of standing would charge for what is asked
            factor = "righted"
            u = rf"{RIGHTED}\,"
            standing = alive(body, factor, RIGHTED)
            definitions["righted"] = 'tolerance(info["up"], 0.8, 1.0, 0.6)'
        else:
            factor = "upright"
            u = gate_latex(body)
            standing = alive(body)
        if band is None:
            credit = 'upright * tolerance(info["up"], 0.95, 1.0, {margin})'
            term = Term(
                "upright", 1.0, credit, rf"{u}\mathrm{{tol}}(u_z; 0.95, 1)", "holding the torso upright", margin=0.5
            )
        else:
            credit = f'{factor} * tolerance(info["height"], {number(band.low)}, {number(band.high)}, {{margin}})'
            latex = rf"{u}\mathrm{{tol}}(z; {band.low:g}, {band.high:g})"
            term = Term("height", 1.0, credit, latex, "holding the torso at the height asked for", margin=0.35)
        return Plan(
            label=label,
            summary=f"Holding the torso {'upright' if band is None else _words(band)}",
            terms=(*standing, term, *trunk(body), effort(max(body.effort, 0.1))),
            main=main,
            guards=(
                *_upright_guard(body, params, band),
                *off_its_trunk(body),
                *((stays_near(IN_PLACE),) if Manner.IN_PLACE in params.manners else ()),
            ),
            definitions=definitions,
            recipe=recipe,
            milestones=(Milestone(feature="time", amount=round(hold + 0.5, 3)),),
            seconds=hold + 1.5,
            judged_s=params.duration_s or body.judged_s,
        )


def _bound(band: Band) -> Bound:
    if band.high == float("inf"):
        return at_least("height", band.low)
    return at_most("height", band.high) if band.low == 0.0 else between("height", band.low, band.high)


def _words(band: Band) -> str:
    if band.high == float("inf"):
        return f"at {band.low:g} m or higher"
    return f"at {band.high:g} m or lower" if band.low == 0.0 else f"between {band.low:g} and {band.high:g} m"


def _upright_guard(body: RobotFacts, params: Params, band: Band | None) -> tuple[Criterion, ...]:
    """For a low posture a low torso is no fall; without a band the main criterion covers it."""
    rule = body.upright
    low = band is not None and rule is not None and band.low < (rule.height or 0.0)
    return stays_upright(body, params, low=low)
