import json
import shutil
import time

import numpy as np
import pytest
from suite_runs import LONG, SHORT, pole_runs

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.cli import main
from p2p.contracts.session import NewSession
from p2p.contracts.suite import NewSuiteRun, RunState
from p2p.envs.catalog import load
from p2p.service.suites.results import view_suite_run
from p2p.service.suites.running import start_suite_run
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store.suite_files import save_exam

pytestmark = pytest.mark.slow


@pytest.fixture
def made(tmp_path_factory):
    """Directory with both runs of the suite, and the suite's file."""
    return pole_runs(tmp_path_factory)


@pytest.fixture
def entry(made, tmp_path, capsys):
    """Entry of the long run."""
    place = tmp_path / "entry"
    assert main(["benchmark", "export", LONG, str(place), "--runs-dir", str(made / "runs")]) == 0
    capsys.readouterr()
    return place


def verify(entry, tmp_path, capsys, *words):
    """Verify an entry where nothing else is known, as on another machine: exit code, report."""
    code = main(["benchmark", "verify", str(entry), "--runs-dir", str(tmp_path / "elsewhere"), "--json", *words])
    return code, json.loads(capsys.readouterr().out)


def change(entry, edit):
    """Edit an entry's results."""
    told = json.loads((entry / "results.json").read_text())
    edit(told)
    (entry / "results.json").write_text(json.dumps(told))


def words(report):
    return " | ".join(f"{problem['where']}: {problem['what']}" for problem in report["problems"])


def test_an_entry_is_simulated_again_to_the_bit(made, entry, tmp_path, capsys):
    code, report = verify(entry, tmp_path, capsys, "--suite", str(made / "suite" / "poles.toml"))
    assert (code, report["problems"], report["known_suite"], report["notes"]) == (0, [], True, [])
    assert (report["sessions"], report["simulated"], report["same"], report["exams_passed"]) == (2, 2, 2, 1)
    names = sorted(path.name for path in entry.rglob("*") if path.is_file())
    assert names == ["policy.npz", "policy.npz", "results.json", "reward_fn.py", "reward_fn.py"]
    assert str(made) not in (entry / "results.json").read_text()


ANT = """
[suite]
name = "ants"
seeds = [1]
exams = "exams"
n_exam_rollouts = 10
[budget]
max_iterations = 1
total_timesteps = 2048
[[case]]
name = "left"
env_id = "Ant-v5"
prompt = "walk to the left for 2 seconds"
"""


@pytest.mark.nightly
def test_a_policy_that_sees_a_part_of_its_robot_sits_its_exam_again_as_it_sat_it(tmp_path, capsys):
    file = tmp_path / "ants.toml"
    file.write_text(ANT)
    intent = BuiltinAuthor().elicit("walk to the left for 2 seconds", load("Ant-v5"))
    save_exam(tmp_path / "exams" / "left.json", intent)
    ws = Workspace(Settings.from_environment(tmp_path / "runs"))
    start_suite_run(ws, str(file), NewSuiteRun(name="ants", system=NewSession(n_seeds=1, n_report_rollouts=10)))
    while view_suite_run(ws, "ants").state is RunState.RUNNING:
        time.sleep(0.2)
    place = tmp_path / "entry"
    assert main(["benchmark", "export", "ants", str(place), "--runs-dir", str(ws.runs.path)]) == 0
    capsys.readouterr()
    code, report = verify(place, tmp_path, capsys, "--suite", str(file))
    assert (code, report["simulated"], report["same"], report["problems"]) == (0, 1, 1, [])

    def noiseless(told):
        told["env_kwargs"] = {"ants-left-seed-1": {"reset_noise_scale": 0}}

    change(place, noiseless)
    code, report = verify(place, tmp_path, capsys, "--suite", str(file))
    assert code != 0
    assert "another world than the suite's: reset_noise_scale" in words(report)


