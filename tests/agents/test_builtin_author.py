import ast

import numpy as np
import pytest

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.agents.builtin.refusals import examples
from p2p.analysis.predicates import measure
from p2p.contracts.errors import UnknownPhrase
from p2p.contracts.intent import Intent
from p2p.contracts.start_states import StartStates
from p2p.contracts.training import TrainConfig
from p2p.envs.catalog import known, load
from p2p.rewards.definitions import commanded
from p2p.rewards.part_features import part_feature_units, problem_of
from p2p.rewards.templates.body_table import body_of
from p2p.training.presets import preset
from p2p.training.reward_function import RewardFunction

OFFERED = [(env, sentence) for env in known() for line in examples(body_of(load(env))) for sentence in line.split(", ")]
MORE = [
    ("Ant-v5", "spin left twice then stand still"),
    ("HalfCheetah-v5", "walk forward then walk backward then stand still"),
    ("HalfCheetah-v5", "do a backflip then stand still"),
    ("HalfCheetah-v5", "walk at 1 m/s smoothly"),
    ("Walker2d-v5", "walk forward slowly, upright"),
    ("Walker2d-v5", "walk forward with little effort"),
    ("HalfCheetah-v5", "stay low then stay high"),
]
AUTHOR = BuiltinAuthor()


def load_class(source: str) -> RewardFunction:
    space: dict[str, object] = {"__name__": "reward"}
    exec(compile(source, "reward_fn.py", "exec"), space)
    kinds = [v for v in space.values() if isinstance(v, type) and issubclass(v, RewardFunction)]
    found = next(kind for kind in kinds if kind is not RewardFunction)
    return found()  # type: ignore[abstract]


def reward_for(env: str, sentence: str) -> RewardFunction:
    spec = load(env)
    return load_class(AUTHOR.write(AUTHOR.elicit(sentence, spec), spec).source)


def swings_of(env: str) -> tuple[str, ...]:
    """What criteria read of the joints."""
    quantities = ("joint_swing", "leg_swing", "most_leg_swing", "pose_range")
    return tuple(name for name in part_feature_units(load(env)) if name.partition(":")[0] in quantities)


def standing(env: str, **changed: float) -> dict[str, float]:
    """A robot at rest on its feet."""
    spec = load(env)
    info = dict.fromkeys(spec.feature_names, 0.0)
    body = body_of(spec)
    at_rest = {
        "time": 1.0,
        "up": 1.0,
        "height": body.stand.low,
        "feet_down": 1.0,
        "pole_height": 1.2,
        "top_height": 0.8,
    }
    info |= dict.fromkeys(swings_of(env), 0.0)
    return info | {name: value for name, value in at_rest.items() if name in info} | changed


def paid(reward: RewardFunction, env: str, **changed: float) -> float:
    spec = load(env)
    obs = np.zeros(spec.obs_dim)
    return float(reward(obs, np.zeros(spec.action_dim), obs, standing(env, **changed) | {"_episode_start": True})[0])


@pytest.mark.parametrize(("env", "sentence"), [*OFFERED, *MORE])
def test_every_sentence_it_offers_becomes_a_reward_that_runs_and_criteria_that_can_be_measured(
    env: str, sentence: str
) -> None:
    spec = load(env)
    intent = AUTHOR.elicit(sentence, spec)
    draft = AUTHOR.write(intent, spec)
    spec = commanded(spec, intent.commands)
    reward = load_class(draft.source)
    rng = np.random.default_rng(0)
    for step in range(5):
        obs, action = rng.normal(size=spec.obs_dim), rng.uniform(-1, 1, spec.action_dim)
        info = {name: float(rng.normal()) for name in spec.feature_names} | {"_episode_start": step == 0}
        total, terms = reward(obs, action, obs, info)
        assert np.isfinite(total)
        assert total == pytest.approx(sum(terms.values()))
        assert set(terms) == set(reward.terms)
    assert reward.latex.startswith("r = ")
    assert "U" not in reward.latex or r"\quad U = " in reward.latex
    assert reward.description
    assert all(len(line) <= 120 for line in draft.source.splitlines())
    assert 2 <= len(intent.criteria) <= 12
    assert intent.criteria[0].required
    read = {name for criterion in intent.criteria if criterion.predicate for name in criterion.predicate.names()}
    features = {name: rng.normal(size=50) for name in {*spec.feature_names, *swings_of(env), *read}}
    assert not [problem for one in intent.criteria if one.predicate and (problem := problem_of(one.predicate, spec))]
    assert len(measure(intent, features, spec.dt)) == len(intent.criteria)
    TrainConfig.model_validate({**preset(env), **draft.config_changes})


@pytest.mark.parametrize("sentence", ["run forward", "do a backflip then stand still"])
def test_the_same_sentence_gives_the_same_reward(sentence: str) -> None:
    spec = load("HalfCheetah-v5")
    intent = AUTHOR.elicit(sentence, spec)
    assert AUTHOR.write(intent, spec) == AUTHOR.write(intent, spec)
    assert ast.parse(AUTHOR.write(intent, spec).source).body


