"""Sentences over robots from model files: understood, or refused by the name of what the robot lacks."""

from pathlib import Path

import numpy as np
import pytest
from test_builtin_author import load_class

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import UnknownPhrase
from p2p.worker.description.describe import describe_robot

PONY = Path(__file__).parents[2] / "examples" / "pony.xml"
LEG = """<body name="{side}_thigh" pos="0 {y} 0"><joint name="{side}_hip" axis="0 1 0" range="-1 1"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.04" mass="1"/>
<body name="{side}_shin" pos="0 0 -0.3"><joint name="{side}_knee" axis="0 1 0" range="-1.5 0"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.25" size="0.03" mass="0.5"/>
<geom name="{side}_foot" type="box" pos="0.03 0 -0.28" size="0.15 0.08 0.02" mass="0.3"/></body></body>"""
BIPED = f"""<mujoco model="biped"><worldbody><geom name="floor" type="plane" size="0 0 1"/>
<body name="pelvis" pos="0 0 0.6"><freejoint/><geom name="trunk" type="box" size="0.08 0.12 0.1" mass="4"/>
{LEG.format(side="left", y=0.1)}{LEG.format(side="right", y=-0.1)}</body></worldbody></mujoco>"""
ARM = """<mujoco model="arm"><worldbody><geom name="floor" type="plane" size="0 0 1"/>
<body name="shoulder" pos="0 0 0.5"><joint name="turn" axis="0 0 1" range="-2 2"/>
<geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="1"/>
<body name="hand" pos="0.3 0 0"><joint name="bend" axis="0 1 0" range="-2 2"/>
<geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.02" mass="0.4"/></body></body></worldbody></mujoco>"""
SENTENCES = {
    "stand on your hind legs": {"biped": "hind legs", "arm": "hind legs"},
    "trot forward": {},
    "pace forward": {"biped": "four legs", "arm": "cannot move from its place"},
    "wave with the right arm": {"pony": "no arm", "biped": "no arm", "arm": "only a robot that stands"},
    "reach the red cube": {"pony": "'red cube'", "biped": "'red cube'", "arm": "'red cube'"},
    "walk forward": {"arm": "cannot move from its place"},
    "wag your tail": {"pony": "no tail", "biped": "no tail", "arm": "no tail"},
    "stand still": {},
}


@pytest.fixture(scope="module")
def robots(tmp_path_factory: pytest.TempPathFactory) -> dict[str, EnvSpec]:
    folder = tmp_path_factory.mktemp("robots")
    found = {"pony": describe_robot("pony", PONY)}
    for name, text in (("biped", BIPED), ("arm", ARM)):
        path = folder / f"{name}.xml"
        path.write_text(text)
        found[name] = describe_robot(name, path)
    return found


@pytest.mark.parametrize("sentence", SENTENCES)
def test_what_a_robot_lacks_is_named(robots: dict[str, EnvSpec], sentence: str) -> None:
    for name, robot in robots.items():
        lacks = SENTENCES[sentence].get(name)
        try:
            intent = BuiltinAuthor().elicit(sentence, robot)
            assert lacks is None, f"{sentence} on {name} is understood as {[one.title for one in intent.criteria]}"
        except UnknownPhrase as error:
            said = str(error).splitlines()[0]
            assert lacks is None or lacks in said, f"{name}: {said}"
            assert lacks is not None or name == "arm", f"{name}: {said}"


def test_rewards_of_a_reared_robot_are_of_its_size(robots: dict[str, EnvSpec]) -> None:
    author = BuiltinAuthor()
    draft = author.write(author.elicit("stand on your hind legs", robots["pony"]), robots["pony"])
    assert 'info["top_height"], 0.4' in draft.source, "the cheetah's 1.1 m is three ponies high"


def test_a_robot_on_two_legs_is_paid_for_standing_at_its_height_and_one_on_four_is_not(
    robots: dict[str, EnvSpec],
) -> None:
    author = BuiltinAuthor()
    sources = {
        name: author.write(author.elicit("move forward", robots[name]), robots[name]).source
        for name in ("biped", "pony")
    }
    height = robots["biped"].rest_height
    assert '"alive": w["alive"] * upright' in sources["biped"]
    assert f'tolerance(info["height"], {round(0.88 * height, 4)}, {round(1.25 * height, 4)}' in sources["biped"]
    assert "alive" not in sources["pony"]
    still = author.write(author.elicit("stand still", robots["biped"]), robots["biped"]).source
    assert "alive" not in still, "beside standing still, it pays for moving about"


def arm_beside(thing: str, name: str = "thing") -> str:
    body = f'<body name="{name}" pos="0.3 0 0.1"><freejoint/>{thing}</body></worldbody>'
    return ARM.replace("</worldbody>", body)


