"""Export formats by name."""

from pathlib import Path

from p2p import registry
from p2p.contracts.work import ExportFormat
from p2p.store.exports import ExportedFiles
from p2p.worker.export.interface import Interface
from p2p.worker.export.source import Source

WRITERS: dict[str, str] = {
    ExportFormat.SB3: "p2p.worker.export.sb3:save_sb3",
    ExportFormat.ONNX: "p2p.worker.export.onnx:save_onnx",
    ExportFormat.TORCHSCRIPT: "p2p.worker.export.torchscript:save_torchscript",
}
"""Format -> "module:function", imported on use: ONNX needs no torch."""


def write_format(name: ExportFormat, source: Source, interface: Interface, package: ExportedFiles) -> tuple[Path, ...]:
    """Write one format; returns its files.

    Raises:
        MissingExtra: its library is not installed.
    """
    save = registry.load("format", WRITERS, name)
    if name is ExportFormat.SB3:
        spaces = interface.observation_space, interface.action_space
        save(source.policy, source.config, spaces, package.model_path, package.normalizer_path, source.step)
        return package.model_path, package.normalizer_path
    path = package.onnx_path if name is ExportFormat.ONNX else package.torchscript_path
    save(source.policy, interface.metadata(), path)
    return (path,)