@pytest.mark.parametrize(
    ("env", "sentence", "right", "wrong"),
    [
        ("HalfCheetah-v5", "run forward", {"velocity_x": 4.0}, {"velocity_x": -4.0}),
        ("HalfCheetah-v5", "run forward", {"velocity_x": 4.0}, {"velocity_x": 4.0, "up": -1.0}),
        ("HalfCheetah-v5", "run backward", {"velocity_x": -4.0}, {"velocity_x": 4.0}),
        ("HalfCheetah-v5", "walk forward", {"velocity_x": 1.0}, {"velocity_x": 4.0}),
        ("HalfCheetah-v5", "stand still", {}, {"speed": 1.0, "velocity_x": 1.0}),
        ("HalfCheetah-v5", "stand still", {}, {"control_effort": 0.8}),
        ("HalfCheetah-v5", "stay low", {"height": 0.4}, {"height": 0.6}),
        ("HalfCheetah-v5", "jump", {"clearance": 0.3, "height": 1.0}, {}),
        ("HalfCheetah-v5", "do a backflip", {"pitch_rate": 8.0}, {"pitch_rate": -8.0}),
        ("HalfCheetah-v5", "do a front flip", {"pitch_rate": -8.0}, {"pitch_rate": 8.0}),
        ("HalfCheetah-v5", "do a backflip", {"up": -1.0}, {"up": -1.0, "torso_contact": 1.0}),
        ("HalfCheetah-v5", "rear up", {"pitch": 1.6, "up": 0.0}, {}),
        ("HalfCheetah-v5", "crawl forward", {"height": 0.4, "velocity_x": 1.5}, {"height": 0.6, "velocity_x": 1.5}),
        ("Hopper-v5", "hop forward without falling", {"velocity_x": 1.5}, {"velocity_x": -1.5}),
        ("Hopper-v5", "jump", {"clearance": 0.2}, {"clearance": 0.2, "displacement": 2.0, "speed": 1.0}),
        ("Walker2d-v5", "walk forward slowly", {"velocity_x": 0.5}, {"velocity_x": 1.5}),
        ("Ant-v5", "walk to the left", {"velocity_y": 0.8}, {"velocity_y": -0.8}),
        ("Ant-v5", "walk to the left", {"velocity_y": 0.8}, {"velocity_y": 0.8, "velocity_x": 0.8}),
        ("Ant-v5", "spin left", {"yaw_rate": 1.5}, {"yaw_rate": -1.5}),
        ("Ant-v5", "spin clockwise", {"yaw_rate": -1.5}, {"yaw_rate": 1.5}),
        ("Swimmer-v5", "swim backward", {"velocity_x": -0.2}, {"velocity_x": 0.2}),
        ("Reacher-v5", "reach the target", {"target_distance": 0.01}, {"target_distance": 0.2}),
        ("Pusher-v5", "push the object to the goal", {"target_distance": 0.02}, {"target_distance": 0.3}),
        ("InvertedPendulum-v5", "keep the pole balanced", {}, {"pole_angle": 0.19}),
        ("InvertedDoublePendulum-v5", "keep the poles up", {}, {"pole_height": 1.0}),
        ("HumanoidStandup-v5", "stand up", {"height": 1.2}, {"height": 0.1}),
    ],
)
def test_what_is_asked_for_pays_more_than_what_is_not(
    env: str, sentence: str, right: dict[str, float], wrong: dict[str, float]
) -> None:
    reward = reward_for(env, sentence)
    assert paid(reward, env, **right) > paid(reward, env, **wrong)


def test_a_sequence_pays_for_its_steps_one_after_the_other() -> None:
    reward = reward_for("Ant-v5", "spin left twice then stand still")
    obs, action = np.zeros(105), np.zeros(8)

    def terms(first: bool, **changed: float) -> dict[str, float]:
        return reward(obs, action, obs, standing("Ant-v5", **changed) | {"_episode_start": first})[1]

    turning = terms(True, yaw_turns=0.1, yaw_rate=2.0)
    assert turning["spin"] > 0.0
    assert turning["still"] == 0.0
    done = terms(False, yaw_turns=2.05)
    assert done["spin"] == 0.0
    assert done["still"] > 0.0
    assert done["progress"] > turning["spin"]
    assert terms(False, yaw_turns=1.9)["progress"] == done["progress"]
    assert terms(True, yaw_turns=0.0)["progress"] == 0.0


def test_each_step_of_a_sequence_charges_its_own_price_of_acting() -> None:
    reward = reward_for("Swimmer-v5", "stay still, then swim")
    obs, action = np.zeros(8), np.ones(2)

    def charged(seconds: float, first: bool) -> float:
        acting = standing("Swimmer-v5", time=seconds, control_effort=1.0) | {"_episode_start": first}
        return sum(value for name, value in reward(obs, action, obs, acting)[1].items() if "effort" in name)

    still, swimming = charged(0.0, True), charged(3.0, False)
    assert still == pytest.approx(-0.3)
    assert swimming == pytest.approx(-0.01)


def test_the_terms_for_a_manner_are_added() -> None:
    assert {"jerk"} <= set(reward_for("HalfCheetah-v5", "walk at 1 m/s smoothly").terms)
    cheap = AUTHOR.elicit("walk forward with little effort", load("Walker2d-v5"))
    assert "little_effort" in [criterion.key for criterion in cheap.criteria]


def trajectory(env: str, seconds: float, **features: object) -> dict[str, np.ndarray]:
    """A rollout of a robot at rest, but for the features given as a value or as a function of the time."""
    spec = load(env)
    steps = round(seconds / spec.dt)
    t = spec.dt * np.arange(1, steps + 1)
    rest = {name: np.full(steps, value) for name, value in standing(env).items()} | {"time": t}
    rest |= {name: t for name in ("foot_idle_time", "time_since_step") if name in rest}
    if "swing" in features:
        features = dict.fromkeys(swings_of(env), features.pop("swing")) | features
    given = {name: value(t) if callable(value) else np.full(steps, value) for name, value in features.items()}
    return rest | {name: np.asarray(values, dtype=np.float64) for name, values in given.items()}


def success(intent: Intent, env: str, rollout: dict[str, np.ndarray]) -> bool:
    required = {criterion.key for criterion in intent.criteria if criterion.required}
    return all(m.met for m in measure(intent, rollout, load(env).dt) if m.key in required)


def rising(falls_s: float) -> dict[str, object]:
    """Features of a humanoid that is on its feet from 1 s on, and lies from `falls_s` on."""

    def stands(t: np.ndarray) -> np.ndarray:
        return (t > 1.0) & (t <= falls_s)

    return {
        "height": lambda t: np.where(stands(t), 1.2, 0.1),
        "up": lambda t: np.where(stands(t), 1.0, 0.0),
        "feet_down": stands,
        "torso_contact": lambda t: ~stands(t),
    }


def flipping(t: np.ndarray) -> np.ndarray:
    """One turn backward between 1 s and 2 s."""
    return np.clip(t - 1.0, 0.0, 1.0)


