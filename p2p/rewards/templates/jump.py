"""Template: lift every part of the robot off the floor."""

from dataclasses import replace

from p2p.contracts.observe import Counter, Milestone
from p2p.rewards.templates.bodies import RobotFacts
from p2p.rewards.templates.jump_criteria import LANDED_S, AskedJumps, guards_of, jumps
from p2p.rewards.templates.plan import LONGEST_S, Plan, Stage, Template, Term
from p2p.rewards.templates.skill import Manner, Params
from p2p.rewards.templates.terms import alive, effort, gate, gate_latex, number, refuse

REPEATED = 3
"""Jumps that "repeatedly" asks for in one episode."""
SECONDS_PER_JUMP = 1.0
"""Time for a jump and what prepares it [s]."""
HELD = 0.6
"""Share of its weight by which a robot is held up when it begins to learn to jump."""
SEVERAL = 2
"""How many times as long a counted number of jumps trains as one."""
SPARE = 1.2
"""How much higher a jump that must land softly is trained to go: a higher one lands harder, so it just gets there."""


class Jump(Template):
    """Jump once, several times, or as high as possible."""

    name = "jump"
    reads = frozenset({"gait", "times", "repeatedly", "highest", "height", "duration_s"})
    manners = frozenset({Manner.NO_FALL, Manner.UPRIGHT, Manner.IN_PLACE, Manner.LANDING})

    def examples(self, body: RobotFacts) -> tuple[str, ...]:
        """Sentences by number and by height."""
        return (
            "jump",
            "jump repeatedly",
            "jump 3 times",
            "jump as high as possible",
            f"jump {body.jump.once:g} m high",
        )

    def missing(self, body: RobotFacts) -> str:
        """Reason why the robot cannot jump."""
        return f"{body.noun} cannot leave the floor"

    def plan(self, params: Params, body: RobotFacts, stage: Stage) -> Plan:
        """Clearance under the lowest point, in place, on its feet."""
        asked = _asked(params, body, stage)
        in_place = Manner.IN_PLACE in params.manners
        # Paid for each, robots jump on and on, are hardly on their feet, and land more often than softly.
        counted = asked.exact or (stage.last and not asked.goes_on)
        single = None if asked.goes_on or counted else body.jump.single_drift_weight
        drift = max(single or body.jump.drift_weight, 0.5 if in_place else 0.0)
        high = round(asked.clearance * (SPARE if "soft_landing" in params.qualities else 1.0), 4)
        full = Counter(feature="jump_height", low=round(asked.clearance / 2, 4), high=high)
        # Counted by their full height alone, lower jumps cost nothing, and robots made them beside those that counted.
        flights = full.model_copy(update={"high": asked.nearly}) if asked.exact else full
        several = asked.exact and asked.times > 1
        return Plan(
            label="JumpHigh" if params.highest else "Jump",
            summary=f"Getting the whole body {asked.clearance:g} m off the floor, upright"
            + (", on the spot" if in_place else "")
            + (f", {asked.words} and no more" if asked.exact else ""),
            terms=(
                *(alive(body) if asked.goes_on else _standing(body, asked.clearance)),
                *_terms(body, asked, counted, drift),
                effort(0.02),
            ),
            main=jumps(asked),
            guards=tuple(guards_of(asked, params, body, stage)),
            definitions=gate(body) | {"landed": _landed(body, asked.clearance), "going": _going(asked.times)},
            counter=flights if counted else None,
            full=full if asked.exact else None,
            recipe={
                "total_timesteps": body.budget("jump") * (SEVERAL if several else 1),
                **_until_it_falls(body),
                "curriculum": {"assistance": {"goal": [f"jump_height >= {number(high)}"], "share": HELD}},
            },
            milestones=_up_and_down(asked.clearance),
            seconds=1.0 + SECONDS_PER_JUMP * asked.times,
            judged_s=asked.judged_s,
        )


def _until_it_falls(body: RobotFacts) -> dict[str, object]:
    """When a training episode ends.

    Of a robot from a model file not above the heights that are healthy: a small one that jumps is soon above them, and
    did not jump.
    """
    if body.fallen is None:
        return {"terminate_when_unhealthy": body.terminates}
    return {"terminate_when_unhealthy": False, "end_when": [f"height <= {number(body.fallen)}"]}


