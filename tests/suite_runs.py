"""Two runs of a small suite, really trained once for all processes of pytest-xdist."""

import json
import shutil
import time
from pathlib import Path

import pytest
from shared_sessions import BALANCE, made_once, passed_session

import p2p
from p2p.agents.builtin.author import BuiltinAuthor
from p2p.contracts.intent import Intent
from p2p.contracts.suite import NewSuiteRun, RunState
from p2p.envs.catalog import load
from p2p.service.suites.results import view_suite_run
from p2p.service.suites.running import start_suite_run
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store.suite_files import save_exam

SUITE = """
[suite]
name = "poles"
seeds = [1]
exams = "exams"
n_exam_rollouts = 10
[budget]
max_iterations = 1
[[case]]
name = "balance"
env_id = "InvertedPendulum-v5"
prompt = "{prompt}"
category = "balance"
difficulty = "easy"
[[case]]
name = "strict"
env_id = "InvertedPendulum-v5"
prompt = "{prompt}"
category = "pose"
difficulty = "hard"
[[stage]]
name = "first"
where = {{ case = "balance" }}
gate = 0.0
[[stage]]
name = "second"
"""
ROBOT = "InvertedPendulum-v5"
SMALL = {"n_seeds": 1, "n_report_rollouts": 10}
FEW_STEPS = {"total_timesteps": 2_048}
LONG, SHORT = "long", "short"
"""Runs: one whose policies balance the pole, though not as still as `strict` asks, and one of too few steps."""


def pole_suite(folder: Path) -> Path:
    """File of the suite, with its exams beside it."""
    intent = BuiltinAuthor().elicit(BALANCE, load("InvertedPendulum-v5"))
    save_exam(folder / "exams" / "balance.json", intent)
    save_exam(folder / "exams" / "strict.json", stricter(intent))
    path = folder / "poles.toml"
    path.write_text(SUITE.format(prompt=BALANCE))
    return path


def stricter(intent: Intent) -> Intent:
    """The same, with the pole hardly moving."""
    told = intent.model_dump()
    told["criteria"][0]["predicate"]["where"][0]["threshold"] = 0.0001
    return Intent.model_validate(told)


def pole_runs(factory: pytest.TempPathFactory) -> Path:
    """Runs directory with two ended runs of the suite, and the suite's file in `suite/` beside it.

    The sessions of a run are one session under several names; only the exams are really sat for each of them.
    """

    def make(place: Path) -> None:
        p2p.run(BALANCE, env=ROBOT, runs_dir=place / "failing", max_iterations=1, config=FEW_STEPS, **SMALL).wait()
        (place / "suite").mkdir(parents=True)
        file = pole_suite(place / "suite")
        ws = Workspace(Settings.from_environment(place / "runs"))
        for run, trained in ((LONG, passed_session(factory)), (SHORT, place / "failing")):
            for case in ("balance", "strict"):
                adopt(trained, ws.runs.path / f"{run}-{case}-seed-1")
            start_suite_run(ws, str(file), NewSuiteRun(name=run))
            while view_suite_run(ws, run).state is RunState.RUNNING:
                time.sleep(0.2)
            assert view_suite_run(ws, run).state is RunState.ENDED

    return made_once(factory, "pole_runs", make)


def adopt(runs: Path, target: Path) -> None:
    """Copy the only session of a runs directory under another id."""
    [source] = (path.parent for path in runs.glob("*/session.json"))
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("film"))
    file = target / "session.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"session_id": target.name}))