def test_everything_that_was_changed_is_named(entry, tmp_path, capsys):
    policies = entry / "sessions"
    with np.load(policies / f"{LONG}-balance-seed-1" / "policy.npz") as arrays:
        changed = {name: arrays[name] for name in arrays.files}
    name = next(name for name, values in changed.items() if values.dtype.kind == "f" and values.ndim == 2)
    changed[name] = changed[name] * np.asarray(1.5, changed[name].dtype)
    np.savez(policies / f"{LONG}-balance-seed-1" / "policy.npz", **changed)

    def edit(told):
        exam = next(result for result in told["results"] if result["case"] == "strict")["exam"]
        exam |= {"passed": True, "n_met": 10}
        exam["criteria"][0]["value"] = 1.0
        told["results"].append(told["results"][0])

    change(entry, edit)
    code, report = verify(entry, tmp_path, capsys)
    found = words(report)
    assert code == 3
    assert f"sessions/{LONG}-balance-seed-1/policy.npz: the file was changed" in found
    assert "balance seed 1: the policy is not the one that sat the exam" in found
    assert "balance seed 1: the rollouts are not the same to the bit" in found
    assert "strict seed 1: n_met is 10 in the entry" in found
    assert "strict seed 1: passed is True in the entry, and False" in found
    assert "strict seed 1: criterion pole_up: value is 1.0" in found
    assert "balance seed 1: its result is there twice" in found


def test_an_easier_exam_is_named(made, entry, tmp_path, capsys):
    def edit(told):
        balance, strict = told["suite"]["cases"]
        strict["exam"] = balance["exam"]

    change(entry, edit)
    code, report = verify(entry, tmp_path, capsys, "--suite", str(made / "suite" / "poles.toml"))
    found = words(report)
    assert code == 3
    assert "the suite or an exam was changed after the run" in found
    assert "strict: the exam is not that of poles version 1" in found
    assert "strict seed 1: it was scored by another exam than the suite's" in found


def test_a_result_that_was_left_out_and_one_without_rollouts_are_named(entry, tmp_path, capsys):
    def edit(told):
        told["results"] = [result for result in told["results"] if result["case"] == "strict"]
        told["results"][0]["exam"] |= {"passed": True, "n_rollouts": 0}

    change(entry, edit)
    code, report = verify(entry, tmp_path, capsys)
    assert code == 3
    assert "balance seed 1: there is no result of it" in words(report)
    assert "strict seed 1: it passed an exam without a rollout" in words(report)
    assert "comes with p2p" not in words(report)
    assert "does not come with p2p" in report["notes"][0]


def test_links_and_foreign_files_of_an_entry_are_not_followed(entry, tmp_path, capsys):
    policy = entry / "sessions" / f"{LONG}-balance-seed-1" / "policy.npz"
    shutil.move(policy, tmp_path / "policy.npz")
    policy.symlink_to(tmp_path / "policy.npz")
    (entry / "sessions" / f"{LONG}-strict-seed-1" / "policy.npz").write_bytes(b"PK\x03\x04 no policy")
    code, report = verify(entry, tmp_path, capsys)
    assert code == 3
    assert "balance seed 1: it cannot be simulated" in words(report)
    assert f"sessions/{LONG}-balance-seed-1/policy.npz: the file is missing" in words(report)
    assert "strict seed 1: the policy is not the one that sat the exam" in words(report)


def test_what_is_no_entry_is_refused(made, entry, tmp_path, capsys):
    assert main(["benchmark", "verify", str(tmp_path), "--runs-dir", str(tmp_path / "elsewhere")]) == 2
    assert "results.json" in capsys.readouterr().err
    assert main(["benchmark", "export", SHORT, str(entry), "--runs-dir", str(made / "runs")]) == 2
    assert "not an empty directory" in capsys.readouterr().err
    change(entry, lambda told: told["files"].update({"../../etc/passwd": "0"}))
    assert main(["benchmark", "verify", str(entry), "--runs-dir", str(tmp_path / "elsewhere")]) == 2
