"""Velocity commands of a session: fixed with its criteria, refused early, checked with its rewards."""

import pytest

from p2p.contracts.commands import Commands
from p2p.contracts.errors import InvalidConfig, InvalidInput
from p2p.contracts.intent import Category, Comparison, Criterion, Predicate, Statistic
from p2p.contracts.reward import RewardDraft
from p2p.contracts.session import NewSession
from p2p.contracts.start_policy import StartPolicy
from p2p.service.rewards.criteria import commands_asked, intent_of, replace_criteria
from p2p.service.rewards.submission import check_reward_source, submit_reward
from p2p.service.rewards.writing import write_reward
from p2p.service.sessions.lifecycle import create_session, preview
from p2p.service.training.environments import environment_of
from p2p.service.training.plan import base_config, draft_with_commands
from p2p.service.training.start_policies import require_fit
from p2p.service.wording import reward_constraints
from p2p.worker.rollout.episodes import judged_config

ANT = "Ant-v5"
AHEAD = {"velocity_x": [0.0, 0.6], "resample_s": 2.0}
FOLLOWING = "def reward_fn(obs, action, next_obs, info):\n    e = info['velocity_error']\n    return -e, {'e': -e}\n"


def follows(threshold=0.2):
    predicate = Predicate(
        statistic=Statistic.MEAN,
        feature="velocity_error",
        comparison=Comparison.AT_MOST,
        threshold=threshold,
        unit="m/s",
        margin=0.2,
    )
    return Criterion(key="follows", title="follows", description="", category=Category.GAIT, predicate=predicate)


def test_the_built_in_author_fixes_the_commands_with_the_criteria_and_its_reward_is_accepted(ws):
    session = create_session(ws, NewSession(prompt="follow commands up to 0.5 m/s", env_id=ANT))
    intent = ws.record(session.session_id).read_criteria()
    assert intent.commands.velocity_x == (0.0, 0.5)
    report = write_reward(ws, session.session_id, 1)
    assert report.accepted
    assert not report.to_mend
    assert report.method == "vectorised"
    draft = ws.record(session.session_id).iteration(1).read_draft()
    assert base_config(session, draft).commands == intent.commands
    spec = environment_of(ws, session, intent)
    assert {"velocity_error", "command_yaw_rate"} <= set(spec.feature_names)
    assert "velocity_x in [0, 0.5]" in reward_constraints(spec)


def test_a_sessions_own_commands_are_what_it_is_judged_by_whatever_a_reward_is_trained_with(ws):
    request = NewSession(prompt="follow velocity commands", env_id=ANT, config={"commands": AHEAD})
    session = create_session(ws, request)
    intent = ws.record(session.session_id).read_criteria()
    assert intent.commands == Commands.model_validate(AHEAD)
    narrow = RewardDraft(source="", config_changes={"commands": {"velocity_x": [0.0, 0.01]}})
    trained = base_config(session.model_copy(update={"config": {}}), narrow)
    assert trained.commands.velocity_x == (0.0, 0.01)
    assert judged_config(trained, intent).commands == intent.commands
    assert base_config(session, narrow).commands == intent.commands


def test_criteria_of_ones_own_may_be_about_the_commands_of_the_sentence(ws):
    request = NewSession(prompt="follow commands up to 0.5 m/s", env_id=ANT)
    commands = commands_asked(ws, request)
    intent = intent_of(ws, request.prompt, ANT, [follows()], commands=commands)
    session = create_session(ws, request, intent=intent)
    assert ws.record(session.session_id).read_criteria().commands.velocity_x == (0.0, 0.5)
    own = request.model_copy(update={"prompt": "walk", "config": {"commands": AHEAD}})
    assert commands_asked(ws, own) == Commands.model_validate(AHEAD)
    assert commands_asked(ws, own.model_copy(update={"config": {}})) is None


@pytest.mark.parametrize(
    ("env_id", "commands", "message"),
    [
        ("HalfCheetah-v5", {"yaw_rate": [-1.0, 1.0]}, "HalfCheetah-v5 cannot follow yaw_rate"),
        ("Reacher-v5", {"velocity_x": [0.0, 1.0]}, "cannot be told to go anywhere"),
        (ANT, {"velocity_x": [1.0, 0.0]}, "low <= high"),
        (ANT, None, "leave `commands` out"),
    ],
)
def test_commands_that_cannot_be_followed_are_refused_before_a_session_begins(env_id, commands, message, ws):
    prompt = "follow velocity commands" if commands is None else "walk forward"
    request = NewSession(prompt=prompt, env_id=env_id, config={"commands": commands})
    for begin in (create_session, preview):
        with pytest.raises(InvalidConfig, match=message):
            begin(ws, request)
    assert ws.runs.sessions() == []


def test_criteria_of_ones_own_read_the_features_of_commands_only_where_there_are_some(ws):
    with pytest.raises(InvalidInput, match="It needs commands, which are a field of the configuration"):
        intent_of(ws, "follow", ANT, (follows(),))
    commands = Commands.model_validate(AHEAD)
    intent = intent_of(ws, "follow", ANT, (follows(),), commands=commands)
    session = create_session(ws, NewSession(prompt="follow", env_id=ANT, config={"commands": AHEAD}), intent=intent)
    changed = replace_criteria(ws, session.session_id, (follows(0.1),))
    assert changed.commands == commands
    assert changed.criteria[0].predicate.threshold == 0.1


def test_a_reward_of_ones_own_is_trained_with_the_commands_of_the_criteria(ws):
    session = create_session(ws, NewSession(prompt="follow velocity commands", env_id=ANT))
    report = submit_reward(ws, session.session_id, FOLLOWING)
    assert report.report.accepted, report.report.errors
    intent = ws.record(session.session_id).read_criteria()
    draft = ws.record(session.session_id).iteration(1).read_draft()
    assert Commands.model_validate(draft.config_changes["commands"]) == intent.commands
    assert draft_with_commands(draft, session, intent) == draft


def test_a_reward_that_reads_a_command_where_there_is_none_is_told_what_it_needs(ws):
    report = check_reward_source(ws, ANT, FOLLOWING)
    assert "It needs commands, which are a field of the configuration." in report.errors[0]


def test_a_training_may_go_on_from_a_policy_with_other_ranges_but_not_without_commands():
    def start(commands):
        return StartPolicy.model_construct(
            session_id="s", iteration=1, run_id="r", checkpoint=1, config={"commands": commands}
        )

    def config(commands):
        fields = {} if commands is None else {"commands": commands}
        return base_config(NewSession(env_id=ANT, author="given"), RewardDraft(source="", config_changes=fields))

    had = Commands.model_validate(AHEAD).model_dump(mode="json")
    require_fit(start(had), [config({"velocity_x": [0.0, 2.0]})])
    require_fit(start(None), [config(AHEAD)])
    with pytest.raises(InvalidConfig, match="commands is None in this training"):
        require_fit(start(had), [config(None)])
