"""A session whose caller takes every step: the reward handed in, the training a job, the judgment by eyes."""

import json
import shutil
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from shared_sessions import BALANCE, made_once

from p2p.contracts.background import StartTraining
from p2p.contracts.errors import InvalidConfig, InvalidInput, UnknownName
from p2p.contracts.intent import Category, Criterion
from p2p.contracts.job import JobState
from p2p.contracts.judgment import Observation, Verdict
from p2p.contracts.metrics import MetricsKind
from p2p.contracts.session import EventName, NewSession, SessionStatus
from p2p.service.judging.caller_judgment import judge_evidence, submit_judgment
from p2p.service.judging.closing import outcome
from p2p.service.progress.comparing import compare_iterations
from p2p.service.progress.job_views import wait_for_job
from p2p.service.progress.metrics import metrics
from p2p.service.progress.session_view import view_session
from p2p.service.rewards.caller_revision import revise_session, revision_brief
from p2p.service.rewards.criteria import replace_criteria
from p2p.service.rewards.submission import submit_reward
from p2p.service.sessions.background import cancel_job, start_training
from p2p.service.sessions.driving import extend_session, stop_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.sessions.steering import steer
from p2p.service.workspace import Workspace
from p2p.settings import Settings

pytestmark = pytest.mark.slow

SHORT = {"total_timesteps": 4096, "num_evals": 2, "n_eval_episodes": 3}
REWARD = '''
class Balance(RewardFunction):
    """Keeps the pole up."""

    weights = {"upright": 1.0, "effort": 0.05}

    def compute(self, obs, action, next_obs, info):
        terms = {
            "upright": self.weights["upright"] * (1.0 - abs(info["pole_angle"])),
            "effort": -self.weights["effort"] * info["control_effort"],
        }
        return sum(terms.values()), terms

    @property
    def latex(self):
        return r"r = w_u (1 - |\\theta|) - w_e a^2"

    @property
    def terms(self):
        return {"upright": "the pole stands", "effort": "price of the action"}
'''
CALM = Criterion(
    key="calm", title="Looks calm", description="The cart does not jitter.", category=Category.POSTURE, predicate=None
)
NOT_MEANT = Observation(
    is_what_was_meant=False,
    score=0.2,
    diagnosis="The pole falls within a second.",
    criteria={"calm": False},
    failure_tags=("falls_at_once",),
    model="a-model",
)
MEANT = Observation(is_what_was_meant=True, score=1.0, diagnosis="It stands.", criteria={"calm": True})


