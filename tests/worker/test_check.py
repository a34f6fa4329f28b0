import os
import subprocess
import sys
import time

import pytest

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.contracts.errors import InvalidInput
from p2p.contracts.work import CheckRequest
from p2p.store.iterations import IterationRecord
from p2p.worker import check as check_module
from p2p.worker.check import check
from p2p.worker.reward.transitions import record_episodes
from p2p.worker.reward.trial import try_source


@pytest.fixture(scope="module")
def recording(cheetah):
    return record_episodes(cheetah, CheckRequest())


@pytest.fixture
def examine(recording):
    def run(source):
        return try_source(source, recording)

    return run


def function(body):
    return f'def reward_fn(obs, action, next_obs, info):\n    """Terms:\n        v: value\n    """\n    {body}\n'


def test_the_transitions_are_varied_and_enough(recording):
    episodes = recording.episodes()
    transitions = [transition for episode in episodes for transition in episode]
    assert len(transitions) >= 200
    assert {round(float(abs(t.action).mean()), 6) for t in transitions} >= {0.0, 1.0}
    assert [episode[0].info["_episode_start"] for episode in episodes] == [True] * len(episodes)
    assert not any(t.info["_episode_start"] for episode in episodes for t in episode[1:])
    assert len({tuple(episode[0].obs) for episode in episodes}) == len(episodes)
    heights = [t.info["pitch"] for t in transitions]
    assert max(heights) - min(heights) > 0.2


def test_the_rewards_of_the_reference_are_accepted(examine, class_reward, legacy_reward):
    for source, names in ((class_reward, ["speed", "ctrl"]), (legacy_reward, ["speed"])):
        report = examine(source)
        assert report.accepted
        assert report.issues == ()
        assert report.transitions >= 200
        assert [term.name for term in report.terms] == names
        assert [term.name for term in report.spec.terms] == names
        assert 0 < report.microseconds_per_call < 100


@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        ("return 1.0", None, "returned a float at step 1; expected a tuple"),
        ("return None", None, "returned None"),
        ("return 1.0, 2.0, {}", None, "a tuple of 3"),
        ("return 1.0, 2.0", None, "returned a float as terms"),
        ("return 1.0, {}", None, "an empty dict"),
        ("return 1.0, {1: 1.0}", None, "a dict from term name to float"),
        ("return action, {'v': 0.0}", None, r"the total is an array of shape \(6,\)"),
        ("return 0.0, {'v': action}", None, r"term 'v' is an array of shape \(6,\)"),
        ("return np.array(0.0), {'v': 0.0}", None, r"array of shape \(\)"),
        ("return 0.0, {'v': '0'}", None, "term 'v' is a str"),
        ("return 0.0, {'v': float('nan')}", None, "term 'v' is nan at step 1; a reward must be finite"),
        ("return float('-inf'), {'v': 0.0}", None, "the total is -inf"),
        ("return 0.0, {'v': info['velocty_x']}", 5, "KeyError.*Did you mean info\\['velocity_x'\\]"),
        ("return 0.0, {'v': info['????']}", 5, "`info` has .*velocity_x"),
        ("return 0.0, {'v': obs[99]}", 5, "raised IndexError"),
        ("return 0.0, {'v': obs @ action}", 5, "raised ValueError"),
        ("raise SystemExit(0)", 5, "raised SystemExit"),
        ("return 0.0, ({'v': 0.0} if info['_episode_start'] else {'w': 0.0})", None, "terms changed from v to w"),
    ],
)
def test_what_breaks_the_contract_is_an_error_with_the_term_and_the_step(examine, body, line, message):
    report = examine(function(body))
    (issue,) = report.issues
    assert not report.accepted
    assert (issue.severity, issue.line) == ("error", line)
    with pytest.raises(InvalidInput, match=message):
        raise InvalidInput(issue.message)


def test_source_that_does_not_load_is_an_error_with_its_line(examine):
    report = examine("x = 1\nimport os\n")
    assert (report.spec, report.transitions) == (None, 0)
    assert report.issues[0].line == 2
    assert report.errors[0].startswith("line 2: imports 'os'")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return 2.0, {'v': 1.0}", "The terms do not sum to the total: 1 against 2"),
        ("sum(range(30_000)); return 1.0, {'v': 1.0}", "slows the training down"),
        ("obs[0] = 1.0; return 1.0, {'v': 1.0}", "writes into obs"),
        ("info['x'] = 1.0; return 1.0, {'v': 1.0}", "writes into info"),
        ("v = np.random.rand(); return v, {'v': v}", "not deterministic"),
        ("return 1.0, {'w': 1.0}", "describes the terms v, but returns w"),
    ],
)
def test_what_looks_wrong_is_a_warning_and_the_reward_is_accepted(examine, body, message):
    report = examine(function(body))
    assert report.accepted
    assert any(message in issue.message for issue in report.issues), report.issues


