"""Answers for fifteen intents of the public benchmark, in the form in which a model gives them."""

from typing import Any

Criterion = dict[str, Any]


def measured(title: str, claim: str, unit: str, margin: float, after: str | None = None) -> Criterion:
    """A criterion from a claim such as "mean velocity_x >= 1" or "longest_hold up >= 0.9 & height >= 1 >= 2"."""
    statistic, _, rest = claim.partition(" ")
    body, sign, threshold = rest.rsplit(" ", 2)
    comparison = {">=": "at_least", "<=": "at_most"}
    predicate: dict[str, Any] = {"statistic": statistic, "comparison": comparison[sign], "threshold": float(threshold)}
    if statistic in ("count", "fraction", "longest_hold"):
        bounds = [part.split() for part in body.split(" & ")]
        predicate["where"] = [
            {"feature": name, "comparison": comparison[op], "threshold": float(value)} for name, op, value in bounds
        ]
    else:
        predicate["feature"] = body
    return {**_named(title), "predicate": {**predicate, "unit": unit, "margin": margin}, "after": after}


def seen(title: str) -> Criterion:
    """A criterion for eyes."""
    return {**_named(title), "predicate": None}


def _named(title: str) -> Criterion:
    key = "_".join("".join(c if c.isalnum() else " " for c in title.lower()).split())[:40]
    return {"key": key, "title": title, "description": f"{title}.", "category": "dynamics"}


