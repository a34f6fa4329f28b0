"""What the end of a training means, and what to do next: from its measurements alone."""

import math
from collections.abc import Iterator

from p2p.contracts.advice import Advice, Lever, TrainingCourse
from p2p.contracts.numbers import share_in_words

STILL_RISING = 0.05
"""Rise of the success rate or score between the last two checkpoints that is more than their noise."""
MOST_MORE = 3.0
"""Largest factor of steps that an extrapolation is trusted with: learning curves bend."""
LEAST_MORE = 1.3
USUAL_MORE = 1.6
"""Factor of steps where the return rises and nothing says how far there is to go."""
NARROW = 0.25
"""Share of its first standard deviation below which the policy has stopped trying."""
BLIND = 0.2
"""Explained variance below which the value network predicts next to nothing."""
FELL = 0.2
"""Fall of the success rate from the best checkpoint to the last that is more than the noise of 20 rollouts."""
STILL_HELD = 0.05
"""Share of the weight, held by `curriculum.assistance` at the end of a training, that its policy leans on."""
APART = 0.5
"""Difference between the success rates of seeds that makes it a matter of luck."""
WANTED_CHANCE = 0.9
"""Chance to have a good seed at least."""
MAX_NEW_SEEDS = 8


def advise(course: TrainingCourse) -> tuple[Advice, ...]:
    """What to do next, the most likely to help first; empty where the training succeeded.

    | measured | means | lever |
    |---|---|---|
    | a seed succeeds, another does not | the luck of the seed | more seeds |
    | the robot is still held up at the end | not finished | more steps, as many as the rest asks for |
    | terms that never paid, episodes shorter than judged ones | a stage lies beyond their end | longer episodes |
    | terms that never paid, episodes long enough | a stage is not found from the start | start states near it |
    | success fell after its best | updates undo what was learnt | steadier updates, and no more steps |
    | success or score rises at the end | not finished | more steps, as many as the rise asks for |
    | flat, and the noise has shrunk | stopped trying too early | wider noise |
    | flat, and returns are not predicted | the value network sees or holds too little | another network |
    | flat, and none of these | what is paid is reached, and is not what is asked | another reward |
    """
    if _best(course) >= course.needed:
        return tuple(_of_seeds(course))
    rules = (_of_seeds, _of_assistance, _of_stages, _of_fall, _of_rise, _of_noise, _of_critic, _of_what_is_left)
    found: list[Advice] = []
    for rule in rules:
        if rule is _of_what_is_left and found:
            break
        found += rule(course)
    return tuple(found)


def _best(course: TrainingCourse) -> float:
    return max((point.success_rate or 0.0 for point in course.checkpoints), default=0.0)


def _of_seeds(course: TrainingCourse) -> Iterator[Advice]:
    good = sum(success >= course.needed for success in course.seed_success)
    n = len(course.seed_success)
    if n < 2 or not 0 < good < n or max(course.seed_success) - min(course.seed_success) < APART:
        return
    chance = good / n
    more = min(MAX_NEW_SEEDS, math.ceil(math.log(1 - WANTED_CHANCE) / math.log(1 - chance)))
    yield Advice(
        lever=Lever.MORE_SEEDS,
        finding=f"{good} of {n} seeds succeeded ({', '.join(map(share_in_words, course.seed_success))}).",
        text=f"The seed decides: of {more} further ones one succeeds with a chance of {WANTED_CHANCE:.0%}, if these "
        "are typical.",
    )


def _of_assistance(course: TrainingCourse) -> Iterator[Advice]:
    first, last = (course.dynamics.get(f"assistance_{name}", 0.0) for name in ("first", "last"))
    if last <= STILL_HELD:
        return
    factor = min(MOST_MORE, max(LEAST_MORE, first / (first - last))) if first > last else MOST_MORE
    finding = f"Of {first:.0%} of the robot's weight, {last:.0%} were held at the end; judged rollouts hold nothing."
    yield _more(course, factor, finding)


def _of_stages(course: TrainingCourse) -> Iterator[Advice]:
    if not course.silent_terms:
        return
    names = ", ".join(course.silent_terms)
    finding = f"{names} paid nothing at any step: that stage was never reached."
    if course.judged_s is not None and course.episode_s < course.judged_s:
        yield Advice(
            lever=Lever.LONGER_EPISODES,
            finding=finding,
            text=f"Training episodes last {course.episode_s:g} s and judged ones {course.judged_s:g} s: train on "
            f"{course.judged_s:g} s.",
            config={"episode_s": course.judged_s},
        )
    elif not course.has_start_states:
        yield Advice(
            lever=Lever.START_STATES,
            finding=finding,
            text="Begin half of the training episodes near it, with start_states, and leave them by curriculum.starts; "
            "where no such state is known, start_states.planned finds motions to it, and "
            "curriculum.assistance holds up a robot that cannot stand or jump yet.",
        )


