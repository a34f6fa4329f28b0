"""Rewards handed in, criteria replaced, wishes: what is refused before anything is trained."""

import pytest

from p2p.contracts.errors import InvalidConfig, InvalidInput, UnknownName, UnknownPhrase
from p2p.contracts.intent import Category, Comparison, Criterion, Predicate, Statistic
from p2p.contracts.job import JobSpec, JobState
from p2p.contracts.reward import RewardDraft, RewardReport, RewardSpec, RewardTerm, TermStatistics
from p2p.contracts.session import EventName, NewSession, SessionStatus
from p2p.contracts.training import Evaluation, Purpose, Rollout
from p2p.service.judging.caller_judgment import judge_evidence
from p2p.service.progress.differences import changes_between, common_share, source_diff
from p2p.service.progress.metrics import metrics
from p2p.service.progress.session_view import view_session
from p2p.service.rewards.caller_revision import revision_brief
from p2p.service.rewards.criteria import intent_of, replace_criteria
from p2p.service.rewards.submission import check_reward_source, submit_reward
from p2p.service.rewards.writing import elicit_intent
from p2p.service.sessions.driving import stop_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.sessions.steering import steer, wishes
from p2p.service.workspace import Workspace

PENDULUM = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5")
GOOD = "def reward_fn(obs, action, next_obs, info):\n    return 1.0, {'alive': 1.0}\n"
BAD = "def reward_fn(obs, action, next_obs, info):\n    return info['no_such_thing'], {}\n"


@pytest.fixture
def name(ws):
    return create_session(ws, PENDULUM).session_id


def criterion(key="steady", feature="pole_angle"):
    predicate = Predicate(
        statistic=Statistic.MAX, feature=feature, comparison=Comparison.AT_MOST, threshold=0.1, unit="rad", margin=0.1
    )
    return Criterion(key=key, title=key, description="", category=Category.STABILITY, predicate=predicate)


def test_a_rejected_reward_is_a_report_and_the_next_one_takes_its_place(ws, name):
    first = submit_reward(ws, name, BAD, "a guess", {"ent_coef": 0.01})
    assert (first.iteration, first.report.accepted) == (1, False)
    assert "no_such_thing" in first.report.errors[0]
    iteration = ws.record(name).iteration(1)
    assert iteration.read_reward_report() == first.report
    iteration.run("baseline", 10).set_status(JobState.FAILED)

    second = submit_reward(ws, name, GOOD)
    assert (second.iteration, second.report.accepted) == (1, True)
    assert iteration.read_draft() == RewardDraft(source=GOOD)
    assert iteration.read_reward_report() == second.report
    assert iteration.runs() == []
    assert [record.number for record in ws.record(name).iteration_records()] == [1]
    told = [event.event for event in ws.record(name).events.read()]
    assert told.count(EventName.REWARD_END) == 2
    assert told.count(EventName.REWARD_ERROR) == told.count(EventName.ITERATION_STARTED) == 1


def test_a_check_whose_caller_was_killed_ends_before_the_next_one_takes_its_place(ws, name):
    directory = ws.record(name).iteration(1).check_dir
    ws.backend.submit(JobSpec(argv=("/bin/sh", "-c", "trap '' TERM; exec sleep 60")), directory)
    assert submit_reward(ws, name, GOOD).report.accepted
    assert ws.backend.status(directory).state is JobState.COMPLETED


def test_a_session_that_was_stopped_goes_on_with_the_next_reward(ws, name):
    stop_session(ws, name)
    submit_reward(ws, name, GOOD)
    assert view_session(ws, name).status is SessionStatus.PENDING


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (f"# {'x' * 65_536}\n", r"65539 bytes; a reward has at most 65536"),
        ("# \ud800\n", "is not text: the character at 2"),
    ],
)
def test_a_source_that_cannot_be_kept_is_refused(ws, name, source, words):
    with pytest.raises(InvalidInput, match=words):
        submit_reward(ws, name, source)
    with pytest.raises(InvalidInput, match=words):
        check_reward_source(ws, name, source)
    assert ws.record(name).iteration_records() == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"learning_rate": 0.5}, "learning_rate: an author may choose"),
        ({"learning_rte": 1e-3}, "did you mean 'learning_rate'"),
        ({"n_epochs": "many"}, "n_epochs"),
    ],
)
def test_a_configuration_no_author_may_choose_is_refused_and_the_reward_before_it_stays(ws, name, changes, words):
    ws.record(name).iteration(1).save_draft(RewardDraft(source=GOOD))
    with pytest.raises(InvalidConfig, match=words):
        submit_reward(ws, name, BAD, config_changes=changes)
    assert ws.record(name).iteration(1).read_draft().source == GOOD


