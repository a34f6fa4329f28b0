"""A file beside the model takes the place of what would be guessed."""

from pathlib import Path

import numpy as np
import pytest
from robot_files import PONY

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidInput, P2PError
from p2p.worker.description.describe import describe_robot
from p2p.worker.engine.environment import make_environment


def with_overrides(folder: Path, toml: str, text: str | None = None) -> EnvSpec:
    file = folder / "my_pony.xml"
    file.write_text(text or PONY.read_text())
    file.with_suffix(".toml").write_text(toml)
    return describe_robot("my_pony", file)


def test_each_key_takes_the_place_of_a_choice_and_says_so(tmp_path: Path) -> None:
    plain = with_overrides(tmp_path, "")
    spec = with_overrides(
        tmp_path,
        """
        feet = ["rl_foot", "rr_shank"]
        forward = "-x"
        healthy = [0.1, 0.5]
        control_period = 0.04
        end_effector = "fl_shank"
        target = "trunk"
        [stance]
        fl_hip = 0.9
        """,
    )
    assert spec.robot is not None
    assert spec.robot.overridden == ("forward", "feet", "stance", "healthy", "control_period", "end_effector", "target")
    assert sum("as my_pony.toml says" in choice for choice in spec.robot.choices) == 7
    assert spec.morphology.feet[0] == "rl_foot"
    assert "rr_foot" in spec.morphology.feet, "a body stands for its geoms"
    assert spec.morphology.upright == (0.0, 0.0, 0.0, 1.0)
    assert spec.robot.healthy == (0.1, 0.5)
    assert spec.dt == pytest.approx(0.04)
    assert "target_distance" in spec.feature_names
    assert spec.robot.stance[7] == pytest.approx(0.9, abs=0.1)
    assert spec.robot.stance[9] == pytest.approx(0.7, abs=0.1), "other joints keep the keyframe"
    assert plain.env_id != spec.env_id


def test_without_any_key_nothing_changes(tmp_path: Path) -> None:
    plain = describe_robot("my_pony", PONY)
    assert with_overrides(tmp_path, "# nothing yet\n").env_id == plain.env_id
    assert with_overrides(tmp_path, 'forward = "x"').env_id == plain.env_id, "said, and as it was guessed"


def test_an_actuator_that_is_left_out_holds_its_joint_by_a_spring(tmp_path: Path) -> None:
    spec = with_overrides(tmp_path, 'excluded_actuators = ["fl_hip", "fl_knee"]', named_actuators())
    assert [one.name for one in spec.action] == ["fr_hip", "fr_knee", "rl_hip", "rl_knee", "rr_hip", "rr_knee"]
    env = make_environment(spec)
    env.reset(seed=0)
    env.set_state(env.init_qpos, env.init_qvel)
    for _ in range(100):
        env.step(np.zeros(6, dtype=np.float32))
    assert env.data.body("trunk").xmat[8] > np.cos(np.deg2rad(5)), "it still stands on four legs"
    assert env.data.joint("fl_knee").qpos[0] == pytest.approx(-1.4, abs=0.15)


def named_actuators() -> str:
    text = PONY.read_text()
    for leg in ("fl", "fr", "rl", "rr"):
        for joint in ("hip", "knee"):
            text = text.replace(
                f'<position joint="{leg}_{joint}"', f'<position name="{leg}_{joint}" joint="{leg}_{joint}"'
            )
    return text


REFUSED = {
    "no TOML": ("feet = [", "my_pony.toml is no TOML"),
    "a key that there is not": ('foot = ["fl_foot"]', r"Unknown key of my_pony.toml 'foot'.*feet"),
    "a foot that there is not": ('feet = ["fl_fot"]', r"'fl_fot'.*fl_foot"),
    "a foot that cannot touch the floor": ('feet = ["ground"]', "'ground'"),
    "a torso that there is not": ('torso = "trunc"', r"'trunc'.*trunk"),
    "a keyframe that there is not": ('stance = "stand"', r"'stand'.*home"),
    "a joint that there is not": ("[stance]\nfl_hipp = 1.0", r"'fl_hipp'.*fl_hip"),
    "an angle beyond the joint's range": (
        "[stance]\nfl_knee = 0.5",
        r"'fl_knee' is to stand at 0.5: expected from -2.6",
    ),
    "an actuator that there is not": ('excluded_actuators = ["gripper"]', "'gripper'"),
    "an axis that there is not": ('forward = "z"', "forward: Input should be 'x', 'y', '-x' or '-y'"),
    "heights the wrong way round": ("healthy = [0.5, 0.1]", "expected the lower height first"),
    "an effector without a target": ('end_effector = "fl_shank"', "expected both or none"),
    "a period of minutes": ("control_period = 60", "control_period: Input should be less than or equal to 0.2"),
    "a torso of something else": ('torso = "world"', "is not of the robot"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str, tmp_path: Path) -> None:
    toml, words = REFUSED[case]
    with pytest.raises(P2PError, match=words):
        with_overrides(tmp_path, toml)


def test_no_actuator_left(tmp_path: Path) -> None:
    names = ", ".join(f'"{leg}_{joint}"' for leg in ("fl", "fr", "rl", "rr") for joint in ("hip", "knee"))
    with pytest.raises(InvalidInput, match="names all 8 of them"):
        with_overrides(tmp_path, f"excluded_actuators = [{names}]", named_actuators())