def test_a_reward_that_draws_from_its_own_seed_is_deterministic(examine):
    source = "rng = np.random.default_rng(0)\n" + function("v = rng.random(); return v, {'v': v}")
    assert examine(source).issues == ()


@pytest.fixture
def job(tmp_path, cheetah):
    record = IterationRecord(tmp_path / "check")
    record.save_env_spec(cheetah)
    record.save_check_request(CheckRequest(side_info=True))
    return record


def test_the_verb_writes_a_report_also_for_a_bad_reward(job):
    job.save_reward_source(function("return float(info['qpos'][0]), {'v': float('nan')}"))
    check(job.path)
    assert "term 'v' is nan" in job.read_reward_report().errors[0]


def test_a_loop_without_an_end_is_interrupted_and_its_line_named(job, monkeypatch):
    monkeypatch.setattr(check_module, "TIME_LIMIT_S", 0.1)
    job.save_reward_source(function("while True: pass"))
    check(job.path)
    assert job.read_reward_report().errors[0].startswith("line 5: did not finish within")


def test_a_loop_while_loading_is_interrupted_too(job, monkeypatch):
    monkeypatch.setattr(check_module, "TIME_LIMIT_S", 0.1)
    job.save_reward_source("while True: pass")
    check(job.path)
    assert "line 1: did not finish" in job.read_reward_report().errors[0]


def test_a_loop_that_swallows_every_interruption_ends_with_the_process(job):
    body = "while True:\n        try:\n            while True: pass\n        except BaseException:\n            pass"
    job.save_reward_source(function(body))
    code = (
        "import sys, p2p.worker.check as c; from pathlib import Path; c.TIME_LIMIT_S = 0.2;"
        "c.check(Path(sys.argv[1])); assert 'torch' not in sys.modules"
    )
    begun = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code, str(job.path)], check=False)
    assert (done.returncode, time.monotonic() - begun < 30) == (0, True)
    assert "did not finish" in job.read_reward_report().errors[0]


def test_the_verb_works_as_a_command_without_torch(job, class_reward):
    job.save_reward_source(class_reward)
    command = [sys.executable, "-X", "importtime", "-m", "p2p.worker", "check", str(job.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ))
    assert done.returncode == 0, done.stderr[-500:]
    assert job.read_reward_report().accepted
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if "|" in line}
    assert "mujoco" in imported
    assert not {"torch", "stable_baselines3"} & imported


def test_a_job_without_an_environment_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match=r"env_spec\.json is missing or not valid"):
        check(tmp_path)


@pytest.mark.parametrize("refused", [True, False])
def test_a_reward_is_held_against_what_was_asked(cheetah, tmp_path, refused):
    """One for running forward that pays for running backward."""
    record = IterationRecord(tmp_path)
    record.save_env_spec(cheetah)
    record.save_reward_source(function('return -info["x_velocity"], {"v": -info["x_velocity"]}'))
    intent = BuiltinAuthor().elicit("run forward", cheetah)
    record.save_check_request(CheckRequest(intent=intent, refuse_wrong_preferences=refused))
    check(tmp_path)
    report = record.read_reward_report()
    (issue,) = (issue for issue in report.issues if issue.message.startswith("It pays 'moving backward"))
    assert (issue.severity, issue.line) == (("error" if refused else "warning"), 5)
    assert report.accepted == (not refused)


def test_a_constant_total_that_is_not_the_sum_of_its_terms_goes_back_to_its_author(tmp_path, cheetah):
    source = (
        "def reward_fn(obs, action, next_obs, info):\n    terms = {'v': info['x_velocity']}\n    return 1.0, terms\n"
    )
    record = IterationRecord(tmp_path)
    record.save_env_spec(cheetah)
    record.save_reward_source(source)
    check(tmp_path)
    report = record.read_reward_report()
    assert report.accepted
    assert report.to_mend
    marked = [issue.message for issue in report.issues if issue.mend]
    assert any("do not sum to the total" in message for message in marked)
    assert any("The total was 1 at every one of" in message for message in marked)
