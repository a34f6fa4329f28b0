"""Model files of robots: which there are, and the folder that holds what they name."""

from pathlib import Path

MODEL_FILES = (".xml", ".mjcf", ".urdf")
ARCHIVES = (".mjz", ".zip", ".tar", ".gz", ".tgz", ".xz", ".bz2", ".7z")


def is_model_file(text: str) -> bool:
    """Whether a text names a model file, by its ending."""
    return text.lower().endswith(MODEL_FILES)


def is_archive(text: str) -> bool:
    """Whether a text names an archive, by its ending: none is opened."""
    return text.lower().endswith(ARCHIVES)


def folder_of(path: Path) -> Path:
    """The folder that a model file and its meshes are in: of "PACKAGE/urdf/robot.urdf" it is PACKAGE."""
    parent = path.resolve().parent
    return parent.parent if path.suffix.lower() == ".urdf" and parent.name in ("urdf", "robots") else parent


def overrides_file(path: Path) -> Path:
    """The file of overrides of a model file: beside it, of the same name."""
    return path.with_suffix(".toml")
