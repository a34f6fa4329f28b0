"""Judges made of functions that models wrote, to be calibrated."""

import re
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path

from p2p.contracts.errors import BudgetExceeded, InvalidInput
from p2p.contracts.inference import ModelName, ModelProblem
from p2p.contracts.intent import Intent
from p2p.contracts.judgment import Decomposition, JudgeFunction
from p2p.contracts.known_motions import ROBOTS
from p2p.inference.client import SessionModels
from p2p.judges.author import JudgeAuthor
from p2p.judges.code import Features
from p2p.lab.contracts.calibration import CalibrationRequest
from p2p.lab.judges.clip_calls import prepare, read
from p2p.lab.judges.clip_recording import CalibratedJudge
from p2p.lab.judges.code_judge import ClipCodeJudge, Said
from p2p.lab.judges.eyes_to_calibrate import ClipPictures, calibration_models, vision_judge_to_calibrate
from p2p.lab.judges.function_folder import FunctionFolder
from p2p.lab.judges.whole_sentence import KEY, whole
from p2p.lab.records import CalibrationRecord
from p2p.service.jobs.worker_jobs import run_to_end
from p2p.service.judging.judge_trials import known_motions_file, problems_of
from p2p.service.training.environments import describe_environment
from p2p.service.workspace import Workspace
from p2p.store import files

CODE = "code:"
"""Before the name of a model that writes functions, and in a report before the name of a folder of them."""
ROLE = "judge_author"
"""Under which its calls are counted."""
GIVEN = Decomposition(measurable=True, reason="")

Pairs = Collection[tuple[str, str]]
"""Robots and sentences."""


def judge_to_calibrate(
    ws: Workspace, name: str, request: CalibrationRequest, films: ClipPictures
) -> str | CalibratedJudge:
    """Like `vision_judge_to_calibrate`, and `code:provider:model` for code that a model writes for each sentence.

    Raises:
        InvalidInput: nothing would cap the cost.
        AuthenticationFailed: the provider's key is not set.
    """
    if not name.startswith(CODE):
        return vision_judge_to_calibrate(ws, name, request, films)
    model = ModelName.parse(name.removeprefix(CODE))
    models = calibration_models(ws, model, request)
    folder = re.sub(r"[^a-z0-9.-]+", "_", str(model).lower())
    kept = FunctionFolder(CalibrationRecord(ws.runs.path).functions_path / folder)

    def write(env_id: str, intent: Intent) -> tuple[JudgeFunction, float]:
        before = _dollars(models)
        function = _written(ws, models, env_id, intent)
        if function.source:
            kept.save(env_id, intent.prompt, function.source)
        return function, max(0.0, _dollars(models) - before)

    return ClipCodeJudge(name, write, partial(_on_clips, ws))


def judge_of_folder(ws: Workspace, folder: FunctionFolder) -> CalibratedJudge:
    """Make a judge of the functions in a folder."""

    def find(env_id: str, intent: Intent) -> tuple[JudgeFunction, float]:
        return JudgeFunction(key=KEY, decomposition=GIVEN, source=folder.source(env_id, intent.prompt) or ""), 0.0

    return ClipCodeJudge(f"{CODE}{folder.name}", find, partial(_on_clips, ws))


def function_folders(request: CalibrationRequest) -> tuple[FunctionFolder, ...]:
    """The folders of a request.

    Raises:
        InvalidInput: one is not there, or two have the same name.
    """
    folders = tuple(FunctionFolder(Path(path)) for path in request.judge_code)
    for folder in folders:
        if not folder.path.is_dir():
            raise InvalidInput(f"{folder.path} is not a folder. Expected one with files such as ant-v5/jump.py.")
    if len({folder.name for folder in folders}) < len(folders):
        raise InvalidInput("Two folders of judge functions have the same name; the report needs different names.")
    return folders


def _on_clips(ws: Workspace, source: str, features: Sequence[Features]) -> Said:
    """Call a judge function on clips: a finding for each, or the reason why there is none."""
    directory = ws.runs.trial_dir()
    try:
        prepare(directory, source, features)
        run_to_end(ws.backend, "call", directory)
        return read(directory, len(features))
    finally:
        files.discard(directory)


def _written(ws: Workspace, models: SessionModels, env_id: str, intent: Intent) -> JudgeFunction:
    """Have a model write the function for a sentence; its source is empty where none is usable."""
    spec = describe_environment(ws, env_id)
    asked = whole(intent)
    names = tuple(feature.name for feature in spec.features)
    known = known_motions_file(ws, CalibrationRecord(ws.runs.path).known_motions(env_id), spec)
    author = JudgeAuthor(models.for_role(ROLE), spec, asked, lambda source: problems_of(ws, source, names, known))
    try:
        return author.write(asked.criteria[0])
    except BudgetExceeded:
        raise
    except ModelProblem as problem:  # no answer is no verdict
        return JudgeFunction(key=KEY, decomposition=GIVEN, problems=(str(problem),))


def robots_of(folders: Sequence[FunctionFolder], env_ids: Sequence[str]) -> tuple[str, ...]:
    """The robots that every folder has functions for, in the order of `env_ids`.

    Raises:
        InvalidInput: a folder has no functions, or there is no such robot.
        UnknownName: a folder has functions for a robot that the set does not have.
    """
    known = [set(folder.robots(ROBOTS)) for folder in folders]
    found = tuple(env_id for env_id in env_ids if all(env_id in robots for robots in known))
    if not found:
        raise InvalidInput(f"No robot of {', '.join(env_ids)} has a function in {_all(folders)}.")
    return found


def sentences_of(folders: Sequence[FunctionFolder], pairs: Pairs) -> set[tuple[str, str]]:
    """Of robots and sentences those that every folder has a function for.

    Raises:
        UnknownName: a function is for no sentence of the set.
        InvalidInput: there is none.
    """
    for env_id in sorted({env_id for env_id, _ in pairs}):
        for folder in folders:
            folder.require_known(env_id, {sentence for robot, sentence in pairs if robot == env_id})
    found = {pair for pair in pairs if all(folder.file_of(*pair).is_file() for folder in folders)}
    if not found:
        raise InvalidInput(f"No sentence has a function in {_all(folders)}.")
    return found


def _all(folders: Sequence[FunctionFolder]) -> str:
    return " and ".join(str(folder.path) for folder in folders)


def _dollars(models: SessionModels) -> float:
    return sum(line.dollars or 0.0 for line in models.ledger.lines())
