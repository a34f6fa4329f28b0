"""Facts that a model does not contain: the robot's kind, its feet, good camera positions."""

from typing import NamedTuple

from p2p.contracts.env import Camera, Morphology


class Portrait(NamedTuple):
    """The hand-written part of an environment's description."""

    description: str
    morphology: Morphology
    camera: Camera


LYING_TO_STANDING = (0.5**0.5, 0.0, 0.5**0.5, 0.0)
"""HumanoidStandup's torso frame is the one of a robot on its back: its -x axis points to the head."""

_HUMAN_TRUNK = ("torso1", "head", "uwaist", "lwaist", "butt")
_HUMAN_FEET = ("right_foot", "left_foot")


def side_view(body: str, distance: float, elevation: float = -12.0) -> Camera:
    """Camera at the robot's right: forward (+x) is to the right of the picture."""
    return Camera(tracks=body, distance=distance, azimuth=90.0, elevation=elevation)


def top_view(body: str, distance: float) -> Camera:
    """Camera above, with +x to the right and +y upwards in the picture."""
    return Camera(tracks=body, distance=distance, azimuth=90.0, elevation=-90.0)


PORTRAITS: dict[str, Portrait] = {
    "HalfCheetah-v5": Portrait(
        "A two-legged cheetah in the vertical plane, with a long horizontal trunk, a hind and a front leg.",
        Morphology(torso="torso", feet=("bfoot", "ffoot"), trunk=("torso", "head")),
        side_view("torso", 4.0),
    ),
    "Ant-v5": Portrait(
        "A four-legged robot with a round trunk; each leg has a hip about the vertical and an ankle.",
        Morphology(
            torso="torso",
            feet=("left_ankle_geom", "right_ankle_geom", "third_ankle_geom", "fourth_ankle_geom"),
            trunk=("torso_geom", "aux_1_geom", "aux_2_geom", "aux_3_geom", "aux_4_geom"),
        ),
        side_view("torso", 5.0, elevation=-30.0),
    ),
    "Hopper-v5": Portrait(
        "A one-legged hopper in the vertical plane: torso, thigh, leg and foot.",
        Morphology(torso="torso", feet=("foot_geom",), trunk=("torso_geom",)),
        side_view("torso", 4.0),
    ),
    "Walker2d-v5": Portrait(
        "A two-legged walker in the vertical plane: a torso on two legs of thigh, leg and foot.",
        Morphology(torso="torso", feet=("foot_geom", "foot_left_geom"), trunk=("torso_geom",)),
        side_view("torso", 4.2),
    ),
    "Humanoid-v5": Portrait(
        "A humanoid with abdomen, hips, knees, shoulders and elbows, standing at the start.",
        Morphology(torso="torso", feet=_HUMAN_FEET, trunk=_HUMAN_TRUNK),
        side_view("torso", 4.5),
    ),
    "HumanoidStandup-v5": Portrait(
        "The humanoid lying on its back at the start, with the head towards -x.",
        Morphology(torso="torso", feet=_HUMAN_FEET, trunk=_HUMAN_TRUNK, upright=LYING_TO_STANDING),
        side_view("torso", 4.5),
    ),
    "Swimmer-v5": Portrait(
        "A chain of three links that swims in a viscous fluid, in the horizontal plane; the torso is its head link.",
        Morphology(torso="torso"),
        top_view("mid", 5.5),
    ),
    "Reacher-v5": Portrait(
        "An arm of two links in the horizontal plane whose fingertip is to reach a target that stays where it is.",
        Morphology(torso="body0", target="target", effector="fingertip"),
        top_view("body0", 0.9),
    ),
    "InvertedPendulum-v5": Portrait(
        "A cart on a rail with a pole hinged to it, to be balanced upright.",
        Morphology(torso="cart", pole="pole"),
        side_view("world", 2.8),
    ),
    "InvertedDoublePendulum-v5": Portrait(
        "A cart on a rail with two poles hinged one on the other, to be balanced upright.",
        Morphology(torso="cart", pole="pole2"),
        side_view("world", 4.2),
    ),
    "Pusher-v5": Portrait(
        "A robot arm with seven joints that is to push a cylinder on a table to a goal.",
        Morphology(torso="r_shoulder_pan_link", target="goal", effector="object"),
        top_view("goal", 2.4),
    ),
}
"""Hand-written facts per environment."""
