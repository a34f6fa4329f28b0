"""Sessions and iterations that go on from a policy: which one, what is refused, what is copied and what it cost."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from finished_iterations import judgment, leave_training
from made_up import criterion_score

from p2p.contracts.curriculum import Curriculum
from p2p.contracts.errors import InvalidConfig, InvalidInput, UnknownName
from p2p.contracts.reward import Revision, RewardDraft
from p2p.contracts.session import NewSession
from p2p.contracts.start_policy import LEAST_SCORE, MOST_LINES, PolicyName, StartPolicy
from p2p.contracts.training import TrainConfig
from p2p.envs import catalog
from p2p.service.progress.lineage import record_iteration
from p2p.service.progress.lineage_tree import lineage_tree
from p2p.service.progress.policies import find_policy
from p2p.service.rewards.starting import decide_start, lines_changed
from p2p.service.sessions.lifecycle import create_session
from p2p.service.training.plan import GOING_ON_RATE, run_configs
from p2p.service.training.start_policies import judged_policy, require_fit, require_same_interface, settle_start
from p2p.service.workspace import Workspace
from p2p.store import files
from p2p.store.arrays import save_arrays
from p2p.store.iterations import IterationRecord
from p2p.store.remote import RemoteJobRecord
from p2p.store.sessions import SessionRecord

STEPS = 10_000
POLE = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5", n_seeds=1, max_iterations=3)
REWARD = """
class Reward:
    weights = {"alive": 1.0, "lean": 0.5, "drift": 0.1, "still": 0.2}

    def compute(self, obs, action, next_obs, info):
        \"\"\"What it is.\"\"\"
        terms = {"alive": self.weights["alive"], "lean": -self.weights["lean"] * obs[1] ** 2}
        return sum(terms.values()), terms