class NothingStarts:
    """A backend that looks at jobs and starts none: what needs none takes milliseconds."""

    def __init__(self, backend):
        self.backend = backend

    def submit(self, spec, directory):
        raise AssertionError(f"{spec} was started in {directory}")

    def status(self, directory):
        return self.backend.status(directory)

    def cancel(self, directory):
        return self.backend.cancel(directory)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Runs directory with one session, trained once and not judged, that has a criterion only eyes can judge."""
    return made_once(tmp_path_factory, "caller_driven", train_one)


def train_one(runs_dir):
    ws = Workspace(Settings(runs_dir=runs_dir, max_parallel=2))
    request = NewSession(
        prompt=BALANCE,
        env_id="InvertedPendulum-v5",
        n_seeds=1,
        max_iterations=2,
        n_report_rollouts=10,
        config=SHORT,
    )
    name = create_session(ws, request, session_id="balance").session_id
    replace_criteria(ws, name, (CALM,), extend=True)
    assert submit_reward(ws, name, REWARD, "The angle is all that counts.").report.accepted
    train(ws, name)


@pytest.fixture
def ws(trained, tmp_path):
    """A service on a copy of it."""
    shutil.copytree(trained, tmp_path / "runs")
    made = Workspace(Settings(runs_dir=tmp_path / "runs", max_parallel=2))
    yield made
    for _ in range(2):  # a stopped session is filmed, and stopping it again ends that
        stop_session(Workspace(made.settings), "balance")


def train(ws, name, **start):
    job = start_training(ws, name, StartTraining(**start))
    deadline = time.monotonic() + 300
    while not (view := wait_for_job(ws, job.job_id, 45)).state.finished:
        assert time.monotonic() < deadline, view
    assert view.state is JobState.COMPLETED, view.error


def events(ws, name):
    return [event.event for event in ws.record("balance").events.read() if event.event is name]


def test_the_whole_path_from_a_rejected_reward_to_the_last_iteration(ws):
    evidence = judge_evidence(ws, "balance")
    assert evidence.unjudged == ("calm",)
    submit_judgment(ws, "balance", 1, NOT_MEANT)
    assert view_session(ws, "balance").status is SessionStatus.PENDING

    steer(ws, "balance", "move the cart less")
    brief = revision_brief(ws, "balance")
    assert brief.wishes == ("move the cart less",)
    assert brief.iterations_left == 1

    rejected = revise_session(ws, "balance", "import os\n" + REWARD, "first try")
    assert (rejected.iteration, rejected.report.accepted) == (2, False)
    with pytest.raises(InvalidInput, match="was refused"):
        start_training(ws, "balance")
    accepted = revise_session(
        ws,
        "balance",
        REWARD.replace('"effort": 0.05', '"effort": 0.5'),
        reasoning="The cart moves too much.",
        config_changes={"ent_coef": 0.01},
        lesson="A cheap effort makes the cart jitter.",
    )
    assert (accepted.iteration, accepted.report.accepted) == (2, True)
    revision = ws.record("balance").iteration(1).read_revision()
    assert revision.based_on == 1
    assert revision.diagnosis == "The cart moves too much."
    assert revision.lesson == "A cheap effort makes the cart jitter."
    assert [(c.kind, c.name, c.old, c.new) for c in revision.changes] == [
        ("reward", "effort", 0.05, 0.5),
        ("config", "ent_coef", None, 0.01),
    ]
    assert len(events(ws, EventName.REWARD_ERROR)) == 1
    train(ws, "balance")
    assert ws.record("balance").iteration(2).run("baseline", 10).read_config().ent_coef == 0.01

    judgment = submit_judgment(ws, "balance", None, NOT_MEANT)
    assert judgment.verdict is Verdict.FAILED
    view = view_session(ws, "balance")
    assert view.status is SessionStatus.MAX_ITERATIONS
    assert [line.based_on for line in view.history] == [None, 1]
    assert ws.record("balance").read_lineage().lessons[0].text == "A cheap effort makes the cart jitter."
    with pytest.raises(InvalidInput, match="used up its 2 iterations"):
        submit_reward(ws, "balance", REWARD)
    with pytest.raises(InvalidInput, match="no further reward is written"):
        steer(ws, "balance", "faster")
    with pytest.raises(InvalidInput, match="has ended: it is not judged again"):
        submit_judgment(ws, "balance", 2, MEANT)


def test_evidence_holds_all_that_a_judge_needs_in_few_bytes(ws):
    ws.backend = NothingStarts(ws.backend)
    evidence = judge_evidence(ws, "balance", 1)
    root = ws.runs.path
    assert (root / evidence.contact_sheet).is_file()
    assert evidence.frames
    assert all((root / frame.path).is_file() for frame in evidence.frames)
    assert set(evidence.videos) == {"p10", "median", "p90"}
    assert {rollout.label for rollout in evidence.code.rollouts} == {"p10", "median", "p90"}
    assert evidence.code.n_rollouts == 10
    angle = next(numbers for numbers in evidence.numbers if numbers.name == "pole_angle")
    assert angle.minimum <= angle.mean <= angle.maximum
    assert angle.unit == "rad"
    assert 0 < angle.maximum_s <= evidence.duration_s
    assert "keep the pole balanced" in evidence.rubric
    assert "Looks calm. The cart does not jitter." in evidence.rubric
    assert "$" not in evidence.rubric
    assert len(evidence.model_dump_json()) < 14_000
    assert ws.record("balance").iteration(1).read_judgment() is None


def test_evidence_is_made_up_for_where_a_training_was_killed_before_its_rollouts(ws):
    shutil.rmtree(ws.record("balance").iteration(1).report.path)
    assert judge_evidence(ws, "balance").code.n_rollouts == 10


def test_a_judgment_that_passes_closes_the_session_as_the_loop_does(ws):
    record = ws.record("balance")
    record.save_criteria(record.read_criteria().model_copy(update={"criteria": (CALM,)}))
    judgment = submit_judgment(ws, "balance", 1, MEANT)
    assert judgment.passed
    assert ws.record("balance").iteration(1).read_judgment() == judgment
    view = view_session(ws, "balance")
    assert view.status is SessionStatus.PASSED
    assert view.judgment.observation.model_copy(update={"prompt_hash": None}) == MEANT
    assert record.read_history().status is SessionStatus.PASSED
    assert len(events(ws, EventName.SESSION_COMPLETED)) == 1
    assert submit_judgment(ws, "balance", 1, MEANT) == judgment, "the same again changes nothing"
    assert len(events(ws, EventName.SESSION_COMPLETED)) == 1
    with pytest.raises(InvalidInput, match="has passed"):
        submit_reward(ws, "balance", REWARD)


def test_a_judgment_may_be_corrected_until_something_is_built_on_it(ws):
    submit_judgment(ws, "balance", 1, NOT_MEANT)
    corrected = NOT_MEANT.model_copy(update={"score": 0.1, "criteria": {"calm": True}})
    submit_judgment(ws, "balance", 1, corrected)
    assert ws.record("balance").iteration(1).read_judgment().observation.score == 0.1
    assert len(ws.record("balance").read_history().iterations) == 1
    submit_reward(ws, "balance", REWARD + "\n# the same\n")
    with pytest.raises(InvalidInput, match="iteration 2 has been begun on it"):
        submit_judgment(ws, "balance", 1, NOT_MEANT)


def test_what_only_eyes_can_judge_is_not_judged_by_code_alone(ws):
    with pytest.raises(InvalidInput, match=r"Only eyes can judge calm.*submit_judgment"):
        submit_judgment(ws, "balance", 1, None)
    with pytest.raises(InvalidInput, match="calm: true or false"):
        submit_judgment(ws, "balance", 1, MEANT.model_copy(update={"criteria": {}}))
    assert ws.record("balance").iteration(1).read_judgment() is None
    with pytest.raises(UnknownName, match="iteration '7'"):
        submit_judgment(ws, "balance", 7, MEANT)


def test_what_can_be_measured_is_judged_without_eyes(ws):
    record = ws.record("balance")
    intent = record.read_criteria()
    measured = tuple(criterion for criterion in intent.criteria if criterion.predicate is not None)
    record.save_criteria(intent.model_copy(update={"criteria": measured}))
    judgment = submit_judgment(ws, "balance", 1, None)
    assert judgment.observation is None
    assert judgment.provenance.observer is None
    assert outcome(ws, "balance") is (SessionStatus.PASSED if judgment.passed else None)


def test_the_brief_is_small_and_says_what_a_reward_may_read(ws):
    submit_judgment(ws, "balance", 1, NOT_MEANT)
    for number in range(12):
        steer(ws, "balance", f"wish {number}")
    ws.backend = NothingStarts(ws.backend)
    brief = revision_brief(ws, "balance")
    assert len(brief.model_dump_json()) < 12_000
    assert brief.source == REWARD
    assert brief.wishes == tuple(f"wish {number}" for number in range(2, 12))
    assert brief.pinned == tuple(SHORT)
    assert {term.name for term in brief.terms} == {"upright", "effort"}
    assert "explained_variance" in brief.dynamics
    assert {(c.key, c.wanted) for c in brief.criteria if not c.met} >= {("calm", "by eyes")}
    assert brief.observation.model_copy(update={"prompt_hash": None}) == NOT_MEANT
    assert [attempt.iteration for attempt in brief.attempts] == [1]
    for words in ("pole_angle [rad]", "numpy", "_episode_start", "ent_coef 0 … 0.1", "$"):
        assert (words in brief.constraints) is (words != "$")
    assert brief.suggestion is not None
    assert len(brief.suggestion.changes) <= 2
    assert brief == revise_session(ws, "balance"), "without a source the brief comes back"


def test_the_author_of_the_session_writes_the_next_reward_when_none_is_handed_in(ws):
    submit_judgment(ws, "balance", 1, NOT_MEANT)
    suggestion = revision_brief(ws, "balance").suggestion
    submit_reward(ws, "balance", "not Python", "an attempt that is given up")
    report = submit_reward(ws, "balance")
    assert (report.iteration, report.report.accepted) == (2, True)
    revision = ws.record("balance").iteration(1).read_revision()
    assert revision.changes == suggestion.changes
    assert revision.source == report.source


def test_a_reward_is_based_on_the_iteration_it_resembles_or_on_the_one_that_is_named(ws):
    submit_judgment(ws, "balance", 1, NOT_MEANT)
    with pytest.raises(InvalidInput, match="1 … 1, got 2"):
        revise_session(ws, "balance", REWARD, based_on=2)
    revise_session(ws, "balance", REWARD.replace("1.0 -", "2.0 -"), based_on=1)
    revision = ws.record("balance").iteration(1).read_revision()
    (change,) = revision.changes
    assert (change.kind, change.name) == ("reward", "upright")
    assert str(change.old).startswith("mean ")
    assert "Looks calm (by eyes)" in revision.lesson
    assert revision.diagnosis.startswith("Not passed")


def test_no_step_is_taken_before_the_one_it_needs(ws):
    with pytest.raises(InvalidInput, match=r"trained and not judged yet.*submit_judgment"):
        submit_reward(ws, "balance", REWARD)
    with pytest.raises(InvalidInput, match=r"No iteration of balance is judged yet.*<<train session=balance>>"):
        revision_brief(ws, "balance")
    with pytest.raises(InvalidInput, match="Iteration 1 is not judged yet"):
        revision_brief(ws, "balance", 1)
    with pytest.raises(InvalidInput, match="No iteration of balance is judged yet"):
        revise_session(ws, "balance", REWARD)
    with pytest.raises(InvalidInput, match="create another session"):
        replace_criteria(ws, "balance", (CALM,), extend=False)
    submit_judgment(ws, "balance", 1, NOT_MEANT)
    with pytest.raises(InvalidConfig, match="gamma: an author may choose"):
        submit_reward(ws, "balance", REWARD, config_changes={"gamma": 0.5})
    assert len(ws.record("balance").iteration_records()) == 1, "what is refused leaves nothing behind"
    submit_reward(ws, "balance", REWARD)
    with pytest.raises(InvalidInput, match="train it first"):
        judge_evidence(ws, "balance")
    job = start_training(ws, "balance", StartTraining(total_timesteps=400_000))
    with pytest.raises(InvalidInput, match=rf"being trained by {job.job_id}.*<<cancel_job job="):
        submit_reward(ws, "balance", REWARD)
    with pytest.raises(InvalidInput, match="Wait for it"):
        judge_evidence(ws, "balance")
    cancel_job(ws, job.job_id)
    replaced = submit_reward(ws, "balance", REWARD.replace("0.05", "0.06"))
    assert replaced.iteration == 2
    assert ws.record("balance").iteration(2).runs() == [], "runs of the old reward are gone"
    assert view_session(ws, "balance").status is SessionStatus.PENDING


def test_metrics_are_few_numbers(ws):
    for kind in MetricsKind:
        if kind is MetricsKind.COMPARE:
            with pytest.raises(InvalidInput, match="one iteration only"):
                metrics(ws, "balance", view=kind)
            continue
        view = metrics(ws, "balance", 1, kind, points=5)
        assert len(view.model_dump_json()) < 8_000
        assert [run.state for run in view.runs] == ["completed"]
        assert all(len(curve.steps) == len(curve.values) <= 5 for curve in view.curves)
        assert all(curve.steps == tuple(sorted(set(curve.steps))) for curve in view.curves)
    curves = {curve.name: curve for curve in metrics(ws, "balance", view="curve").curves}
    assert curves["episode_return"].steps[-1] == 4096
    assert len(curves["selection_success"].values) == 2
    terms = metrics(ws, "balance", view="terms")
    assert {curve.name for curve in terms.curves} == {"upright", "effort"}
    assert {term.name for term in terms.terms["baseline_seed_10"]} == {"upright", "effort"}
    dynamics = metrics(ws, "balance", view="dynamics")
    assert {"approx_kl", "policy_std"} <= {curve.name for curve in dynamics.curves}
    assert "explained_variance" in dynamics.dynamics["baseline_seed_10"]
    with pytest.raises(UnknownName, match=r"view 'curves'.*Did you mean 'curve'"):
        metrics(ws, "balance", view="curves")
    with pytest.raises(UnknownName, match="run 'a_seed_1'"):
        metrics(ws, "balance", run_id="a_seed_1")
    with pytest.raises(InvalidInput, match="2 … 50, got 51"):
        metrics(ws, "balance", points=51)


def test_two_iterations_side_by_side(ws):
    submit_judgment(ws, "balance", 1, NOT_MEANT)
    submit_reward(ws, "balance", REWARD.replace('"effort": 0.05', '"effort": 0.5'), "less effort")
    found = compare_iterations(ws, "balance", 1, 2)
    assert (found.first.verdict, found.second.verdict, found.better) == (Verdict.FAILED, None, None)
    (change,) = found.changes
    assert (change.name, change.old, change.new, change.reason) == ("effort", 0.05, 0.5, "less effort")
    assert '+    weights = {"upright": 1.0, "effort": 0.5}' in found.reward_diff
    assert {pair.key for pair in found.criteria} >= {"calm"}
    assert all(pair.values[1] is None for pair in found.criteria)
    json.loads(found.model_dump_json())
    with pytest.raises(InvalidInput, match="got 1 twice"):
        compare_iterations(ws, "balance", 1, 1)
    with pytest.raises(UnknownName, match="iteration '3'"):
        compare_iterations(ws, "balance", 1, 3)
    with pytest.raises(InvalidInput, match="Nothing of iteration 2"):
        metrics(ws, "balance", 2)
    compared = metrics(ws, "balance", 1, "compare").comparison
    assert (compared.first.iteration, compared.second.iteration) == (2, 1)


def test_a_reward_keeps_the_configuration_of_the_one_it_was_changed_from(ws):
    iteration = ws.record("balance").iteration(1)
    iteration.save_draft(iteration.read_draft().model_copy(update={"config_changes": {"num_steps": 32, "gamma": 0.98}}))
    submit_judgment(ws, "balance", 1, NOT_MEANT)
    submit_reward(ws, "balance", REWARD + "\n# as before\n")
    assert ws.record("balance").iteration(2).read_draft().config_changes == {"n_steps": 32, "gamma": 0.98}
    submit_reward(ws, "balance", REWARD, config_changes={"gamma": 0.95, "ent_coef": 0.01})
    expected = {"n_steps": 32, "gamma": 0.95, "ent_coef": 0.01}
    assert ws.record("balance").iteration(2).read_draft().config_changes == expected
    submit_reward(ws, "balance", REWARD)
    assert ws.record("balance").iteration(2).read_draft().config_changes == expected, "the newest of its equals"
    revise_session(ws, "balance", source=REWARD, based_on=1)
    named = ws.record("balance").iteration(2).read_draft().config_changes
    assert named == {"n_steps": 32, "gamma": 0.98}


def test_a_session_that_used_up_its_iterations_goes_on_when_it_is_allowed_more(ws):
    record = ws.record("balance")
    record.save_session(record.read_session().model_copy(update={"max_iterations": 1}))
    submit_judgment(ws, "balance", 1, NOT_MEANT)
    with pytest.raises(InvalidInput, match="used up its 1 iterations"):
        submit_reward(ws, "balance", REWARD)
    with pytest.raises(InvalidInput, match="<<add_iterations session="):
        extend_session(ws, "balance", 1)
    view = extend_session(ws, "balance", 3)
    assert (view.status, view.alive, view.session.max_iterations) == (SessionStatus.PENDING, False, 3)
    assert submit_reward(ws, "balance", REWARD).iteration == 2


def test_a_judgment_that_is_refused_leaves_no_trace(ws):
    with pytest.raises(InvalidInput):
        submit_judgment(ws, "balance", 1, MEANT.model_copy(update={"criteria": {}}))
    assert events(ws, EventName.JUDGE_START) == []
    submit_judgment(ws, "balance", 1, NOT_MEANT)
    assert len(events(ws, EventName.JUDGE_START)) == len(events(ws, EventName.JUDGE_END)) == 1


def test_rewards_handed_in_at_the_same_time_are_taken_one_after_the_other(ws):
    submit_judgment(ws, "balance", 1, NOT_MEANT)
    sources = [REWARD.replace("0.05", f"0.0{number}") for number in (1, 2)]
    with ThreadPoolExecutor(2) as pool:
        reports = list(pool.map(lambda source: submit_reward(ws, "balance", source), sources))
    assert all(report.report.accepted and report.iteration == 2 for report in reports)
    kept = ws.record("balance").iteration(2)
    assert kept.read_draft().source == kept.read_reward_source() in sources
    assert ws.record("balance").iteration(1).read_revision().source == kept.read_draft().source