INTENTS: dict[tuple[str, str], list[Criterion]] = {
    ("Ant-v5", "spin one full turn about the vertical axis, then stand still"): [
        measured("One turn", "change yaw_turns >= 1", "turns", 0.5),
        measured("No second turn", "max yaw_turns <= 1.5", "turns", 0.5),
        measured("Stays in place", "max displacement <= 1", "m", 1),
        measured("Stands still afterwards", "longest_hold speed <= 0.1 >= 1", "s", 1),
        measured("Stays upright", "min up >= 0.5", "1", 0.5),
    ],
    ("Ant-v5", "walk forward steadily at a moderate speed"): [
        measured("Moderate speed", "mean velocity_x >= 0.7", "m/s", 0.5),
        measured("Not running", "mean velocity_x <= 1.8", "m/s", 0.5),
        measured("Steady", "min velocity_x >= 0.1", "m/s", 0.5),
        measured("Upright", "min up >= 0.7", "1", 0.3),
        measured("On its feet", "mean torso_contact <= 0.02", "1", 0.2),
    ],
    ("Ant-v5", "stand on two legs with the others raised, and hold it"): [
        measured("Holds the stand", "longest_hold feet_down >= 1.5 & feet_down <= 2.5 >= 2", "s", 2),
        measured("Stays in place", "max displacement <= 0.5", "m", 1),
        measured("Off the trunk", "max torso_contact <= 0", "1", 1),
        measured("Calm", "mean joint_speed <= 2", "rad/s", 2),
        seen("The other legs are clearly raised"),
    ],
    ("Ant-v5", "roll continuously in one direction"): [
        measured("Two turns", "change roll_turns >= 2", "turns", 1),
        measured("Never back", "min roll_rate >= -0.5", "rad/s", 2),
        measured("Over its back", "count up <= -0.5 >= 2", "1", 1),
        measured("Gets somewhere", "max displacement >= 1", "m", 1),
        seen("It rolls as one motion, without stops"),
    ],
    ("Ant-v5", "breakdance: spin close to the ground"): [
        measured("Two turns", "change yaw_turns >= 2", "turns", 1),
        measured("Low", "mean height <= 0.5", "m", 0.3),
        measured("In place", "max displacement <= 1.5", "m", 1),
        measured("On the floor", "mean torso_contact >= 0.3", "1", 0.3),
        seen("The legs sweep around as a breakdancer's do"),
    ],
    ("HalfCheetah-v5", "crawl forward with a very low torso"): [
        measured("Gets ahead", "mean velocity_x >= 0.3", "m/s", 0.3),
        measured("Very low", "max height <= -0.15", "m", 0.2),
        measured("Level", "fraction pitch >= -0.4 & pitch <= 0.4 >= 0.9", "1", 0.4),
        measured("Slow", "max speed <= 2", "m/s", 1),
        seen("It crawls on its legs, and does not slide"),
    ],
    ("HalfCheetah-v5", "hop like a kangaroo, with both pairs of legs leaving the ground together"): [
        measured("Several hops", "count airborne >= 1 >= 4", "1", 3),
        measured("Both pairs together", "fraction airborne >= 1 >= 0.3", "1", 0.3),
        measured("Real hops", "max clearance >= 0.15", "m", 0.15),
        measured("Forward", "mean velocity_x >= 0.5", "m/s", 0.5),
        measured("Upright", "min up >= 0.3", "1", 0.5),
    ],
    ("HalfCheetah-v5", "stand up on the back legs"): [
        measured("Nose up", "longest_hold pitch >= 1 >= 2", "s", 2),
        measured("On the back feet", "longest_hold contact_bfoot >= 1 & contact_ffoot <= 0 >= 2", "s", 2),
        measured("No tumble", "max pitch_turns <= 0.5", "turns", 0.3),
        measured("In place", "max displacement <= 2", "m", 2),
        measured("Off the trunk", "mean torso_contact <= 0.1", "1", 0.3),
    ],
    ("HalfCheetah-v5", "do a backflip and land upright"): [
        measured("One turn backward", "change pitch_turns >= 0.9", "turns", 0.5),
        measured("In the air", "max clearance >= 0.2", "m", 0.2),
        measured("Lands upright", "final up >= 0.8", "1", 0.5),
        measured("Stays on its feet", "longest_hold up >= 0.7 & feet_down >= 1 >= 1", "s", 1),
        measured("One flip only", "max pitch_turns <= 1.5", "turns", 0.5),
    ],
    ("HalfCheetah-v5", "do a backflip, then sprint at once"): [
        measured("One turn backward", "max pitch_turns >= 0.9", "turns", 0.5),
        measured("In the air", "max clearance >= 0.2", "m", 0.2),
        measured("Sprints", "mean velocity_x >= 3", "m/s", 2, "one_turn_backward"),
        measured("Upright while sprinting", "min up >= 0", "1", 0.5, "one_turn_backward"),
        seen("The sprint begins at once, without a pause"),
    ],
    ("Humanoid-v5", "hold a plank"): [
        measured("Body level", "longest_hold pitch <= -1.2 & pitch >= -1.9 >= 2", "s", 2),
        measured("Off the floor", "max torso_contact <= 0", "1", 1),
        measured("Low", "max height <= 0.8", "m", 0.4),
        measured("Still", "mean speed <= 0.1", "m/s", 0.2),
        seen("Straight from head to heels, on hands and toes"),
    ],
    ("Humanoid-v5", "walk upright"): [
        measured("Walks", "mean velocity_x >= 0.5", "m/s", 0.4),
        measured("Upright", "min up >= 0.85", "1", 0.3),
        measured("Keeps its height", "min height >= 1.1", "m", 0.3),
        measured("Steps", "count contact_left_foot <= 0 & contact_right_foot >= 1 >= 3", "1", 3),
        seen("The legs alternate as in walking"),
    ],
    ("Humanoid-v5", "do a forward roll and come back to standing"): [
        measured("One turn forward", "min pitch_turns <= -0.9", "turns", 0.5),
        measured("Over the back", "max torso_contact >= 1", "1", 1),
        measured("Stands again", "final height >= 1.1", "m", 0.4),
        measured("Upright at the end", "final up >= 0.9", "1", 0.4),
        seen("A roll over the shoulders, not a fall"),
    ],
    ("Humanoid-v5", "throw repeated left jabs"): [
        measured("Stays upright", "min up >= 0.85", "1", 0.3),
        measured("Stands", "min height >= 1.1", "m", 0.3),
        measured("In place", "max displacement <= 1", "m", 1),
        seen("The left arm shoots forward and returns, again and again"),
        seen("The right arm stays in guard"),
    ],
    ("Humanoid-v5", "hold a lunge"): [
        measured("Lower than standing", "max height <= 1.25", "m", 0.2),
        measured("Not on the floor", "min height >= 0.7", "m", 0.3),
        measured("Upright", "min up >= 0.8", "1", 0.3),
        measured("Still", "longest_hold speed <= 0.1 >= 2", "s", 2),
        measured("Both feet down", "fraction contact_left_foot >= 1 & contact_right_foot >= 1 >= 0.9", "1", 0.5),
        seen("One foot far in front, its knee bent"),
    ],
}