def test_a_caller_is_told_where_the_hyperparameters_are_fixed(ws):
    name = create_session(ws, PENDULUM.model_copy(update={"reward_only": True})).session_id
    with pytest.raises(InvalidConfig, match=r"learning_rate, n_envs among them\. Leave them out"):
        submit_reward(ws, name, GOOD, config_changes={"num_envs": 8, "learning_rate": 1e-3, "episode_s": 4.0})
    assert ws.record(name).iteration_records() == []
    assert submit_reward(ws, name, GOOD, config_changes={"episode_s": 4.0}).report.accepted


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (SessionStatus.PASSED, "has passed"),
        (SessionStatus.MAX_ITERATIONS, "used up its 3 iterations"),
        (SessionStatus.COMPLETED, "has trained the reward it was made for"),
    ],
)
def test_a_session_that_has_ended_takes_no_more(ws, name, status, words):
    ws.record(name).set_status(status)
    with pytest.raises(InvalidInput, match=f"{words}.*another session: <<create>>"):
        submit_reward(ws, name, GOOD)
    with pytest.raises(InvalidInput, match="create another session"):
        steer(ws, name, "softer")


def test_without_a_source_the_author_of_the_session_writes_where_it_understands(ws, name):
    written = submit_reward(ws, name)
    assert written.report.accepted
    assert "class" in written.source
    request = PENDULUM.model_copy(update={"prompt": "do something only a model understands"})
    intent = intent_of(ws, request.prompt, request.env_id, (criterion(),))
    odd = create_session(ws, request, intent=intent).session_id
    assert elicit_intent(ws, odd) == intent, "criteria that were given are not asked for again"
    with pytest.raises(UnknownPhrase):
        submit_reward(ws, odd)
    assert submit_reward(ws, odd, GOOD).report.accepted


def test_a_reward_is_tried_for_a_session_or_an_environment_and_not_kept(ws, name):
    assert check_reward_source(ws, "InvertedPendulum-v5", GOOD).accepted
    report = check_reward_source(ws, name, BAD)
    assert "no_such_thing" in report.errors[0]
    assert ws.record(name).iteration_records() == []
    assert sorted(path.name for path in ws.settings.runs_dir.iterdir()) == [name]
    with pytest.raises(UnknownName, match="session 'nobody'"):
        check_reward_source(ws, "nobody", GOOD)
    with pytest.raises(InvalidInput):
        check_reward_source(ws, "../../etc", GOOD)


def test_criteria_are_replaced_or_extended_before_anything_is_trained(ws, name):
    before = ws.record(name).read_criteria()
    extended = replace_criteria(ws, name, (criterion(),), extend=True, episode_s=3.0)
    assert [c.key for c in extended.criteria] == [*(c.key for c in before.criteria), "steady"]
    assert extended.episode_s == 3.0
    replaced = replace_criteria(ws, name, (criterion("still"),), extend=False)
    assert [c.key for c in replaced.criteria] == ["still"]
    assert replaced.episode_s == 3.0
    assert ws.record(name).read_criteria() == replaced
    submit_reward(ws, name, GOOD)
    replace_criteria(ws, name, (criterion("calm"),), extend=False)
    run = ws.record(name).iteration(1).run("baseline", 10)
    run.set_status(JobState.FAILED)
    rollouts = (Rollout(seed=1, episode_return=1.0, length=10),)
    run.checkpoint(2048).save_evaluation(
        Evaluation(run_id="r", checkpoint=2048, purpose=Purpose.SELECTION, dt=0.05, rollouts=rollouts)
    )
    with pytest.raises(InvalidInput, match=r"Iteration 1 .* create another session"):
        replace_criteria(ws, name, (criterion(),), extend=False)


