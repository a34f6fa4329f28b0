"""One training in the foreground: `python -m p2p.executor --reward-fn reward.py`.

Prints the run's directory on stdout, and everything else on stderr. The exit code is 0 when the run is complete, 2 for
rejected input, 3 when the training failed, 4 for a problem of this machine, 130 when interrupted.
"""

import argparse
import json
import sys
from pathlib import Path

from p2p.cli.remedies import in_commands
from p2p.contracts.errors import INTERRUPTED, InvalidConfig, InvalidInput, P2PError
from p2p.contracts.training import TrainConfig, without_foreign_keys
from p2p.contracts.work import FilmRequest
from p2p.service.jobs.worker_jobs import raise_failure, wait, worker_job
from p2p.service.training.environments import describe_environment
from p2p.service.training.plan import parse_config
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store.iterations import IterationRecord, save_inputs


def main(arguments: list[str] | None = None) -> int:
    """Train one reward with one configuration; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m p2p.executor", description="Train one reward function.")
    parser.add_argument("--reward-fn", type=Path, required=True, help="file with the reward function")
    parser.add_argument("--config", type=Path, help="JSON file with fields of TrainConfig; the defaults without it")
    parser.add_argument("--runs-dir", type=Path, help="where the run is written (default: P2P_RUNS_DIR, or ./runs)")
    parser.add_argument("--env-id", help="environment; overrides the configuration's")
    parser.add_argument("--iteration-id", help="name of the run's directory")
    options = parser.parse_args(arguments)
    try:
        ws = Workspace(Settings.from_environment(options.runs_dir))
        config = _config(options.config, options.env_id)
        source = _read(options.reward_fn)
        spec = describe_environment(ws, config.env_id)
        config = config.model_copy(update={"env_id": spec.env_id})
        iteration_id = options.iteration_id or config.iteration_id or ws.runs.new_session_id()
        session = ws.runs.session(iteration_id)
        if session.exists:
            raise InvalidInput(f"{session.path} is a session. Choose another --iteration-id.")
        record = IterationRecord(session.path)
        if record.read_summary() is not None:
            raise InvalidInput(f"{record.path} holds a finished run. Choose another --iteration-id, or delete it.")
        save_inputs(record, source, spec, config)
        code = _train(ws, record)
    except P2PError as error:
        print(in_commands(str(error)), file=sys.stderr)
        return error.exit_code
    print(record.path)
    return code


def _train(ws: Workspace, record: IterationRecord) -> int:
    """Train and film the run as jobs and copy their logs to stderr; a failed film does not fail the training."""
    film = IterationRecord(record.film_dir)
    film.save_film_request(FilmRequest(runs=("..",)))
    for verb, directory in (("train", record.path), ("film", film.path)):
        try:
            ws.backend.submit(worker_job(verb, memory_share=ws.settings.max_memory_share), directory)
            if not ws.runs_inline:  # what it writes has been shown
                _follow(ws, directory)
        except KeyboardInterrupt:
            ws.backend.cancel(directory)
            return INTERRUPTED
        if verb == "train":
            raise_failure(ws.backend.status(directory), f"The training in {directory}")
    return 0


def _follow(ws: Workspace, directory: Path) -> None:
    """Copy a job's log to stderr until the job ends; raise nothing for its failure."""
    offset = 0
    told: tuple[str, ...] = ()

    def copy() -> None:
        nonlocal offset, told
        if (waits := ws.backend.status(directory).waits_for) != told:
            told = waits
            sys.stderr.write(f"Waits for a core held by {', '.join(waits)}\n" if waits else "It has its cores.\n")
        text, offset = ws.backend.logs(directory, offset)
        sys.stderr.write(in_commands(text))

    wait([directory], ws.backend, copy)


def _config(path: Path | None, env_id: str | None) -> TrainConfig:
    fields: object = {}
    if path is not None:
        try:
            fields = json.loads(_read(path))
        except ValueError as error:
            raise InvalidConfig(f"{path} is not valid JSON: {error}.") from error
    if not isinstance(fields, dict):
        raise InvalidConfig(f"{path} holds {type(fields).__name__}; expected an object with fields of TrainConfig.")
    fields, ignored = without_foreign_keys(fields)
    if ignored:
        print(f"Ignored in {path}, as p2p has no such setting: {', '.join(ignored)}.", file=sys.stderr)
    return parse_config({**fields, **({"env_id": env_id} if env_id else {})})


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"Cannot read {path}: {error}.") from error


if __name__ == "__main__":
    sys.exit(main())
