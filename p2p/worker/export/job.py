"""Verb `export`: write a checkpoint in other libraries' formats, with proof that they act alike."""

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import p2p
from p2p.contracts.errors import InvalidInput
from p2p.contracts.work import ExportFormat, ExportReport
from p2p.store.exports import ExportRecord
from p2p.worker.export import standalone
from p2p.worker.export.card import model_card
from p2p.worker.export.formats import write_format
from p2p.worker.export.interface import describe_interface
from p2p.worker.export.replayed_episodes import gymnasium_returns, recorded_episode, statistics
from p2p.worker.export.source import open_source
from p2p.worker.export.verify import check_format

PACKAGES = ("numpy", "mujoco", "gymnasium")
"""Whose versions are written down, with those of the formats' libraries."""
LIBRARIES = {"sb3": ("stable-baselines3", "torch"), "onnx": ("onnx", "onnxruntime"), "torchscript": ("torch",)}


def export(job_dir: Path) -> None:
    """Write the files that the request in `job_dir` asks for; the report comes last.

    Raises:
        InvalidInput: the request is missing, or the checkpoint it names has no policy or no recorded rollout.
        MissingExtra: the library of a format is not installed.
        P2PError: a file does not act as the policy; the report, which would say that all is well, is not written.
    """
    record = ExportRecord(job_dir)
    request = record.read_request()
    if request is None:
        raise InvalidInput(f"{job_dir} holds no readable request that names a checkpoint.")
    source = open_source((job_dir / request.run_dir).resolve(), request.checkpoint)
    interface = describe_interface(source)
    package = record.package
    package.copy(source.run.config_path, package.config_path)
    package.copy(source.run.reward_fn_path, package.reward_fn_path)
    package.copy(source.run.checkpoint(source.step).policy_path, package.policy_path)
    package.copy(Path(standalone.__file__), package.replay_path)
    if source.video is not None:
        package.copy(source.video, package.video_path)
    episode = recorded_episode(source, interface)
    written = {str(name): write_format(name, source, interface, package) for name in request.formats}
    if ExportFormat.SB3 in request.formats:
        written["sb3-predict"] = written["sb3"]
    written["numpy"] = (package.policy_path,)
    libraries = [*PACKAGES, *(name for item in request.formats for name in LIBRARIES[item])]
    versions = {"python": platform.python_version(), "p2p": p2p.__version__}
    for name in libraries:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "unknown"
    report = ExportReport(
        run_id=source.run.iteration_id,
        checkpoint=source.step,
        episode=episode,
        checks=tuple(check_format(name, files, source, episode) for name, files in written.items()),
        trained_returns=statistics([rollout.episode_return for rollout in source.evaluation.rollouts]),
        gymnasium_returns=statistics(gymnasium_returns(source)),
        versions=versions,
    )
    package.save_card(model_card(source, interface, request, report))
    package.save_report(report)