"""
HEAVIER = REWARD.replace("0.5", "0.8").replace("What it is", "What it was")  # a docstring is no code


def judged(ws: Workspace, score: float = 0.6, **fields: Any) -> tuple[SessionRecord, IterationRecord]:
    """A session with one judged iteration, and its run with a policy."""
    record = ws.record(create_session(ws, POLE.model_copy(update=fields)).session_id)
    run_id = leave_training(record, 1, RewardDraft(source=REWARD))
    run = record.iteration(1).run("baseline", 10)
    assert run.iteration_id == run_id
    run.save_env_spec(catalog.load(record.read_session().env_id))
    save_arrays(run.checkpoint(STEPS).policy_path, {"weight_0": np.zeros(3)})
    record.iteration(1).save_judgment(judgment(run_id, score, STEPS, passed=False))
    record_iteration(record, 1)
    return record, run


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("2", (None, 2, None, None)),
        ("2@40000", (None, 2, None, 40_000)),
        ("latest", ("latest", None, None, None)),
        ("session_a:2", ("session_a", 2, None, None)),
        ("session_a:2/fast_seed_11@400", ("session_a", 2, "fast_seed_11", 400)),
    ],
)
def test_a_policy_is_named_by_session_iteration_run_and_step(text: str, parts: tuple[object, ...]) -> None:
    name = PolicyName.parse(text)
    assert name is not None
    assert (name.session, name.iteration, name.run, name.step) == parts


@pytest.mark.parametrize("text", ["", " ", "two words", "@@"])
def test_what_names_no_policy_is_refused_with_the_forms(ws: Workspace, text: str) -> None:
    with pytest.raises(InvalidInput, match="ITERATION of the same session"):
        find_policy(ws, text)


def test_a_copy_stays_when_the_original_is_deleted_and_steps_add_up(ws: Workspace) -> None:
    first, run = judged(ws)
    request = POLE.model_copy(update={"from_policy": f"{first.session_id}:1@{STEPS}"})
    second = ws.record(create_session(ws, request).session_id)
    first.discard()
    start = settle_start(second, second.iteration(1))
    assert start is not None
    assert (start.session_id, start.iteration, start.run_id, start.steps) == (
        first.session_id,
        1,
        run.iteration_id,
        STEPS,
    )
    assert files.sha256(second.iteration(1).start_policy.policy_path) == start.sha256
    assert [node.from_policy for node in lineage_tree(ws, second.session_id).nodes] == [start]
    assert start.cost(500) == f"500 steps of its own, after {STEPS:,} of {start.words}: {STEPS + 500:,} in all"


@pytest.mark.parametrize(
    ("text", "error"), [("1/fast_seed_9", "fast_seed_9"), ("1@7", "7"), ("9", "9"), ("nobody:1", "nobody")]
)
def test_a_policy_that_is_not_there_is_refused(ws: Workspace, text: str, error: str) -> None:
    record, _ = judged(ws)
    with pytest.raises(UnknownName, match=error):
        find_policy(ws, text, record)


def test_a_policy_of_another_robot_is_refused_in_words(ws: Workspace) -> None:
    first, _ = judged(ws)
    request = POLE.model_copy(update={"from_policy": first.session_id, "env_id": "Hopper-v5", "prompt": "stand still"})
    with pytest.raises(InvalidInput, match="does not fit Hopper-v5: expected its 3 actions, got 1"):
        create_session(ws, request)


def test_robots_with_as_many_joints_are_told_apart(ws: Workspace) -> None:
    first, _ = judged(ws, env_id="HalfCheetah-v5", prompt="run forward")
    with pytest.raises(InvalidInput, match="the first that differs is 0"):
        require_same_interface(find_policy(ws, first.session_id), catalog.load("Walker2d-v5"), {})


def test_an_optimiser_that_was_not_kept_is_refused(ws: Workspace) -> None:
    first, _ = judged(ws)
    with pytest.raises(InvalidInput, match="was kept without its optimiser"):
        create_session(ws, POLE.model_copy(update={"from_policy": first.session_id, "resume_optimizer": True}))


def test_the_size_of_the_networks_is_taken_over_unless_another_is_asked_for(ws: Workspace) -> None:
    first, run = judged(ws)
    config = run.read_config()
    assert config is not None
    run.save_config(config.model_copy(update={"net_arch": (32, 16), "activation": "tanh"}))
    start = find_policy(ws, first.session_id).start()
    taken = run_configs(POLE, RewardDraft(source=""), policy=start)
    assert {(one.net_arch, one.activation) for one in taken.values()} == {((32, 16), "tanh")}
    other = POLE.model_copy(update={"config": {"net_arch": [64, 64]}})
    with pytest.raises(InvalidConfig, match=r"net_arch is \[64, 64\] in this training and \[32, 16\]"):
        require_fit(start, run_configs(other, RewardDraft(source=""), policy=start).values())


def test_a_policy_goes_on_with_what_it_saw_whatever_a_reward_asks_to_be_seen(ws: Workspace) -> None:
    first, _ = judged(ws)
    start = find_policy(ws, first.session_id).start()
    asked = RewardDraft(source="", config_changes={"observation": "robot_and_velocity"})
    require_fit(start, run_configs(POLE, asked, policy=start).values())
    assert {one.observation for one in run_configs(POLE, asked).values()} == {"robot_and_velocity"}
    wanted = POLE.model_copy(update={"config": {"observation": "robot"}})
    with pytest.raises(InvalidConfig, match="observation is 'robot' in this training and 'full' in the policy"):
        require_fit(start, run_configs(wanted, asked, policy=start).values())


def test_what_a_session_goes_on_from_unasked_learns_in_smaller_steps(ws: Workspace) -> None:
    first, _ = judged(ws)
    asked = find_policy(ws, first.session_id).start()
    unasked = asked.model_copy(update={"proposed_by": "the reward changed little"})
    whole = TrainConfig().learning_rate

    def rates(session: NewSession, draft: RewardDraft, start: StartPolicy) -> set[float]:
        return {one.learning_rate for one in run_configs(session, draft, policy=start).values()}

    draft = RewardDraft(source="")
    assert rates(POLE, draft, asked) == {whole}
    assert rates(POLE, draft, unasked) == {GOING_ON_RATE * whole}
    assert rates(POLE, RewardDraft(source="", config_changes={"learning_rate": 0.001}), unasked) == {0.001}
    assert rates(POLE.model_copy(update={"config": {"learning_rate": 0.002}}), draft, unasked) == {0.002}


def test_a_reward_that_changed_little_goes_on_from_its_policy(ws: Workspace) -> None:
    record, _ = judged(ws)
    decision = decide_start(record, 1, HEAVIER, {"total_timesteps": 20_000})
    assert decision.from_iteration == 1
    assert 0 < decision.lines_changed <= decision.little == MOST_LINES
    record.iteration(1).save_revision(
        Revision(based_on=1, diagnosis="", lesson="", changes=(), source=HEAVIER, start=decision)
    )
    start = settle_start(record, record.iteration(2))
    assert start is not None
    assert (start.iteration, start.proposed_by) == (1, decision.reason)
    record.iteration(2).start_policy.discard()
    judged_by = judged_policy(record, 1)
    assert judged_by is not None
    judged_by.run.checkpoint(judged_by.step).policy_path.unlink()
    assert settle_start(record, record.iteration(2)) is None
    assert "The policy of iteration 1 is gone" in str(record.events.read()[-1].data["message"])


@pytest.mark.parametrize(
    ("score", "source", "changes", "why"),
    [
        (0.6, "x = 1\ny = 2\n", {}, "more than a little"),
        (LEAST_SCORE - 0.1, HEAVIER, {}, "a policy is stuck"),
        (0.6, HEAVIER, {"log_std_init": -2.0}, "a change of log_std_init needs a new policy"),
        (0.6, HEAVIER, {"net_arch": [32]}, "a change of net_arch needs a new policy"),
    ],
)
def test_otherwise_it_begins_from_zero_and_says_why(
    ws: Workspace, score: float, source: str, changes: dict[str, object], why: str
) -> None:
    record, _ = judged(ws, score)
    decision = decide_start(record, 1, source, changes)
    assert decision.from_iteration is None
    assert why in decision.reason


@pytest.mark.parametrize(("worst", "share", "goes_on"), [(0.0, 0.1, False), (0.0, 0.2, True), (0.5, 0.0, True)])
def test_a_policy_that_does_nothing_of_one_thing_asked_for_is_stuck_however_well_it_scores(
    ws: Workspace, worst: float, share: float, goes_on: bool
) -> None:
    record, run = judged(ws)
    made = judgment(run.iteration_id, 0.9, STEPS)
    scores = (criterion_score(), criterion_score(score=worst), criterion_score(score=0.0, required=False))
    record.iteration(1).save_judgment(made.model_copy(update={"criteria": scores, "success_rate": share}))
    assert (decide_start(record, 1, HEAVIER, {}).from_iteration == 1) is goes_on


def test_what_did_not_help_is_not_gone_on_from_again(ws: Workspace) -> None:
    record, _ = judged(ws)
    find_policy(ws, "1", record).copy_to(record.iteration(2).start_policy)
    record.iteration(2).save_draft(RewardDraft(source=HEAVIER))
    decision = decide_start(record, 1, HEAVIER, {})
    assert decision.from_iteration is None
    assert "iteration 2 went on from the policy of iteration 1 and did not get better" in decision.reason


@pytest.mark.parametrize(
    ("new", "share"), [(REWARD, 0.0), (REWARD.replace('"""What it is."""', "# nothing"), 0.0), ("def (", 1.0)]
)
def test_comments_docstrings_and_layout_are_no_change(new: str, share: float) -> None:
    assert lines_changed(REWARD, new) == share


def test_a_term_is_one_line_however_long_its_formula() -> None:
    formula = " * ".join(f"tolerance(info['velocity_{axis}'], -0.1, 0.1, 0.4)" for axis in "xyz")
    new = REWARD.replace("obs[1] ** 2}", f'obs[1] ** 2, "still": {formula}}}')
    assert 0 < lines_changed(REWARD, new) <= 0.1


RAMP = {"weights": {"alive": [[0.3, 0.15], [0.7, 1.0]]}}


def gone_on(ws: Workspace, trained: dict[str, Any], asked: dict[str, Any], pinned: bool = False) -> Curriculum | None:
    """Curriculum of a training that goes on from a policy trained with one, and whose reward asks for another."""
    first, run = judged(ws)
    config = run.read_config()
    assert config is not None
    run.save_config(TrainConfig.model_validate({**config.model_dump(mode="json"), "curriculum": trained}))
    start = find_policy(ws, first.session_id).start()
    draft = RewardDraft(source="", config_changes={} if pinned else {"curriculum": asked})
    session = POLE.model_copy(update={"config": {"curriculum": asked}}) if pinned else POLE
    (config,) = run_configs(session, draft, policy=start).values()
    if not pinned and trained == asked:  # and so does whoever goes on from that
        run.save_config(config)
        run.start_policy.copy_in(start, run.checkpoint(STEPS).policy_path, run.checkpoint(STEPS).optimizer_path)
        assert find_policy(ws, first.session_id).start().curriculum == start.curriculum
    return config.curriculum


@pytest.mark.parametrize(
    ("curriculum", "ended"),
    [
        (RAMP, None),
        ({"weights": {"alive": [[0, 0.1], [1, 0.5]]}}, {"weights": {"alive": [[0.0, 0.5]]}}),
        ({"episodes": {"start_s": 1.0}}, None),
        (RAMP | {"pushes": {"speed": 0.5}}, {"pushes": {"speed": 0.5, "speed_start": 0.5}}),
    ],
    ids=["to the whole price", "to half of it", "to whole episodes", "to full pushes"],
)
def test_a_training_that_goes_on_begins_where_its_curriculum_ended(
    ws: Workspace, curriculum: dict[str, Any], ended: dict[str, Any] | None
) -> None:
    expected = None if ended is None else Curriculum.model_validate(ended)
    assert gone_on(ws, curriculum, curriculum) == expected


def test_another_curriculum_and_one_that_a_user_asks_for_begin_at_their_start(ws: Workspace) -> None:
    ramp = Curriculum.model_validate(RAMP)
    assert gone_on(ws, {"episodes": {"start_s": 1.0}}, RAMP) == ramp
    assert gone_on(ws, RAMP, RAMP, pinned=True) == ramp


def test_a_node_is_sent_the_policy_with_the_run(ws: Workspace, tmp_path: Path) -> None:
    first, _ = judged(ws)
    run = IterationRecord(tmp_path / "baseline_seed_1")
    start = find_policy(ws, first.session_id).copy_to(run.start_policy)
    sent = RemoteJobRecord(run.path).inputs()
    assert files.sha256(sent["start_policy.npz"]) == start.sha256
    assert "start_policy.json" in sent


def test_a_changed_source_is_copied_as_it_was_or_refused(ws: Workspace, tmp_path: Path) -> None:
    first, run = judged(ws)
    start = find_policy(ws, first.session_id).start()
    run.checkpoint(STEPS).policy_path.write_bytes(b"another")
    with pytest.raises(InvalidInput, match="has changed while it was copied"):
        IterationRecord(tmp_path).start_policy.copy_in(start, run.checkpoint(STEPS).policy_path, None)
