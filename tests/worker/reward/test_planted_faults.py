"""One instance of each fault a reward can have is named by its check, with its line and what to do about it."""

from pathlib import Path

import pytest

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.contracts.reward import RewardIssue
from p2p.contracts.session import NewSession
from p2p.contracts.work import CheckRequest
from p2p.envs import catalog
from p2p.service.training.plan import base_config
from p2p.store.iterations import IterationRecord
from p2p.worker.check import check

ELSEWHERE = ("describes the terms", "slows the training down")
"""What the check says of these rewards' missing docstrings, and of a machine that is busy."""
HEAD = "def reward_fn(obs, action, next_obs, info):\n    terms = {}\n"
TAIL = "    return sum(terms.values()), terms\n"
SPEED = '    terms["speed"] = info["x_velocity"]\n'
EFFORT = '    terms["effort"] = -0.05 * float((action**2).sum())\n'


def reward(*lines: str, tail: str = TAIL) -> str:
    """A reward of which the first line of `lines` is line 3."""
    return HEAD + "".join(lines) + tail


def term(name: str, value: str) -> str:
    return f'    terms["{name}"] = {value}\n'


REMEMBERING = '''
class Progress(RewardFunction):
    """Pays for getting ahead."""

    def __init__(self):
        self.previous = None

    def compute(self, obs, action, next_obs, info):
        gain = 0.0 if self.previous is None else info["x_position"] - self.previous
        terms = {"speed": info["x_velocity"], "gain": gain + 0.1 * float(next_obs[1])}
        return sum(terms.values()), terms

    latex, terms = "v", {"speed": "how fast", "gain": "getting ahead"}
'''
COUNTING = REMEMBERING.replace("None\n", "0.0\n", 1).replace(
    "        terms = {", '        self.previous = info["x_position"]\n        terms = {'
)
CHEETAH, HOPPER, FORWARD = "HalfCheetah-v5", "Hopper-v5", "run forward"
FAULTS = {
    "dead term": (CHEETAH, reward(SPEED, term("alive", "1.0")), 4, "'alive' was 1 at every step", "Leave it out"),
    "sum": (
        CHEETAH,
        reward(SPEED, EFFORT, tail='    return terms["speed"], terms\n'),
        5,
        "do not sum to the total",
        "Return sum(terms.values())",
    ),
    "dominance": (
        CHEETAH,
        reward(SPEED, term("low", '100.0 * (1.0 + info["up"])')),
        4,
        "'low' makes up",
        "Scale it down",
    ),
    "alive-bonus trap": (
        HOPPER,
        reward(term("speed", '0.02 * info["x_velocity"]'), term("alive", "1.0")),
        4,
        "Standing still earns 1 per step",
        "Reduce the terms that pay for nothing, here 'alive'",
    ),
    "stand-still trap": (
        CHEETAH,
        reward(term("speed", '0.02 * info["x_velocity"]'), term("effort", "-float((action**2).sum())")),
        4,
        "It pays 'standing still'",
        "look at its sign and its size",
    ),
    "unbounded": (CHEETAH, reward(term("speed", 'info["x_velocity"] ** 3'), EFFORT), 3, "'speed' pays", "Bound it"),
    "wrong sign": (
        CHEETAH,
        reward(term("speed", '-info["x_velocity"]'), EFFORT),
        3,
        "It pays 'moving backward at 2 m/s'",
        "look at its sign",
    ),
    "state": (CHEETAH, REMEMBERING, 6, "self.previous is set to None and never changed", "at the end of compute"),
    "never active": (
        CHEETAH,
        reward(SPEED, EFFORT, term("record", '5.0 if info["x_velocity"] > 500.0 else 0.0')),
        5,
        "'record' was 0 at every step",
        "pay for progress",
    ),
}


