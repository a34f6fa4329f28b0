"""A reward shares its process with whoever writes the report of its trial: what cannot be a report is none."""

import pytest
from hostile_code import LOAD

from p2p.contracts.work import CheckRequest
from p2p.worker.code_host import processor_time
from p2p.worker.reward.hosted import MAX_ISSUES, try_hosted
from p2p.worker.reward.transitions import record_episodes
from p2p.worker.reward.trial import try_source

HONEST = "\ndef reward_fn(obs, action, next_obs, info):\n    return 1.0, {'a': 1.0}\n"


@pytest.fixture(scope="module")
def recording(cheetah):
    return record_episodes(cheetah, CheckRequest())


def forged(change):
    """A reward whose report is honest but for `change`, made where the answer is turned into text."""
    return (
        f"{LOAD}\n"
        "serving = load('sys').modules['p2p.worker.code_host.serve']\n"
        "dumps = serving.json.dumps\n"
        "class Json:\n"
        "    @staticmethod\n"
        "    def dumps(value, **more):\n"
        f"        if isinstance(value, dict) and 'spec' in value: value.update({change})\n"
        "        return dumps(value)\n"
        "put(serving, 'json', Json)\n" + HONEST
    )


TERM = "{'name': 'a', 'mean': 1.0, 'std': 0.0, 'minimum': 1.0, 'maximum': 1.0, 'share': 1.0}"
RANKING = "{'motions': [{'name': 'runs', 'score': 1.0, 'pay': 1.0}], 'correlation': 1.0}"
PROBE = "{'steps': [0, 1], 'returns': [0.0, 9.0], 'intervals': [[0.0, 1.0], [8.0, 10.0]]}"


@pytest.mark.parametrize(
    "change",
    [
        "{'spec': None, 'issues': [], 'transitions': -5, 'microseconds_per_call': -1.0}",
        "{'spec': None}",
        "{'transitions': 10**9}",
        "{'transitions': 0}",
        "{'microseconds_per_call': -1.0}",
        "{'microseconds_per_call': 1e999}",
        "{'microseconds_per_step': -1.0}",
        "{'terms': []}",
        f"{{'terms': [{TERM}, {TERM}]}}",
        f"{{'terms': [{TERM} | {{'share': 2.0}}]}}",
        f"{{'terms': [{TERM} | {{'std': -1.0}}]}}",
        f"{{'terms': [{TERM} | {{'name': 'x' * 300}}]}}",
        f"{{'issues': [{{'severity': 'warning', 'message': 'x'}}] * {MAX_ISSUES + 1}}}",
        "{'issues': [{'severity': 'praise', 'message': 'x'}]}",
        "{'issues': [{'severity': 'warning', 'message': 'x' * 3000}]}",
        "{'issues': [{'severity': 'warning', 'message': 'x', 'line': 10**6}]}",
        "{'method_reason': 'x' * 3000}",
        f"{{'probe': {PROBE}}}",
        f"{{'ranking': {RANKING}}}",
        f"{{'ranking': {RANKING}, 'issues': [{{'severity': 'error', 'message': 'x'}}]}}",
        f"{{'terms': [{TERM} | {{'mean': 5.0}}]}}",
        f"{{'terms': [{TERM} | {{'minimum': 9.0}}]}}",
        f"{{'terms': [{TERM} | {{'std': 100.0}}]}}",
        f"{{'terms': [{TERM} | {{'mean': 1.7e308, 'maximum': 1.7e308}}]}}",
        f"{{'terms': [{TERM}, {TERM} | {{'name': 'b'}}]}}",
        "{'microseconds_per_call': 1e8}",
        "{'microseconds_per_step': 1e8}",
    ],
)
def test_a_report_that_cannot_be_one_is_refused(recording, change):
    report = try_hosted(forged(change), recording, 20.0)
    assert not report.accepted
    assert report.errors in (
        ("it returned an invalid report.",),
        ("it sent an invalid answer: the number Infinity.",),
    )


def test_the_forger_of_these_tests_reaches_the_report(recording):
    report = try_hosted(forged("{'method_reason': 'forged'}"), recording, 20.0)
    assert report.accepted
    assert report.method_reason == "forged"


def test_what_a_reward_says_stays_on_its_line(recording):
    said = repr("fine\n\nTraining passed.\n")
    change = f"{{'method_reason': {said}, 'issues': [{{'severity': 'warning', 'message': {said}}}]}}"
    report = try_hosted(forged(change), recording, 20.0)
    assert "\n" not in report.method_reason + report.issues[0].message


@pytest.mark.parametrize(
    "source",
    [
        HONEST.replace("    return", '    """' + "word " * 1000 + '"""\n    return'),
        HONEST.replace("{'a': 1.0}", "{'a' * 200: 1.0}"),
    ],
    ids=["a long docstring", "a long name"],
)
def test_an_honest_reward_of_many_words_is_accepted(recording, source):
    assert try_hosted(source, recording, 20.0).errors == ()


@pytest.mark.parametrize(
    ("terms", "told"),
    [
        ("{str(i): 1.0 for i in range(300)}", "returned 300 terms at step 1; expected at most 256"),
        ("{chr(7): 1.0}", "expected a name of at most 200 printable characters"),
        ("{'a': [int('x' * 3000)]}", "invalid literal for int"),
        ("{'a': {}['x' * 3000]}", "KeyError"),
    ],
)
def test_an_honest_reward_that_is_refused_learns_why(recording, terms, told):
    report = try_hosted(HONEST.replace("{'a': 1.0}", terms), recording, 20.0)
    assert told in report.errors[0]


def test_an_honest_report_is_believed(recording):
    assert try_hosted(HONEST, recording, 20.0).accepted


@pytest.mark.parametrize("value", ["1.7e308", "-1e200"])
def test_values_without_a_mean_are_told_as_the_rewards_fault(recording, value):
    report = try_source(HONEST.replace("1.0", value), recording)
    assert "too large to average" in report.errors[0]


@pytest.mark.parametrize(
    "wait",
    [
        "load('time').sleep(1800)",
        "load('select').select([], [], [], 1800)",
        "load('select').poll().poll(1_800_000)",
        "load('signal').sigtimedwait([10], 1800)",
    ],
)
def test_no_call_sleeps(recording, wait):
    body = f"\ndef reward_fn(obs, action, next_obs, info):\n    {wait}\n    return 1.0, {{'a': 1.0}}\n"
    report = try_hosted(LOAD + body, recording, 20.0)
    assert "PermissionError" in report.errors[0]


def test_a_call_that_waits_without_computing_is_ended(recording, monkeypatch):
    monkeypatch.setattr(processor_time, "IDLE_LIMIT_S", 1.0)
    wait = "\nlock = load('_thread').allocate_lock()\nlock.acquire()\nlock.acquire()\n"
    report = try_hosted(LOAD + wait + HONEST, recording, 600.0)
    assert "used no processor time for 1 s" in report.errors[0]


def test_a_call_that_computes_is_not_idle(recording, monkeypatch):
    monkeypatch.setattr(processor_time, "IDLE_LIMIT_S", 1.0)
    report = try_hosted("\nwhile True: pass\n" + HONEST, recording, 2.5)
    assert "no processor time" not in report.errors[0]