CUBE = arm_beside('<geom name="red_cube" type="box" size=".05 .06 .05"/>', "crate")
BALL = arm_beside('<geom type="sphere" size=".02"/>', "toy")
MUG = arm_beside('<geom type="ellipsoid" size=".03 .03 .1"/>', "mug")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (CUBE, "reach the box"),
        (CUBE, "reach for the red cube"),
        (CUBE, "reach the crate"),
        (CUBE, "reach the target"),
        (CUBE, "touch the object"),
        (CUBE, "keep touching the cube"),
        (CUBE, "move to the small box"),
        (BALL, "touch the ball"),
        (BALL, "reach the red ball for 3 seconds"),  # no colour is known of it
        (MUG, "reach for the mug"),
    ],
)
def test_a_thing_is_called_by_its_name_or_its_shape(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "arm.xml"
    file.write_text(text)
    intent = BuiltinAuthor().elicit(sentence, describe_robot("arm", file))
    assert [one.key for one in intent.criteria][:2] == ["reaches_target", "stays_at_target"]


@pytest.mark.parametrize(
    ("text", "sentence", "said"),
    [
        (CUBE, "touch the ball", "There is no ball beside this robot; there is a box called 'crate'."),
        (CUBE, "reach the blue cube", "There is no blue cube beside this robot; there is a box called 'crate'."),
        (BALL, "reach for the cylinder", "There is no cylinder beside this robot; there is a ball called 'toy'."),
        (MUG, "reach the box", "There is no box beside this robot; there is an ellipsoid called 'mug'."),
        (CUBE, "reach the banana", "there is a box called 'crate'"),
        (arm_beside('<geom type="box" size=".1 .1 .1"/>', "box"), "reach the capsule", "there is a box."),
        (ARM, "reach the box", "there is nothing to reach"),
    ],
)
def test_another_thing_is_refused_by_name(tmp_path: Path, text: str, sentence: str, said: str) -> None:
    file = tmp_path / "arm.xml"
    file.write_text(text)
    with pytest.raises(UnknownPhrase) as caught:
        BuiltinAuthor().elicit(sentence, describe_robot("arm", file))
    assert said in str(caught.value).splitlines()[0]


@pytest.mark.parametrize(
    ("text", "limit"), [(CUBE, 0.03), (BALL, 0.02), (CUBE.replace(".05 .06 .05", ".2 .2 .2"), 0.05)]
)
def test_what_counts_as_reached_follows_from_the_size(tmp_path: Path, text: str, limit: float) -> None:
    file = tmp_path / "arm.xml"
    file.write_text(text)
    spec = describe_robot("arm", file)
    understood = BuiltinAuthor().understand("reach the target", spec)
    for criterion in understood.intent.criteria[:2]:
        assert criterion.predicate is not None
        assert criterion.predicate.threshold == pytest.approx(limit)
    assert any("What is reached is a" in text for text in understood.assumed)
    draft = BuiltinAuthor().write(understood.intent, spec)
    assert draft.config_changes["total_timesteps"] == 1_000_000


def test_each_centimetre_pays_and_within_the_limit_most(tmp_path: Path) -> None:
    file = tmp_path / "arm.xml"
    file.write_text(CUBE)
    spec = describe_robot("arm", file)
    author = BuiltinAuthor()
    reward = load_class(author.write(author.elicit("reach the box", spec), spec).source)
    obs = np.zeros(spec.obs_dim)

    def paid(distance: float, rate: float = 0.0) -> float:
        info = dict.fromkeys(spec.feature_names, 0.0) | {"target_distance": distance, "action_rate": rate}
        return float(reward(obs, np.zeros(spec.action_dim), obs, {**info, "_episode_start": True})[0])

    steps = [paid(distance) for distance in (0.5, 0.2, 0.05, 0.03, 0.02, 0.01)]
    assert steps == sorted(steps)
    assert steps[4] - steps[3] > 3 * (paid(0.07) - paid(0.08)), "where it is decided"
    assert paid(0.02, rate=1.0) < paid(0.02), "trembling costs"


@pytest.mark.parametrize("sentence", ["jump", "jump 3 times", "jump, then stand still"])
def test_a_robot_that_jumps_may_go_above_its_healthy_heights(robots: dict[str, EnvSpec], sentence: str) -> None:
    pony = robots["pony"]
    assert pony.robot is not None
    assert pony.robot.healthy is not None
    author = BuiltinAuthor()
    config = author.write(author.elicit(sentence, pony), pony).config_changes
    assert config["terminate_when_unhealthy"] is False
    assert config["end_when"] == [f"height <= {pony.robot.healthy[0]:.4g}"]
