"""Exported policies: the folder handed out, and the job that writes it."""

from pathlib import Path

from p2p.contracts.errors import StorageProblem
from p2p.contracts.work import ExportReport, ExportRequest
from p2p.store import files, layout
from p2p.store.records import json_file
from p2p.store.untrusted_files import read_bytes

LONGEST_FILE = 1 << 30
"""Longest file of an export [bytes]."""


class ExportedFiles:
    """Folder of an export."""

    read_report, save_report = json_file(layout.EXPORT_REPORT, ExportReport)

    def __init__(self, path: Path) -> None:
        self.path = path
        self.card_path = path / layout.MODEL_CARD
        self.config_path = path / layout.CONFIG
        self.reward_fn_path = path / layout.REWARD_FN
        self.policy_path = path / layout.POLICY
        self.model_path = path / layout.SB3_MODEL
        self.normalizer_path = path / layout.SB3_NORMALIZER
        self.onnx_path = path / layout.ONNX_MODEL
        self.torchscript_path = path / layout.TORCHSCRIPT_MODEL
        self.replay_path = path / layout.REPLAY_SCRIPT
        self.video_path = path / layout.REPLAY_VIDEO
        self.report_path = path / layout.EXPORT_REPORT

    def save_card(self, text: str) -> None:
        """Write `README.md`."""
        files.write_text(self.card_path, text)

    def possible(self) -> tuple[Path, ...]:
        """Every file that an export may hold."""
        return tuple(value for name, value in vars(self).items() if name.endswith("_path"))

    def present(self) -> tuple[Path, ...]:
        """Files that this export holds."""
        return tuple(path for path in self.possible() if path.exists())

    def copy(self, source: Path, target: Path) -> None:
        """Copy a file into the folder as `target`.

        Raises:
            StorageProblem: the folder cannot be written, or the disk is full.
        """
        with files.replacing(target) as temporary:
            temporary.write_bytes(read_bytes(source, LONGEST_FILE))

    def deliver(self, directory: Path) -> "ExportedFiles":
        """Copy the files into `directory`, replacing an earlier export; other files stay.

        The report comes last, for it says that all the rest is there.

        Raises:
            StorageProblem: it cannot be written, or the disk is full.
        """
        target = ExportedFiles(directory)
        try:
            directory.mkdir(parents=True, exist_ok=True)
            target.report_path.unlink(missing_ok=True)
            for old, new in zip(target.possible(), self.possible(), strict=True):
                if new.exists():
                    target.copy(new, old)
                else:
                    old.unlink(missing_ok=True)
        except (OSError, StorageProblem) as error:
            cause = error.__cause__ if isinstance(error, StorageProblem) else error
            reason = getattr(cause, "strerror", None) or cause
            raise StorageProblem(
                f"Cannot write {directory}: {reason}. Choose another folder, or free some space."
            ) from error
        return target


class ExportRecord:
    """The job directory of an export."""

    read_request, save_request = json_file(layout.REQUEST, ExportRequest)

    def __init__(self, path: Path) -> None:
        self.path = path
        self.package = ExportedFiles(path / layout.PACKAGE)
