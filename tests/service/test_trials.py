"""What the short trainings that choose a reward take, which are made, and which candidate is the best."""

from typing import Any

import pytest
from made_up import judgment, run_summary
from typer.testing import CliRunner

from p2p.cli.app import app
from p2p.cli.formats import plan_in_words
from p2p.contracts.errors import InvalidInput
from p2p.contracts.reward import (
    Candidate,
    CandidateChoice,
    CandidatePlace,
    CandidateState,
    Revision,
    RewardDraft,
    RewardIssue,
    RewardReport,
)
from p2p.contracts.session import NewSession, Session
from p2p.contracts.spending import Caps
from p2p.contracts.training_plan import TrainingPlan
from p2p.prompts import render
from p2p.service.models import session_models
from p2p.service.progress.candidate_lessons import candidate_lessons
from p2p.service.progress.lineage import record_iteration
from p2p.service.progress.listing import list_sessions
from p2p.service.progress.session_view import view_session
from p2p.service.rewards.candidates import choose_reward
from p2p.service.rewards.criteria import derive_intent
from p2p.service.rewards.trials import TrialSteps, affordable, best_of, trial_config
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.store.iterations import CandidateRecords
from p2p.store.sessions import SessionRecord

PENDULUM = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5")
TRAINED, ACCEPTED, REFUSED = CandidateState.TRAINED, CandidateState.ACCEPTED, CandidateState.REFUSED

JUDGMENT = judgment()


def candidate(number: int, state: CandidateState = TRAINED, **fields: Any) -> Candidate:
    steps = 4_096 if state is TRAINED else None
    return Candidate(number=number, state=state, environment_steps=steps, **fields)


def test_the_built_in_author_is_refused_who_writes_one_reward(ws: Workspace) -> None:
    with pytest.raises(InvalidInput, match=r"'builtin' writes one reward .* <<choose_author>>"):
        create_session(ws, PENDULUM.model_copy(update={"candidates": 3}))
    assert list_sessions(ws) == ()
    runs = ["--runs-dir", str(ws.runs.path)]
    shown = CliRunner().invoke(app, ["run", "keep the pole balanced", "--candidates", "3", *runs])
    assert isinstance(shown.exception, InvalidInput)


@pytest.mark.parametrize("count", [0, 9])
def test_there_are_one_to_eight_candidates(count: int) -> None:
    with pytest.raises(ValueError, match="candidates"):
        NewSession(prompt="run", candidates=count)


@pytest.mark.parametrize(
    ("steps", "changes", "expected"),
    [
        (300_000, {}, 30_720),  # a tenth, in whole rollouts of 16 x 64
        (300_000, {"total_timesteps": 900_000}, 30_720),  # the same for all, whatever each asks for
        (300_000, {"n_steps": 128}, 30_720),
        (2_000, {}, 1_024),  # one rollout at least
    ],
)
def test_a_short_training_has_a_tenth_of_the_steps(steps: int, changes: dict[str, object], expected: int) -> None:
    session = PENDULUM.model_copy(update={"config": {"total_timesteps": steps}})
    if changes.get("total_timesteps"):
        session = PENDULUM  # what the user says would win
    config = trial_config(session, RewardDraft(source="", config_changes=changes))
    assert config.total_timesteps == expected
    assert (config.seed, config.num_evals) == (session.seeds[0], 1)


@pytest.mark.parametrize(
    ("left", "chosen"),
    [(None, (1, 2, 3)), (130, (1, 2, 3)), (129, (1, 2)), (119, (1,)), (109, ()), (0, ()), (-5, ())],
)
def test_candidates_are_trained_as_far_as_room_is_left_for_the_training_of_the_chosen_one(
    left: int | None, chosen: tuple[int, ...]
) -> None:
    assert affordable({n: TrialSteps(trial=10, whole=100) for n in (1, 2, 3)}, left) == chosen