def turning(turns: float, seconds: float = 2.0, start: float = 0.5) -> dict[str, object]:
    """So many turns to the left, at an even rate."""
    return {
        "yaw_turns": lambda t: turns * np.clip((t - start) / seconds, 0.0, 1.0),
        "yaw_rate": lambda t: 2 * np.pi * turns / seconds * ((t > start) & (t <= start + seconds)),
    }


def jumps(*starts: float, height: float = 0.3) -> dict[str, object]:
    """Flights of 0.4 s that begin at these times."""
    aloft = lambda t: np.any([(t > s) & (t < s + 0.4) for s in starts], axis=0)  # noqa: E731
    return {
        "clearance": lambda t: height * aloft(t),
        "flight_rise": lambda t: height * aloft(t),
        "jump_height": lambda t: height * aloft(t),
        "airborne": aloft,
        "feet_down": lambda t: 1.0 - aloft(t),
    }


def there_and_back(t: np.ndarray) -> np.ndarray:
    return 0.55 * np.clip(np.minimum(t - 0.5, 3.5 - t), 0.0, 1.0)


FLIP = {
    "pitch_turns": flipping,
    "up": lambda t: np.cos(2 * np.pi * flipping(t)),
    "airborne": lambda t: (t > 1.0) & (t < 1.95),
    "feet_down": lambda t: 1.0 - ((t > 1.0) & (t < 1.95)),
    "clearance": lambda t: 0.3 * ((t > 1.0) & (t < 1.95)),
}
FOUR_JUMPS = jumps(1.0, 2.0, 3.0, 4.0)
HOPS = {
    "velocity_x": 1.5,
    "swing": 0.3,
    "airborne": lambda t: np.sin(10 * t) > 0,
    "clearance": lambda t: 0.1 * np.maximum(0.0, np.sin(10 * t)),
}
STEPS = {"swing": 0.3, "foot_idle_time": 0.4, "feet_down": lambda t: 0.5 * (np.sin(10 * t) > 0)}
CRAWLS = {**STEPS, "velocity_x": 1.0, "height": 0.4}
BEHAVIOURS = [
    ("HalfCheetah-v5", "run forward", "runs", {**STEPS, "velocity_x": 5.0}, True),
    ("HalfCheetah-v5", "run forward", "slides", {"velocity_x": 5.0}, False),
    ("HalfCheetah-v5", "move forward", "slides", {"velocity_x": 5.0}, True),
    ("HalfCheetah-v5", "run forward", "runs backward", {**STEPS, "velocity_x": -5.0}, False),
    ("HalfCheetah-v5", "run forward", "slides on its back", {**STEPS, "velocity_x": 5.0, "up": -1.0}, False),
    ("HalfCheetah-v5", "run forward", "bounces with stiff legs", {**STEPS, "velocity_x": 5.0, "swing": 0.02}, False),
    ("HalfCheetah-v5", "run forward", "drags a stiff hind leg",
     {**STEPS, "velocity_x": 5.0, "leg_swing:bfoot": 0.02}, False),
    ("HalfCheetah-v5", "run forward", "dashes and rests",
     {**STEPS, "velocity_x": lambda t: 10.0 * (np.sin(12 * t) > 0)}, False),
    ("HalfCheetah-v5", "run forward", "falls in the last 0.4 s",
     {**STEPS, "velocity_x": 5.0, "up": lambda t: 1.0 - 2.0 * (t > 4.6)}, False),
    ("HalfCheetah-v5", "crawl forward", "bounces with stiff legs", {**CRAWLS, "swing": 0.02}, False),
    ("HalfCheetah-v5", "hop forward", "bounces with stiff legs", {**HOPS, "swing": 0.02}, False),
    ("HalfCheetah-v5", "hop forward", "hops on one leg", {**HOPS, "leg_swing:bfoot": 0.0}, True),
    ("HalfCheetah-v5", "run backward", "runs backward", {**STEPS, "velocity_x": -5.0}, True),
    ("HalfCheetah-v5", "walk forward", "walks", {**STEPS, "velocity_x": 1.0}, True),
    ("HalfCheetah-v5", "walk forward", "runs", {**STEPS, "velocity_x": 5.0}, False),
    ("HalfCheetah-v5", "stand still", "stands", {}, True),
    ("HalfCheetah-v5", "stand still", "braces", {"control_effort": 0.84}, False),
    ("HalfCheetah-v5", "stand still", "drifts", {"displacement": lambda t: 0.2 * t, "speed": 0.2}, False),
    ("HalfCheetah-v5", "stand still", "lies on its back", {"up": -1.0}, False),
    ("HalfCheetah-v5", "crawl forward", "crawls", CRAWLS, True),
    ("HalfCheetah-v5", "crawl forward", "drags", {**CRAWLS, "torso_contact": 0.7}, False),
    ("HalfCheetah-v5", "crawl forward", "walks", {**STEPS, "velocity_x": 1.0, "height": 0.6}, False),
    ("HalfCheetah-v5", "crawl forward", "glides", {"velocity_x": 1.0, "height": 0.4}, False),
    ("HalfCheetah-v5", "gallop forward", "slides", {"velocity_x": 5.0}, False),
    ("HalfCheetah-v5", "jump", "jumps", jumps(2.0), True),
    ("HalfCheetah-v5", "jump", "draws up its legs", {**jumps(2.0), "flight_rise": lambda t: -0.1 * (t > 2.0)}, False),
    ("HalfCheetah-v5", "jump 3 times", "draws up its legs once",
     {**jumps(1.0, 2.0, 3.0), "flight_rise": lambda t: np.where(t > 2.9, 0.0, FOUR_JUMPS["flight_rise"](t))}, False),
    ("HalfCheetah-v5", "jump", "jumps and lands on its back",
     {**jumps(2.0), "up": lambda t: 1.0 - 2.0 * (t > 2.3)}, False),
    ("HalfCheetah-v5", "jump", "lies down at the end", {**jumps(2.0), "torso_contact": lambda t: t > 4.7}, False),
    ("HalfCheetah-v5", "jump", "flies away", jumps(4.7), False),
    ("HalfCheetah-v5", "jump 3 times", "jumps 3 times", jumps(1.0, 2.0, 3.0), True),
    ("HalfCheetah-v5", "jump 3 times", "jumps 4 times", jumps(1.0, 2.0, 3.0, 4.0), False),
    ("HalfCheetah-v5", "jump 3 times", "jumps with its first step as well", jumps(-0.1, 1.0, 2.0, 3.0), False),
    ("HalfCheetah-v5", "jump 3 times", "jumps 3 times, and once a little lower",
     {**jumps(1.0, 2.0, 3.0, 4.0), "clearance": lambda t: np.where(t > 3.9, 0.6, 1.0) * FOUR_JUMPS["clearance"](t)},
     False),
    ("HalfCheetah-v5", "jump once", "jumps once", jumps(1.0), True),
    ("HalfCheetah-v5", "jump once", "jumps twice", jumps(1.0, 2.0), False),
    ("HalfCheetah-v5", "jump repeatedly", "jumps on and on", jumps(0.3, 1.3, 2.3, 3.3, 4.3), True),
    ("HalfCheetah-v5", "jump repeatedly", "jumps at first, and then stands", jumps(0.3, 0.9, 1.5), False),
    ("HalfCheetah-v5", "jump for 5 seconds", "jumps at first, and then stands", jumps(0.3, 0.9, 1.5), False),
    ("Hopper-v5", "hop in place", "hops in place", jumps(0.3, 1.3, 2.3, 3.3, 4.3), True),
    ("Hopper-v5", "hop in place", "hops away",
     {**jumps(0.3, 1.3, 2.3, 3.3, 4.3), "displacement": lambda t: 0.2 * t}, False),
    ("HalfCheetah-v5", "jump", "stands", {}, False),
    ("HalfCheetah-v5", "do a backflip", "flips", FLIP, True),
    ("HalfCheetah-v5", "do a backflip and land on your feet", "flips", FLIP, True),
    ("HalfCheetah-v5", "do a front flip", "flips backward", FLIP, False),
    ("HalfCheetah-v5", "do two backflips", "flips once", FLIP, False),
    ("HalfCheetah-v5", "do a backflip", "rolls", {**FLIP, "airborne": 0.0, "feet_down": 1.0}, False),
    (
        "HalfCheetah-v5",
        "do a backflip",
        "turns over half and lies on its back",
        {**FLIP, "pitch_turns": lambda t: 0.5 * flipping(t), "up": lambda t: np.cos(np.pi * flipping(t)),
         "torso_contact": lambda t: t > 1.5},
        False,
    ),
    ("HalfCheetah-v5", "do a backflip", "flips twice", {**FLIP, "pitch_turns": lambda t: 2 * flipping(t)}, False),
    ("HalfCheetah-v5", "do backflips", "flips twice", {**FLIP, "pitch_turns": lambda t: 2 * flipping(t)}, True),
    ("HalfCheetah-v5", "do a backflip", "bounces on its trunk",
     {**FLIP, "torso_contact": lambda t: (t > 1.6) & (t < 1.66)}, False),
    ("HalfCheetah-v5", "do a backflip", "stands, then lies down", {**FLIP, "torso_contact": lambda t: t > 3.0}, False),
    ("HalfCheetah-v5", "do a backflip", "flips there and back",
     {**FLIP, "pitch_turns": lambda t: flipping(t) - flipping(t - 2)}, False),
    ("Hopper-v5", "do a backflip and land on your feet", "lies with a foot down",
     {**FLIP, "height": lambda t: np.where(t > 1.9, 0.39, 1.25)}, False),
    ("Hopper-v5", "do a backflip and land on your feet", "flips", {**FLIP, "height": 1.25}, True),
    ("HalfCheetah-v5", "do a backflip", "falls after it", {**FLIP, "feet_down": lambda t: t < 1.0}, False),
    ("HalfCheetah-v5", "stand on your hind legs", "rears", {"pitch": 1.5, "up": 0.0}, True),
    ("HalfCheetah-v5", "stand on your hind legs", "sits", {"pitch": 1.5, "up": 0.0, "torso_contact": 1.0}, False),
    ("HalfCheetah-v5", "stand on your hind legs", "stands", {}, False),
    ("Hopper-v5", "hop forward", "hops", HOPS, True),
    ("Hopper-v5", "hop forward", "vibrates", {**HOPS, "clearance": 0.01}, False),
    ("Hopper-v5", "hop forward", "falls", {"velocity_x": 1.5, "up": lambda t: np.cos(t)}, False),
    ("Hopper-v5", "hop forward", "slides", {"velocity_x": 1.5}, False),
    ("Hopper-v5", "jump", "jumps away", {"clearance": 0.3, "displacement": lambda t: t}, False),
    ("Ant-v5", "walk to the left", "walks left", {**STEPS, "velocity_y": 0.8}, True),
    ("Ant-v5", "walk to the left", "walks right", {**STEPS, "velocity_y": -0.8}, False),
    ("Ant-v5", "walk to the left", "walks diagonally", {**STEPS, "velocity_y": 0.8, "velocity_x": 0.8}, False),
    ("Ant-v5", "spin left", "spins left", turning(2.5, 5.0), True),
    ("Ant-v5", "spin left", "falls in the last 0.4 s",
     {**turning(2.5, 5.0), "up": lambda t: 1.0 - 2.0 * (t > 4.6)}, False),
    ("Ant-v5", "spin in place", "spins left", turning(1.1), True),
    ("Ant-v5", "spin in place", "spins right", turning(-1.1), True),
    ("Ant-v5", "spin in place", "half a turn", turning(0.6), False),
    ("Ant-v5", "spin in place", "in a circle of radius 0.35",
     {**turning(1.2), "displacement": lambda t: 0.7 * (t > 1)}, False),
    ("Ant-v5", "spin left", "in a circle of radius 0.7",
     {**turning(1.2), "displacement": lambda t: 1.4 * (t > 1)}, False),
    ("Ant-v5", "spin in place", "left and right again",
     {"yaw_turns": lambda t: 2.2 * there_and_back(t), "yaw_rate": 2.0}, False),
    ("Ant-v5", "turn right 180 degrees", "turns half round", turning(-0.5), True),
    ("Ant-v5", "turn right 180 degrees", "turns the other way", turning(0.5), False),
    ("Ant-v5", "turn right 180 degrees", "turns three times", turning(-3.0, 3.0), False),
    ("Ant-v5", "turn right 180 degrees", "turns by 70 % more", turning(-0.85), False),
    ("Ant-v5", "turn right 180 degrees", "turns on for ever", turning(-0.65, 5.0), False),
    ("Ant-v5", "turn right 180 degrees", "there and back",
     {"yaw_turns": lambda t: -there_and_back(t), "yaw_rate": -2.0}, False),
    ("Ant-v5", "turn around", "to the right", turning(-0.5), True),
    ("Ant-v5", "turn around", "to the left", turning(0.5), True),
    ("Ant-v5", "spin left twice", "twice", turning(2.0, 4.0), True),
    ("Ant-v5", "spin left twice", "three times", turning(3.0, 4.0), False),
    ("Ant-v5", "spin left twice", "twice left, twice right",
     {"yaw_turns": lambda t: 4 * there_and_back(t), "yaw_rate": 2.0}, False),
    ("Ant-v5", "spin for 5 seconds", "spins on and on", turning(2.5, 5.0, 0.0), True),
    ("Ant-v5", "spin for 5 seconds", "spins for two seconds", turning(1.5, 2.0), False),
    ("Ant-v5", "turn left 90 degrees then walk forward", "walks where it faces",
     {**turning(0.25, 1.0), **STEPS, "forward_velocity": 0.8, "velocity_y": 0.8}, True),
    ("Ant-v5", "turn left 90 degrees then walk forward", "walks sideways along the world's axis",
     {**turning(0.25, 1.0), **STEPS, "lateral_velocity": -0.8, "velocity_x": 0.8}, False),
    ("Ant-v5", "turn left 90 degrees then walk forward", "turns round and walks where it faces",
     {**turning(1.0, 3.0), **STEPS, "forward_velocity": 0.8}, False),
    ("Swimmer-v5", "spin in place", "spins right", turning(-1.3, 5.0), True),
    ("HalfCheetah-v5", "walk slowly, then run", "walks, then runs",
     {**STEPS, "velocity_x": lambda t: np.where(t < 2.1, 0.5, 4.0)}, True),
    ("HalfCheetah-v5", "walk slowly, then run", "runs at once",
     {**STEPS, "velocity_x": lambda t: np.minimum(3 * t, 6.0)}, False),
    ("HalfCheetah-v5", "run at 3 m/s for 2 seconds then stop", "as asked",
     {**STEPS, "velocity_x": lambda t: 3.0 * (t < 2.1), "speed": lambda t: 3.0 * (t < 2.1)}, True),
    ("HalfCheetah-v5", "run at 3 m/s for 2 seconds then stop", "stops after one second",
     {**STEPS, "velocity_x": lambda t: 3.0 * (t < 1.0), "speed": lambda t: 3.0 * (t < 1.0)}, False),
    ("HalfCheetah-v5", "run at 3 m/s for 2 seconds then stop", "at half the pace",
     {**STEPS, "velocity_x": lambda t: 1.5 * (t < 2.1), "speed": lambda t: 1.5 * (t < 2.1)}, False),
    ("Ant-v5", "spin left", "spins right", {"yaw_turns": lambda t: -0.5 * t}, False),
    ("Ant-v5", "spin left", "runs in a circle", {"yaw_turns": lambda t: t, "displacement": lambda t: t}, False),
    ("Ant-v5", "spin left then stand still", "stops after a turn",
     {"yaw_turns": lambda t: np.minimum(0.5 * t, 1.0), "speed": lambda t: 0.5 * (t < 2.0)}, True),
    ("Ant-v5", "spin once then stand still", "to the right",
     {"yaw_turns": lambda t: -np.minimum(0.5 * t, 1.0), "speed": lambda t: 0.5 * (t < 2.0)}, True),
    ("Ant-v5", "spin once then stand still", "to the left",
     {"yaw_turns": lambda t: np.minimum(0.5 * t, 1.0), "speed": lambda t: 0.5 * (t < 2.0)}, True),
    ("Ant-v5", "spin once then stand still", "spins on",
     {"yaw_turns": lambda t: 0.5 * t, "speed": lambda t: 0.5 * (t < 2.0)}, False),
    ("Ant-v5", "turn around then walk forward", "to the right, and walks where it faces",
     {**turning(-0.5, 1.5), **STEPS, "forward_velocity": 0.8}, True),
    ("Ant-v5", "spin left then stand still", "stops before the turn",
     {"yaw_turns": lambda t: np.minimum(0.5 * t, 0.8), "speed": lambda t: 0.5 * (t < 2.0)}, False),
    ("Swimmer-v5", "swim forward", "swims", {"joint_speed": 1.7, "velocity_x": 0.2, "swing": 0.5}, True),
    ("Swimmer-v5", "swim forward", "trembles and is pushed",
     {"joint_speed": 1.7, "velocity_x": 0.2, "swing": 0.02}, False),
    ("Swimmer-v5", "swim forward", "goes to and fro",
     {"joint_speed": 1.7, "velocity_x": lambda t: 0.15 + 0.8 * np.sin(6 * t), "swing": 0.5}, False),
    ("Swimmer-v5", "stay still", "rests", {}, True),
    ("Swimmer-v5", "stay still", "glides on from its start",
     {"displacement": lambda t: 0.6 * (1 - np.exp(-t)), "speed": lambda t: 0.6 * np.exp(-t)}, True),
    ("Swimmer-v5", "stay still", "swims off slowly", {"displacement": lambda t: 0.06 * t, "speed": 0.06}, False),
    ("Swimmer-v5", "stay still", "turns to and fro slowly", {"yaw_turns": lambda t: 0.04 * np.sin(t)}, False),
    ("Swimmer-v5", "stay still", "bends slowly", {"pose_range": lambda t: 0.1 * t}, False),
    ("Swimmer-v5", "swim forward", "lunges and stops", {"velocity_x": lambda t: 0.5 * (t < 3.0)}, False),
    ("Reacher-v5", "reach the target", "reaches", {"target_distance": 0.01}, True),
    ("Reacher-v5", "reach the target", "swings through",
     {"target_distance": lambda t: 0.2 * abs(np.cos(np.pi * t / 4))}, False),
    ("Pusher-v5", "push the object to the goal", "pushes", {"target_distance": lambda t: 0.3 - 0.05 * t}, True),
    ("Pusher-v5", "push the object to the goal", "waves", {"target_distance": 0.3}, False),
    ("InvertedPendulum-v5", "keep the pole balanced", "balances", {}, True),
    ("InvertedPendulum-v5", "keep the pole balanced", "drops it", {"pole_angle": lambda t: 0.1 * t}, False),
    ("InvertedDoublePendulum-v5", "keep the poles up", "drops them", {"pole_height": lambda t: 1.2 - 0.1 * t}, False),
    ("Walker2d-v5", "walk forward slowly, upright", "strolls", {**STEPS, "velocity_x": 0.5}, True),
    ("Walker2d-v5", "walk forward slowly, upright", "rushes", {**STEPS, "velocity_x": 1.5}, False),
    ("Walker2d-v5", "walk forward slowly, upright", "creeps on its knees",
     {**STEPS, "velocity_x": 0.5, "height": 0.5}, False),
    ("HumanoidStandup-v5", "stand up", "sits up", {"height": 0.6, "up": 1.0}, False),
    ("HumanoidStandup-v5", "stand up", "stands to the end", rising(5.0), True),
    ("HumanoidStandup-v5", "stand up", "stands for three seconds and falls", rising(4.0), False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("env", "sentence", "behaviour", "features", "passes"), BEHAVIOURS, ids=[f"{b[1]}: {b[2]}" for b in BEHAVIOURS]
)
def test_a_behaviour_passes_only_where_it_was_asked_for(
    env: str, sentence: str, behaviour: str, features: dict[str, object], passes: bool
) -> None:
    intent = AUTHOR.elicit(sentence, load(env))
    assert success(intent, env, trajectory(env, intent.episode_s, **features)) is passes, behaviour


@pytest.mark.parametrize("env", ["HalfCheetah-v5", "Hopper-v5", "Swimmer-v5"])
def test_as_fast_as_you_can_asks_for_more_than_fast_and_pays_for_every_bit(env: str) -> None:
    gait = "swim" if env == "Swimmer-v5" else "run"
    fastest = AUTHOR.elicit(f"{gait} as fast as you can", load(env)).criteria[0].predicate
    plain = AUTHOR.elicit(f"{gait} forward" if gait == "run" else "swim fast", load(env)).criteria[0].predicate
    assert fastest is not None
    assert plain is not None
    assert fastest.threshold > plain.threshold
    reward = reward_for(env, f"{gait} forward as fast as you can")
    assert paid(reward, env, velocity_x=40.0) > paid(reward, env, velocity_x=20.0)


def test_training_and_judged_episodes_are_long_enough_and_both_are_told() -> None:
    spec = load("Ant-v5")
    intent = AUTHOR.elicit("spin left 4 times", spec)
    draft = AUTHOR.write(intent, spec)
    assert intent.episode_s >= 4 * 2.5
    assert draft.config_changes["episode_s"] >= 4 * 2.5  # type: ignore[operator]
    assert f"judged in episodes of {intent.episode_s:g} s" in draft.reasoning
    assert AUTHOR.write(AUTHOR.elicit("walk forward for 8 seconds", spec), spec).config_changes["episode_s"] == 8.0


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_turn_to_either_side_is_done_whichever_way_it_went(way: float) -> None:
    reward = reward_for("Ant-v5", "spin once then stand still")
    obs, action = np.zeros(105), np.zeros(8)
    assert reward(obs, action, obs, standing("Ant-v5") | {"_episode_start": True})[1]["progress"] == 0.0
    turned = standing("Ant-v5", yaw_turns=1.1 * way) | {"_episode_start": False}
    assert reward(obs, action, obs, turned)[1]["progress"] > 0.0


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_turn_to_either_side_without_stopping_is_done_whichever_way_it_went(way: float) -> None:
    intent = AUTHOR.elicit("spin without stopping", load("Ant-v5"))
    turning = trajectory("Ant-v5", intent.episode_s, yaw_turns=lambda t: 0.4 * way * t, yaw_rate=2.5 * way)
    assert success(intent, "Ant-v5", turning)
    turning["yaw_rate"][: turning["time"].size // 2] = 0.0
    assert not success(intent, "Ant-v5", turning)


@pytest.mark.parametrize(
    ("env", "sentence", "why"),
    [
        ("Swimmer-v5", "spin without stopping", "to and fro"),
        ("Walker2d-v5", "stay low without crouching", "the walker crouches"),
        ("Ant-v5", "walk low without crouching", "the ant crouches"),
        ("Hopper-v5", "do a backflip a half turn", "a whole turn"),
    ],
)
def test_what_no_motion_could_meet_is_refused(env: str, sentence: str, why: str) -> None:
    with pytest.raises(UnknownPhrase, match=why):
        AUTHOR.elicit(sentence, load(env))


@pytest.mark.parametrize(
    ("sentence", "env_id"), [("hop forward", "Hopper-v5"), ("do a backflip", "Hopper-v5"), ("spin left", "Ant-v5")]
)
def test_shares_in_criteria_have_no_needless_digits(sentence: str, env_id: str) -> None:
    told = [criterion.description for criterion in BuiltinAuthor().elicit(sentence, load(env_id)).criteria]
    assert any("% of the" in text for text in told)
    assert not [text for text in told if ".0%" in text]


@pytest.mark.parametrize(
    ("sentence", "env_id", "told"),
    [
        (
            "walk forward for 2 seconds, then stand still",
            "Walker2d-v5",
            ("time", "step_1_done", "step_time", "step_progress"),
        ),
        ("spin left twice", "Ant-v5", ("yaw_turns", "displacement_x", "displacement_y")),
        (
            "turn right 180 degrees, then walk forward",
            "Ant-v5",
            ("yaw_turns", "step_1_done", "step_time", "step_progress"),
        ),
        ("jump 3 times", "Hopper-v5", ("counted",)),
        ("do a backflip and land on your feet", "HalfCheetah-v5", ()),  # its observation shows the unwrapped pitch
        ("hop forward", "Hopper-v5", ()),
    ],
)
def test_a_policy_is_told_what_order_and_counts_need(sentence: str, env_id: str, told: tuple[str, ...]) -> None:
    author, env = BuiltinAuthor(), load(env_id)
    draft = author.write(author.elicit(sentence, env), env)
    config = TrainConfig.model_validate({"env_id": env_id, **draft.config_changes})
    assert (config.observe.names if config.observe is not None else ()) == told
    assert ("The policy is told" in draft.reasoning) is bool(told)
    assert ("A robot cannot compute" in draft.reasoning) is bool({"counted", "displacement_x"} & set(told))


@pytest.mark.parametrize(("env_id", "falls"), [("Hopper-v5", True), ("Walker2d-v5", True), ("HalfCheetah-v5", False)])
@pytest.mark.parametrize(("sentence", "way"), [("do a backflip", 1.0), ("do a front flip", -1.0)])
def test_flips_are_practised_from_the_middle_and_no_further_than_the_robot_survives(
    env_id: str, falls: bool, sentence: str, way: float
) -> None:
    spec = load(env_id)
    changes = AUTHOR.write(AUTHOR.elicit(sentence, spec), spec).config_changes
    starts = StartStates.model_validate(changes["start_states"])
    assert sorted(way * angle for angle in starts.pitch) == pytest.approx([0.0, 6.28] if falls else [-3.14, 3.14])
    assert max(way * rate for rate in starts.pitch_rate) == 8.0
    past = "pitch_turns >= 1.2" if way > 0 else "pitch_turns <= -1.2"
    assert changes["end_when"] == ["torso_contact >= 0.5", past]


def test_flips_that_go_on_are_paid_for_landing_and_for_the_next_flip() -> None:
    reward = reward_for("HalfCheetah-v5", "do a backflip repeatedly")

    def terms(**changed: float) -> dict[str, float]:
        nothing = np.zeros(1)
        return reward.compute(nothing, nothing, nothing, standing("HalfCheetah-v5", **changed))[1]

    assert terms(pitch_turns=0.0)["landed"] == 0.0
    assert terms(pitch_turns=2.0)["landed"] == terms(pitch_turns=4.0)["landed"] > 1.5
    assert terms(pitch_turns=4.3, pitch_rate=10.0)["flip"] == 2.0


@pytest.mark.parametrize("env_id", ["Walker2d-v5", "Humanoid-v5"])
def test_a_low_posture_is_not_paid_for_standing_tall(env_id: str) -> None:
    reward = reward_for(env_id, "stay low")
    nothing = np.zeros(1)
    tall, low = (
        reward.compute(nothing, nothing, nothing, info)[1]
        for info in (standing(env_id), standing(env_id, height=0.9 * body_of(load(env_id)).low))
    )
    assert low["alive"] == tall["alive"] > 0.0
    assert low["height"] > tall["height"]


def test_what_rears_is_paid_for_how_long_it_has_held_it() -> None:
    sentence = "stand on your hind legs for 4 seconds"
    reward = reward_for("HalfCheetah-v5", sentence)
    nothing = np.zeros(1)

    def held(time: float, pitch: float = 1.5, torso_contact: float = 0.0) -> float:
        info = standing("HalfCheetah-v5", time=time, pitch=pitch, torso_contact=torso_contact)
        return reward.compute(nothing, nothing, nothing, info | {"_episode_start": time == 0.05})[1]["held"]

    assert [held(time) for time in (0.05, 1.05, 2.05, 4.05, 5.05)] == pytest.approx([0.0, 0.25, 0.5, 1.0, 1.0])
    assert held(5.1, torso_contact=1.0) == 0.0
    assert held(6.1) == pytest.approx(0.25)
    assert held(6.2, pitch=0.5) == 0.0
    assert held(0.05) == 0.0  # another episode


@pytest.mark.parametrize(
    ("sentence", "end_when"),
    [
        ("do two backflips", ["torso_contact >= 0.5", "pitch_turns >= 2.2"]),
        ("do backflips", ["torso_contact >= 0.5"]),
        ("do a backflip, then do a front flip", ["torso_contact >= 0.5"]),
    ],
)
def test_an_episode_ends_past_the_feet_only_where_the_last_flip_is_known(sentence: str, end_when: list[str]) -> None:
    spec = load("Hopper-v5")
    assert AUTHOR.write(AUTHOR.elicit(sentence, spec), spec).config_changes["end_when"] == end_when


@pytest.mark.parametrize(
    ("env_id", "sentence", "steps"),
    [
        ("HalfCheetah-v5", "walk slowly, then run", 500_000),
        ("HalfCheetah-v5", "do a backflip, then run", 600_000),
        ("Walker2d-v5", "walk forward for 2 seconds, then stand still", 1_000_000),
        ("Ant-v5", "spin left twice, then walk forward", 1_000_000),
    ],
)
def test_a_sequence_trains_for_its_steps_together_and_no_less_than_the_longest(
    env_id: str, sentence: str, steps: int
) -> None:
    spec = load(env_id)
    assert AUTHOR.write(AUTHOR.elicit(sentence, spec), spec).config_changes["total_timesteps"] == steps


def test_what_comes_after_standing_still_is_looked_for_with_the_usual_noise() -> None:
    spec = load("Swimmer-v5")
    before, after = (
        AUTHOR.write(AUTHOR.elicit(sentence, spec), spec).config_changes
        for sentence in ("stay still, then spin", "swim, then stay still")
    )
    assert "log_std_init" not in before
    assert after["log_std_init"] == -1.0


def test_gliding_on_pays_a_slow_swimmer_next_to_nothing() -> None:
    reward = reward_for("Swimmer-v5", "swim slowly")
    assert paid(reward, "Swimmer-v5", velocity_x=0.0) < 0.15 * paid(reward, "Swimmer-v5", velocity_x=0.06)


@pytest.mark.parametrize("sentence", ["stay low", "stay low, then jump", "jump, then stay low"])
def test_where_a_step_is_to_be_low_a_low_torso_is_no_fall(sentence: str) -> None:
    found = {one.key: one for one in AUTHOR.elicit(sentence, load("Hopper-v5")).criteria}["stays_upright"]
    assert found.predicate is not None
    assert [bound.feature for bound in found.predicate.where] == ["up"]
    assert "torso" not in found.description


def terms_of(env: str, sentence: str, clearances: tuple[float, ...]) -> list[dict[str, float]]:
    """What each term pays at every step of an episode in which a robot is so high over the floor."""
    spec, reward = load(env), reward_for(env, sentence)
    zeros = np.zeros(spec.obs_dim), np.zeros(spec.action_dim), np.zeros(spec.obs_dim)
    infos = [
        standing(env, clearance=clearance, jump_height=clearance, time=spec.dt * step) | {"_episode_start": step == 0}
        for step, clearance in enumerate(clearances)
    ]
    return [reward(*zeros, info)[1] for info in infos]


def test_a_drop_at_the_start_is_no_jump() -> None:
    found = terms_of("Ant-v5", "jump once", (0.3, 0.0, 0.3))
    assert [terms["jumps"] > 0.0 for terms in found] == [False, False, True]


def test_a_jump_that_counts_and_standing_after_it_are_paid_and_jumping_on_is_not() -> None:
    found = terms_of("Ant-v5", "jump", (0.0, 0.1, 0.3, 0.0, 0.3))
    assert [terms["lift"] > 0.0 for terms in found] == [False, True, False, False, False]
    assert [round(terms["stays"], 1) for terms in found] == [0.0, 0.0, 3.0, 3.0, 0.0]


@pytest.mark.parametrize(
    ("heights", "share"),
    [((0.2, 0.2), 1.0), ((0.2, 0.12), 0.5), ((0.2, 0.2, 0.12), 0.0), ((0.2, 0.05, 0.2), 1.0), ((0.2,), 0.0)],
)
def test_standing_after_counted_jumps_is_paid_by_those_in_full_and_a_lower_one_uses_one_up(
    heights: tuple[float, ...], share: float
) -> None:
    flights = [clearance for height in heights for clearance in (height / 2, height, height / 2, 0.0)]
    last = terms_of("Hopper-v5", "jump twice", (0.0, *flights))[-1]
    full = terms_of("Hopper-v5", "jump", (0.0, 0.2, 0.0))[-1]["stays"]
    assert last["stays"] == pytest.approx(share * full)


def test_the_last_of_counted_jumps_is_paid_by_its_height_until_it_lands() -> None:
    found = terms_of("Hopper-v5", "jump twice", (0.0, 0.2, 0.0, 0.1, 0.2, 0.0, 0.1))
    assert [terms["lift"] > 0.0 for terms in found] == [False, True, False, True, True, False, False]


def test_a_jump_is_held_up_at_first_also_where_a_fine_grows() -> None:
    spec, author = load("Hopper-v5"), BuiltinAuthor()
    for sentence, height, parts in (
        ("jump", 0.15, {"assistance"}),
        ("jump and land softly", 0.18, {"assistance", "weights"}),
    ):
        curriculum = author.write(author.elicit(sentence, spec), spec).config_changes["curriculum"]
        assert set(curriculum) == parts
        assert curriculum["assistance"]["goal"] == [f"jump_height >= {height:g}"]


def test_a_drop_at_the_start_does_not_end_a_jump_that_comes_first() -> None:
    found = terms_of("Ant-v5", "jump, then spin", (0.3, 0.2, 0.0, 0.1, 0.2, 0.0))
    assert [terms["progress"] > 0.0 for terms in found] == [False, False, False, False, True, True]


def test_what_follows_a_jump_begins_once_it_has_stood_a_moment_after_its_landing() -> None:
    found = terms_of("Hopper-v5", "jump, then stay low", (0.0, 0.1, 0.2, 0.1, *(30 * [0.0])))
    begins = next(step for step, terms in enumerate(found) if terms["height"] > 0.0)
    assert load("Hopper-v5").dt * (begins - 4) == pytest.approx(0.2, abs=0.01)
    assert [terms["progress"] for terms in found[:5]] == [0.0, 0.0, 1.5, 1.5, 3.0]
    assert not any(terms["lift"] for terms in found[begins:])


def test_a_slow_speed_is_none_that_standing_has() -> None:
    predicate = AUTHOR.elicit("swim at 0.05 m/s", load("Swimmer-v5")).criteria[0].predicate
    assert predicate is not None
    assert predicate.threshold == 0.025
    reward = reward_for("Swimmer-v5", "swim at 0.05 m/s")
    assert paid(reward, "Swimmer-v5", velocity_x=0.0) < 0.2 * paid(reward, "Swimmer-v5", velocity_x=0.05)


@pytest.mark.parametrize(
    ("env_id", "sentence", "steps"),
    [
        ("Hopper-v5", "run backward", 1_000_000),
        ("Hopper-v5", "run backward at 2 m/s", 1_000_000),
        ("Hopper-v5", "run forward", 250_000),
        ("Hopper-v5", "walk backward", 250_000),
        ("Swimmer-v5", "swim between 0.03 and 0.1 m/s", 900_000),
        ("Swimmer-v5", "swim fast", 300_000),
    ],
)
def test_a_speed_trains_for_as_long_as_the_pace_that_it_lies_in(env_id: str, sentence: str, steps: int) -> None:
    spec = load(env_id)
    assert AUTHOR.write(AUTHOR.elicit(sentence, spec), spec).config_changes["total_timesteps"] == steps
