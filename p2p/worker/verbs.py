"""Verbs of the worker: entry point, allowed directories, and process."""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from p2p import registry
from p2p.contracts.errors import InvalidInput, P2PError, UnknownName
from p2p.store.iterations import IterationRecord
from p2p.store.trusted_modules import is_trusted
from p2p.worker.sandbox import levels
from p2p.worker.sandbox.confine import confine, remove_scratch

INLINE_JOB = "P2P_INLINE_JOB"
"""Variable of a job that runs in the process of its caller (the inline backend): its directory."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Places:
    """Directories of a verb: writable ones, the job's first, and readable ones."""

    writable: tuple[Path, ...]
    readable: tuple[Path, ...] = ()


def job_alone(job_dir: Path) -> Places:
    """The job's own directory only."""
    return Places((job_dir,))


def named(job_dir: Path, names: tuple[str, ...] | list[str]) -> tuple[Path, ...]:
    """Paths in a request, relative to the job's directory."""
    return tuple((job_dir / name).resolve() for name in names)


def module_folders(places: Places) -> tuple[Path, ...]:
    """Directories of modules that register environments of the user's own: of a description, and of runs.

    Raises:
        InvalidInput: a record names one that the user has not.
    """
    records = [IterationRecord(directory) for directory in (*places.writable, *places.readable)]
    modules = [spec.module for record in records if (spec := record.read_env_spec()) is not None]
    modules += [asked.module for record in records if (asked := record.read_describe_request()) is not None]
    named_modules = [module for module in modules if module is not None]
    for module in named_modules:
        if not is_trusted(module):
            raise InvalidInput(
                f"A record names the module {module.name!r} of {module.folder or 'what is installed'}, which "
                "nobody has named on this machine: it may come from elsewhere, and is not imported. "
                "If it is yours, describe its environment once."
            )
    return tuple(Path(module.folder) for module in named_modules if module.folder is not None)


@dataclass(frozen=True)
class Verb:
    """One kind of work.

    Args:
        function: "module:function" taking the job's directory, imported on use: a check needs no torch.
        places: Directories it needs, as its request names them; an unreadable request names none.
        runs_code: Whether it executes code that may be a model's, in a host.
    """

    function: str
    places: Callable[[Path], Places] = job_alone
    runs_code: bool = False


def run(module: str, verbs: Mapping[str, Verb], arguments: list[str]) -> int:
    """Confine this process, do one piece of work, and return the exit code.

    Args:
        module: What was started, for the usage message.
        verbs: Those it knows.
        arguments: A verb, and the directory of its job.
    """
    for variable in THREADS:  # read when numpy loads, so before any verb is imported
        os.environ.setdefault(variable, "1")
    os.environ["MUJOCO_GL"] = "disabled"  # here; what draws is started with a platform of its own, and this saves 4 MB
    try:
        if len(arguments) != 2:
            raise InvalidInput(f"usage: python -m {module} VERB JOB_DIR, where VERB is one of {', '.join(verbs)}.")
        name = arguments[0]
        directory = Path(arguments[1]).resolve()
        if name not in verbs:
            raise UnknownName("verb", name, verbs)
        if not directory.is_dir():
            raise InvalidInput(f"{directory} is not a directory: the worker works in the directory of a job.")
        verb = verbs[name]
        if verb.runs_code:
            levels.require_strength(levels.probe().level)
        # not in its caller's process, which would be confined for good, with its debugger
        places = verb.places(directory)
        folders = module_folders(places)
        if os.environ.get(INLINE_JOB) != str(directory):
            confine(places.writable, (*places.readable, *folders))
        try:
            registry.load("verb", {name: verb.function}, name)(directory)
        finally:
            remove_scratch(directory)
    except P2PError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0