def test_a_candidate_that_asks_for_more_than_there_is_keeps_no_other_from_being_trained() -> None:
    wanted = {
        1: TrialSteps(trial=10, whole=10_000),
        2: TrialSteps(trial=10, whole=100),
        3: TrialSteps(trial=10, whole=100),
    }
    assert affordable(wanted, 150) == (2, 3)


@pytest.mark.parametrize(
    ("candidates", "best"),
    [
        ([candidate(1, score=0.2, episode_return=900.0), candidate(2, score=0.3, episode_return=1.0)], 2),
        ([candidate(1, score=0.3, episode_return=1.0), candidate(2, score=0.3, episode_return=9.0)], 2),
        ([candidate(1, score=0.3, episode_return=1.0), candidate(2, score=0.3, episode_return=1.0)], 1),
        ([candidate(1, ACCEPTED), candidate(2, score=0.0, episode_return=-9.0)], 2),
        ([candidate(1, REFUSED), candidate(2, CandidateState.FAILED)], 2),
        ([candidate(1, REFUSED, findings=("error: a", "error: b")), candidate(2, REFUSED, findings=("error: a",))], 2),
        ([candidate(1, CandidateState.UNWRITTEN), candidate(2, REFUSED)], 2),
    ],
)
def test_the_best_has_the_highest_score_then_return(candidates: list[Candidate], best: int) -> None:
    assert best_of(candidates).number == best


def test_each_prompt_says_which_number_it_is_and_asks_for_a_shape_of_its_own(ws: Workspace) -> None:
    intent = derive_intent(ws, PENDULUM.prompt, PENDULUM.env_id)
    texts = [
        render("reward_candidate", intent=intent, place=CandidatePlace(iteration=1, number=n, count=8))
        for n in range(1, 9)
    ]
    assert len({text.replace(f"number {n}", "") for n, text in enumerate(texts, 1)}) == 8
    revision = Revision(based_on=1, diagnosis="it falls", lesson="", changes=(), source="def reward_fn(): …")
    place = CandidatePlace(iteration=2, number=2, count=2, revision=revision)
    text = render("reward_candidate", intent=intent, place=place)
    assert "number 2 of 2" in text
    assert "it falls" in text


def session_with_choice(ws: Workspace) -> SessionRecord:
    """One that chose the second of three, whose short trainings took 8,192 steps."""
    record = ws.record(create_session(ws, PENDULUM).session_id)
    session = record.read_session()
    record.save_session(Session.model_validate({**session.model_dump(), "candidates": 3, "author": "openai:gpt-5.4"}))
    kept = CandidateRecords(record.iteration(1))
    for number in (1, 2):
        kept.run(number, 10).save_summary(run_summary(total_timesteps=4_096))
    kept.save_choice(
        CandidateChoice(
            chosen=2,
            candidates=(
                candidate(1, score=0.25, episode_return=12.0, terms=("lean",), reasoning="leaning pays"),
                candidate(2, score=0.75, episode_return=34.0, terms=("up",)),
                candidate(3, REFUSED, problem="line 2: no os", findings=("error: no os",)),
            ),
        )
    )
    return record


def test_short_trainings_count_in_the_steps_and_are_told(ws: Workspace) -> None:
    record = session_with_choice(ws)
    (cost,) = session_models.costs(ws, record.session_id).trainings
    assert (cost.iteration, cost.candidates, cost.environment_steps) == (1, 2, 8_192)
    options = ["--runs-dir", str(ws.runs.path)]
    costs = CliRunner().invoke(app, ["show", record.session_id, "--costs", *options])
    assert "short trainings of 2 candidates: 8,192 environment steps" in costs.output
    shown = CliRunner().invoke(app, ["show", record.session_id, "--iteration", "1", *options])
    assert "2, chosen" in shown.output
    assert "0.75" in shown.output
    assert "candidate 3: error: no os" in shown.output
    view = view_session(ws, record.session_id)
    plan = TrainingPlan(n_runs=2, parallel=2, cores=2, candidate_steps=4_096)
    assert plan_in_words(view.model_copy(update={"plan": plan})).startswith("short trainings of candidates, 4,096")