def _of_fall(course: TrainingCourse) -> Iterator[Advice]:
    if not course.checkpoints:
        return
    best = max(course.checkpoints, key=lambda point: point.success_rate or 0.0)
    last = course.checkpoints[-1]
    if (best.success_rate or 0.0) - (last.success_rate or 0.0) < FELL:
        return
    yield Advice(
        lever=Lever.STEADIER_UPDATES,
        finding=f"The success fell from {best.success_rate:.0%} at step {best.step:,} to "
        f"{last.success_rate or 0.0:.0%} at the end.",
        text="More steps do not help here: halve clip_range to 0.1.",
        config={"clip_range": 0.1},
    )


def _of_rise(course: TrainingCourse) -> Iterator[Advice]:
    if any(_of_assistance(course)):  # which asks for more steps itself
        return
    if any(_of_fall(course)):  # the return rises where the success fell: it pays for something else
        return
    points = [point for point in course.checkpoints if point.score is not None]
    if len(points) >= 2:
        before, last = points[-2:]
        for name, high, low in (
            ("success", last.success_rate or 0.0, before.success_rate or 0.0),
            ("score", last.score or 0.0, before.score or 0.0),
        ):
            rise = high - low
            if rise < STILL_RISING or high < max(getattr(p, _FIELDS[name]) or 0.0 for p in points):
                continue
            missing = max(0.0, (course.needed if name == "success" else 1.0) - high)
            steps = last.step + missing * (last.step - before.step) / rise
            factor = min(MOST_MORE, max(LEAST_MORE, steps / course.total_timesteps))
            yield _more(
                course,
                factor,
                f"The {name} still rose from {low:.2f} to {high:.2f} between steps {before.step:,} and {last.step:,}.",
            )
            return
    slope = course.dynamics.get("return_slope", 0.0)
    if slope > 0.0 and course.dynamics.get("plateau", 1.0) == 0.0:
        yield _more(course, USUAL_MORE, f"The return rose by {slope:.0%} of its range over the last third.")


_FIELDS = {"success": "success_rate", "score": "score"}


def _more(course: TrainingCourse, factor: float, finding: str) -> Advice:
    steps = int(factor * course.total_timesteps)
    return Advice(
        lever=Lever.MORE_STEPS,
        finding=finding,
        text=f"Train {steps:,} steps ({factor:.1f} times as many), or go on from this policy with the difference.",
        config={"total_timesteps": steps},
    )


def _flat(course: TrainingCourse) -> bool:
    return course.dynamics.get("plateau", 0.0) == 1.0


def _of_noise(course: TrainingCourse) -> Iterator[Advice]:
    ratio = course.dynamics.get("policy_std_ratio")
    if not _flat(course) or ratio is None or ratio > NARROW:
        return
    yield Advice(
        lever=Lever.MORE_EXPLORATION,
        finding=f"The return stands still, and the policy's noise has shrunk to {ratio:.0%} of its start.",
        text="Keep it exploring: ent_coef 0.005.",
        config={"ent_coef": 0.005},
    )


def _of_critic(course: TrainingCourse) -> Iterator[Advice]:
    explained = course.dynamics.get("explained_variance")
    if not _flat(course) or explained is None or explained >= BLIND:
        return
    wider = tuple(min(256, 2 * units) for units in course.net_arch)
    yield Advice(
        lever=Lever.ANOTHER_NETWORK,
        finding=f"The return stands still, and {explained:.0%} of the returns' variance is predicted.",
        text=f"Tell the policy what the reward remembers, with observe, or take wider layers: {list(wider)}.",
        config={"net_arch": list(wider)} if wider != course.net_arch else {},
    )


def _of_what_is_left(course: TrainingCourse) -> Iterator[Advice]:
    if not _flat(course):
        return
    never = f" {', '.join(course.unreached)}: met in no rollout of any checkpoint." if course.unreached else ""
    yield Advice(
        lever=Lever.ANOTHER_REWARD,
        finding=f"The return stands still at {course.dynamics.get('return_last', 0.0):.4g}, the noise has not "
        f"collapsed, and returns are predicted.{never}",
        text="What is paid is reached, and is not what is asked: change the reward, or begin episodes elsewhere.",
    )