def issues_of(directory: Path, env_id: str, sentence: str, source: str | None = None) -> tuple[RewardIssue, ...]:
    """What the verb `check` reports; of the built-in author's own reward where there is no source."""
    spec, author = catalog.load(env_id), BuiltinAuthor()
    intent = author.elicit(sentence, spec)
    draft = author.write(intent, spec)
    config = base_config(NewSession(prompt=sentence, env_id=env_id), draft)
    record = IterationRecord(directory)
    record.save_env_spec(spec)
    record.save_reward_source(draft.source if source is None else source)
    record.save_check_request(
        CheckRequest(
            intent=intent,
            terminate_when_unhealthy=config.terminate_when_unhealthy,
            env_kwargs=config.env_kwargs,
            side_info=config.side_info,
        )
    )
    check(directory)
    report = record.read_reward_report()
    assert report is not None
    assert report.transitions > 0, report.issues
    return tuple(issue for issue in report.issues if not any(words in issue.message for words in ELSEWHERE))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_named_with_its_line_and_a_fix(fault: str, tmp_path: Path) -> None:
    env_id, source, line, reason, fix = FAULTS[fault]
    issues = issues_of(tmp_path, env_id, FORWARD, source)
    found = [issue for issue in issues if reason in issue.message]
    assert [(issue.line, fix in issue.message) for issue in found] == [(line, True)], issues


def test_the_same_rewards_without_a_fault_are_let_pass(tmp_path: Path) -> None:
    assert issues_of(tmp_path / "plain", CHEETAH, FORWARD, reward(SPEED, EFFORT)) == ()
    assert issues_of(tmp_path / "state", CHEETAH, FORWARD, COUNTING) == ()


SENTENCES = {
    "HalfCheetah-v5": (
        *("run forward as fast as you can", "run backward", "trot slowly", "walk at 1 m/s smoothly", "crawl"),
        *("stay low while walking forward", "stand still", "stay low", "stand as tall as possible"),
        *("jump as high as possible", "jump 3 times", "jump 0.3 m high", "hold your torso at 50 cm"),
        *("do a backflip and land on your feet", "do two backflips", "do a front flip"),
        "stand on your hind legs for 3 seconds",
    ),
    "Hopper-v5": ("hop forward without falling", "jump up and down", "hop in place", "stand still"),
    "Walker2d-v5": ("walk forward slowly, upright", "walk backward", "walk forward with little effort", "balance"),
    "Ant-v5": ("walk to the left", "walk forward", "spin clockwise", "turn around", "spin left twice then stand still"),
    "Humanoid-v5": ("walk at 5 km/h", "stand still", "run forward"),
    "HumanoidStandup-v5": ("stand up",),
    "Swimmer-v5": ("swim forward", "swim backward"),
    "Reacher-v5": ("reach the target",),
    "Pusher-v5": ("push the object to the goal", "reach the target"),
    "InvertedPendulum-v5": ("keep the pole balanced", "keep the pole up in the middle"),
    "InvertedDoublePendulum-v5": ("balance both poles",),
}

AT_NIGHT = {"Ant-v5", "Humanoid-v5", "HumanoidStandup-v5", "Hopper-v5", "Walker2d-v5"}
"""Dear to simulate."""


def test_every_body_has_its_sentences() -> None:
    assert set(SENTENCES) == set(catalog.known())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("env_id", "few"),
    [
        *(pytest.param(env_id, True, marks=[pytest.mark.nightly] * (env_id in AT_NIGHT)) for env_id in SENTENCES),
        *(pytest.param(env_id, False, marks=pytest.mark.nightly) for env_id in SENTENCES),
    ],
)
def test_nothing_is_held_against_the_rewards_of_the_built_in_author(env_id: str, few: bool, tmp_path: Path) -> None:
    sentences = SENTENCES[env_id]
    found = {
        sentence: issues
        for number, sentence in enumerate(sentences[:: -(-len(sentences) // 3)] if few else sentences)
        if (issues := issues_of(tmp_path / str(number), env_id, sentence))
    }
    assert not found