def test_the_others_leave_soft_lessons_which_stay_beside_those_of_the_revision(ws: Workspace) -> None:
    record = session_with_choice(ws)
    first, refused = candidate_lessons(record, [1, 2])
    assert (first.tier, first.learned_at) == ("SOFT", 1)
    assert "candidate 1 of 3 (lean)" in first.text
    assert "score 0.25 and return 12, the chosen one score 0.75" in first.text
    assert "leaning pays" in first.text
    assert "line 2: no os" in refused.text
    record.iteration(1).save_judgment(JUDGMENT)
    record_iteration(record, 1)
    lineage = record.read_lineage()
    retired = lineage.lessons[0].model_copy(update={"tier": "RETIRED"})
    record.save_lineage(lineage.model_copy(update={"lessons": (retired, *lineage.lessons[1:])}))
    revised = Revision(based_on=1, diagnosis="It falls.", lesson="Leaning does not pay.", changes=(), source="…")
    record.iteration(1).save_revision(revised)
    record.iteration(2).save_judgment(JUDGMENT)
    for _ in range(2):
        record_iteration(record, 2)
        lessons = [(lesson.text, lesson.tier) for lesson in record.read_lineage().lessons]
        assert sorted(lessons) == sorted(
            [(first.text, "RETIRED"), (refused.text, "SOFT"), ("Leaning does not pay.", "STRONG")]
        )


def written_before(ws: Workspace, **caps: Any) -> SessionRecord:
    """A session with two candidates that were accepted, and one that was refused twice."""
    caps = Caps(dollars=None, tokens=1_000, **caps)
    record = ws.record(create_session(ws, PENDULUM.model_copy(update={"caps": caps})).session_id)
    session = record.read_session()
    record.save_session(Session.model_validate({**session.model_dump(), "candidates": 3, "author": "openai:gpt-5.4"}))
    kept = CandidateRecords(record.iteration(1))
    refusal = RewardReport(spec=None, issues=(RewardIssue(severity="error", message="no os", line=2),))
    places = {kept.first(1): RewardReport(spec=None), kept.first(2): RewardReport(spec=None), kept.first(3): refusal}
    for place, report in {**places, kept.mended(3): refusal}.items():
        place.save_draft(RewardDraft(source=f"# {place.iteration_id}", config_changes={"gamma": 0.98}))
        place.save_reward_report(report)
    return record


def test_a_candidate_that_would_go_past_the_cap_on_steps_is_not_trained(ws: Workspace) -> None:
    record = written_before(ws, environment_steps=2 * 300_000 + 30_720)  # two seeds, and one short training
    choice = choose_reward(ws, record.session_id, 1)
    assert choice is not None
    states = [one.state for one in choice.candidates]
    assert states == [CandidateState.NO_ROOM, CandidateState.NO_ROOM, REFUSED]
    assert choice.chosen == 1
    assert session_models.costs(ws, record.session_id).trainings == ()
    draft = record.iteration(1).read_draft()
    assert draft is not None
    assert draft.source == "# candidate_1"


def test_the_only_candidate_that_was_accepted_is_not_compared(ws: Workspace) -> None:
    record = written_before(ws)
    kept = CandidateRecords(record.iteration(1))
    refused = kept.first(3).read_reward_report()
    assert refused is not None
    for place in (kept.first(1), kept.mended(1)):
        place.save_draft(RewardDraft(source="# refused"))
        place.save_reward_report(refused)
    choice = choose_reward(ws, record.session_id, 1)
    assert choice is not None
    assert [one.state for one in choice.candidates] == [REFUSED, ACCEPTED, REFUSED]
    assert choice.chosen == 2
    assert choose_reward(ws, record.session_id, 1) is None