@pytest.mark.parametrize(
    ("criteria", "words"),
    [
        ((criterion(feature="pole_angel"),), "reads 'pole_angel'.*Did you mean 'pole_angle'"),
        ((), "at least 1"),
        (tuple(criterion(f"c{number}") for number in range(21)), "at most 20"),
        ((criterion(), criterion()), "two criteria are called 'steady'"),
    ],
)
def test_criteria_that_cannot_be_judged_are_refused_and_the_old_ones_stay(ws, name, criteria, words):
    before = ws.record(name).read_criteria()
    with pytest.raises(InvalidInput, match=words):
        replace_criteria(ws, name, criteria, extend=False)
    assert ws.record(name).read_criteria() == before


def test_wishes_are_kept_in_order_and_within_limits(ws, name):
    assert wishes(ws, name).wishes == ()
    steer(ws, name, "  land\nsofter ")
    assert steer(ws, name, "higher").wishes == ("land softer", "higher")
    assert wishes(Workspace(ws.settings), name).wishes == ("land softer", "higher")
    for wish, got in (("   ", "got 0"), ("x" * 301, "got 301")):
        with pytest.raises(InvalidInput, match=got):
            steer(ws, name, wish)
    with ws.record(name).wishes_path.open("a") as file:
        file.write('{"text": "broken')
    assert len(wishes(ws, name).wishes) == 2
    for number in range(48):
        steer(ws, name, f"wish {number}")
    with pytest.raises(InvalidInput, match="holds 50 wishes"):
        steer(ws, name, "one more")


@pytest.mark.parametrize("step", [judge_evidence, revision_brief, metrics])
def test_a_session_without_a_reward_says_what_to_call(ws, name, step):
    with pytest.raises(InvalidInput, match="<<write_reward>>"):
        step(ws, name)


def test_a_rejected_reward_has_nothing_to_judge(ws, name):
    submit_reward(ws, name, BAD)
    with pytest.raises(InvalidInput, match=r"submit a reward \(<<write_reward>>\) and train it"):
        judge_evidence(ws, name)


def report(**means):
    total = sum(abs(mean) for mean in means.values())
    terms = tuple(
        TermStatistics(name=key, mean=mean, std=0.0, minimum=mean, maximum=mean, share=abs(mean) / total)
        for key, mean in means.items()
    )
    described = tuple(RewardTerm(name=key, description=f"what {key} is") for key in means)
    return RewardReport(spec=RewardSpec(latex="", terms=described), terms=terms)


def test_changes_are_told_from_tables_terms_and_measurements_the_largest_first():
    old = RewardDraft(source="class A:\n    weights = {'a': 1.0, 'b': 2.0}\n", config_changes={"gamma": 0.99})
    new = RewardDraft(source="class A:\n    weights = {'a': 1.5, 'b': 2.0}\n", config_changes={"num_envs": 8})
    before, after = report(a=1.0, b=2.0, gone=1.0, same=1.0), report(a=1.5, b=9.0, new=1.0, same=1.01)
    changes = changes_between(old, new, before, after, "  because\nof it ")
    assert [(c.kind, c.name, c.old, c.new) for c in changes] == [
        ("reward", "b", "mean 2", "mean 9"),
        ("config", "gamma", 0.99, None),
        ("reward", "gone", "what gone is", None),
        ("reward", "a", 1.0, 1.5),
        ("reward", "new", None, "what new is"),
        ("config", "n_envs", None, 8),
    ]
    assert {change.reason for change in changes} == {"because of it"}
    assert changes_between(old, old, before, before) == ()
    (unknown,) = changes_between(RewardDraft(source="a\n"), RewardDraft(source="a\nb\n"), None, None)
    assert (unknown.name, unknown.old, unknown.new) == ("source", "1 lines", "2 lines")


def test_sources_are_compared_by_their_lines():
    assert common_share("a\nb\n", "a\n  b\n\n") == 1.0
    assert common_share("a\nb\n", "a\nc\n") == pytest.approx(1 / 3)
    assert common_share("", "") == 0.0
    assert "-b\n+c" in source_diff("a\nb\n", "a\nc\n", ("1", "2"))
    long = source_diff("", "\n".join(f"line {number}" for number in range(5000)), ("1", "2"))
    assert len(long) < 6100
    assert long.endswith("both iterations.")