def _asked(params: Params, body: RobotFacts, stage: Stage) -> AskedJumps:
    """What is asked for, as far as it can be.

    Raises:
        UnknownPhrase: several that do not come last, more than fit into the episode, or higher than it can jump.
    """
    if not stage.last and (params.times or 1) > 1:
        raise refuse("several jumps", "in a sequence they must come last")
    if 1.0 + SECONDS_PER_JUMP * (params.times or 1) > (params.duration_s or LONGEST_S):
        limit = params.duration_s or LONGEST_S
        jumps, do = (f"{params.times} jumps", "so many do") if params.times else ("a jump", "it does")
        raise refuse(jumps, f"{do} not fit into the {limit:g} s that are judged")
    if params.height is not None and params.height > 3 * body.jump.high:
        raise refuse(
            f"{params.height:g} m", f"{body.noun} cannot jump that high; about {body.jump.high:g} m is high for it"
        )
    goes_on = params.times is None and (params.repeatedly or params.duration_s is not None)
    times = params.times or (REPEATED if goes_on else 1)
    return AskedJumps(
        clearance=params.height or (body.jump.high if params.highest else body.jump.once),
        times=times,
        exact=params.times is not None and not params.repeatedly,
        goes_on=goes_on,
        judged_s=params.duration_s or max(body.judged_s, 1.0 + SECONDS_PER_JUMP * times),
    )


def _up_and_down(clearance: float) -> tuple[Milestone, ...]:
    """Up, down again, and a moment on the floor: a step that ended in the air would never see its landing paid."""
    height = round(clearance, 3)
    return (
        Milestone(feature="jump_height", amount=height),
        Milestone(feature="jump_height", amount=-height),
        Milestone(feature="time", amount=2 * LANDED_S),
    )


def _standing(body: RobotFacts, clearance: float) -> tuple[Term, ...]:
    """Bonus for being on the feet; a larger one than usual keeps a robot on the floor that is asked to jump high."""
    weight = body.jump.alive_weight
    if weight is None or (clearance > body.jump.once and weight > body.alive_weight):
        return alive(body)
    return tuple(replace(term, weight=weight) for term in alive(body))


def _landed(body: RobotFacts, clearance: float) -> str:
    """Expression for how far it is down again, its trunk off the floor, in [0, 1].

    A flight that counts is paid in full: paid by their height, robots put their feet down before half of its time.
    """
    down = f'max(self.within, tolerance(info["clearance"], 0.0, {number(_low(body))}, {number(clearance)}))'
    return f'{down} * (1.0 - info["torso_contact"])' if body.has("torso_contact") else down


def _going(times: int) -> str:
    """Expression for whether there are jumps to do, the last of them until it lands."""
    return f"counted < {times} or (counted == {times} and self.within)"


def _low(body: RobotFacts) -> float:
    """Clearance up to which it stays on the floor [m]."""
    return max(body.jump.once / 2, 0.05)


def _terms(body: RobotFacts, asked: AskedJumps, counted: bool, drift: float) -> list[Term]:
    """`counted`: jumps beyond the number asked for are not paid; `drift` weighs the distance from the start."""
    jump, times = body.jump, asked.times
    u = gate_latex(body)
    going = "" if not counted else "going * " if asked.exact else f"(counted < {times}) * "
    lift = number(max(jump.lift, asked.clearance))
    found = [
        Term("lift", jump.lift_weight, f'{going}upright * np.clip(info["clearance"], 0.0, {lift}) / {lift}',
             rf"{u}\mathrm{{clip}}(h, 0, {lift})/{lift}", "height of the lowest point above the floor"),
        Term("rise", 1.0, f'{going}upright * tolerance(info["height"], {number(jump.rise)}, np.inf, {{margin}})',
             rf"{u}\mathrm{{tol}}(z; {jump.rise:g}, \infty)", "height of the torso", margin=jump.rise_margin),
        Term("drift", drift, 'np.clip(info["displacement"], 0.0, 3.0)', r"\mathrm{clip}(d, 0, 3)",
             "penalty for leaving the spot", sign=-1),
    ]  # fmt: skip
    if counted:
        done, latex_done = ("full", "m") if asked.exact else ("counted", "n")
        stays = f"(counted == {times}) * upright * landed" + (f" * full / {times}" if asked.exact else "")
        latex = rf"[n = N]\,{u}\max(f, \mathrm{{tol}}(h; 0, {number(_low(body))}))"
        latex += (r"\,(1 - c_t)" if body.has("torso_contact") else "") + (r"\,m/N" if asked.exact else "")
        found += [
            Term("jumps", 1.0, f"min({done}, {times}) / {times}", rf"\min({latex_done}, N)/N", "jumps that are done"),
            Term("stays", jump.lift_weight + 1.0, stays, latex, "staying on the floor once they are all done"),
        ]  # fmt: skip
    if jump.slip_weight:
        slip = Term("slip", jump.slip_weight, 'info["speed"]', "v", "penalty for horizontal speed", sign=-1)
        found.append(slip)
    return found
