import ast

import pytest

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.agents.builtin.edits import NewTerm, add_term, fines, read_table, set_number, terms_reading
from p2p.agents.builtin.missing_terms import features_read
from p2p.contracts.advice import Advice, Lever
from p2p.contracts.intent import Intent
from p2p.contracts.judgment import CriterionScore, Judgment, Provenance, Verdict
from p2p.contracts.protocols import Attempt
from p2p.contracts.reward import Revision, TermStatistics
from p2p.contracts.training import TrainConfig
from p2p.contracts.training_plan import EarlyStop
from p2p.envs.catalog import load
from p2p.judges.synthesis import veto

ANT, AUTHOR = load("Ant-v5"), BuiltinAuthor()
WALK = AUTHOR.elicit("walk to the left", ANT)
DRAFT = AUTHOR.write(WALK, ANT)
DRAFT_WEIGHTS = read_table(DRAFT.source, "weights")
RISING = {"return_slope": 0.2, "plateau": 0.0}
FLAT = {"return_slope": 0.0, "plateau": 1.0}


def judgment(intent: Intent, scores: dict[str, float], success: float | None = 0.4) -> Judgment:
    """A failed judgment with these partial credits; criteria that are not named were met."""
    criteria = []
    for criterion in intent.criteria:
        predicate, score = criterion.predicate, scores.get(criterion.key, 1.0)
        assert predicate is not None
        criteria.append(
            CriterionScore(
                key=criterion.key,
                title=criterion.title,
                required=criterion.required,
                weight=criterion.weight,
                value=score,
                low=None,
                high=None,
                comparison=predicate.comparison,
                threshold=predicate.threshold,
                upper=predicate.upper,
                unit=predicate.unit,
                score=score,
                met_share=score,
                met=score >= 0.8,
            )
        )
    total = sum(c.weight for c in criteria)
    return Judgment(
        verdict=Verdict.FAILED,
        intent_score=sum(c.weight * c.score for c in criteria) / total,
        pass_threshold=0.8,
        success_rate=success,
        success_low=None,
        success_high=None,
        n_rollouts=50,
        criteria=tuple(criteria),
        rollouts=(),
        diagnosis="",
        provenance=Provenance(judge="code", code_hash="0"),
    )


def attempt(number: int = 1, scores: dict[str, float] | None = None, **changed: object) -> Attempt:
    fields: dict[str, object] = {
        "number": number,
        "source": DRAFT.source,
        "config_changes": DRAFT.config_changes,
        "judgment": judgment(WALK, scores if scores is not None else {"moves_left": 0.3}),
        "terms": (),
        "dynamics": RISING,
        "based_on": number - 1 or None,
    }
    fields |= changed
    fields.setdefault("config", TrainConfig.model_validate(fields["config_changes"]))
    return Attempt.model_validate(fields)


def revise(*attempts: Attempt, intent: Intent = WALK) -> Revision:
    return AUTHOR.revise(intent, ANT, attempts)


def following(
    revision: Revision, number: int, scores: dict[str, float], success: float = 0.0, **changed: object
) -> Attempt:
    """The attempt a revision leads to."""
    return attempt(
        number,
        source=revision.source,
        config_changes=revision.config_changes,
        based_on=revision.based_on,
        judgment=judgment(WALK, scores, success),
        **changed,
    )


def term(name: str, mean: float, share: float) -> TermStatistics:
    return TermStatistics(name=name, mean=mean, std=0.0, minimum=mean, maximum=mean, share=share)


def test_the_term_that_serves_the_missed_criterion_is_raised_with_the_measurement_as_reason() -> None:
    revision = revise(attempt(scores={"keeps_line": 0.3}))
    change = revision.changes[0]
    assert (change.kind, change.name, change.old, change.new) == ("reward", "sideways", 0.5, 1.0)
    assert "Keeps to the direction asked for" in change.reason
    assert read_table(revision.source, "weights") == read_table(DRAFT.source, "weights") | {"sideways": 1.0}


def test_a_dominant_term_is_not_raised_further() -> None:
    revision = revise(attempt(terms=(term("left", 0.5, 0.9),)))
    assert "left" not in [change.name for change in revision.changes]


def test_a_fine_that_stands_in_the_way_is_halved() -> None:
    revision = revise(attempt(terms=(term("effort", -0.5, 0.5), term("left", 0.3, 0.3))))
    change = revision.changes[0]
    assert (change.name, change.old, change.new) == ("effort", 0.1, 0.05)


def test_what_is_paid_for_behind_a_definition_is_raised_too() -> None:
    revision = revise(attempt(scores={"stays_upright": 0.2}))
    assert (revision.changes[0].name, revision.changes[0].old) == ("alive", DRAFT_WEIGHTS["alive"])


def test_an_exploit_that_no_term_forbids_gets_one() -> None:
    revision = revise(attempt(scores={"bends_its_joints": 0.2}))
    assert revision.changes[0].name == "bends_its_joints"
    assert revision.changes[0].old is None
    assert "bends_its_joints" in read_table(revision.source, "weights")
    assert 'tolerance(info["leg_swing:' in revision.source
    compile(revision.source, "reward_fn.py", "exec")


def test_a_nearly_met_criterion_sharpens_the_margin() -> None:
    cheetah = load("HalfCheetah-v5")
    intent = AUTHOR.elicit("walk forward", cheetah)
    draft = AUTHOR.write(intent, cheetah)
    base = attempt(
        source=draft.source,
        judgment=judgment(intent, {"moves_forward": 0.7}),
        terms=(term("forward", 0.8, 0.9),),
    )
    revision = AUTHOR.revise(intent, cheetah, (base,))
    assert revision.changes[0].name == "forward margin"
    assert read_table(revision.source, "margins") == {"forward": 0.5}


@pytest.mark.parametrize(
    ("env_id", "sentence", "key", "score", "changed"),
    [
        ("Humanoid-v5", "stand still for 5 seconds", "holds_its_place", 0.95, "rest margin"),
        ("Humanoid-v5", "stand still for 5 seconds", "holds_its_place", 0.7, "rest"),
        # what serves it most has no margin; that of another term, paid only while upright, has little to do with it
        ("Ant-v5", "jump", "lands_on_feet", 0.95, "stays"),
    ],
)
def test_what_is_almost_met_has_its_margin_narrowed_before_more_is_paid_for_it(
    env_id: str, sentence: str, key: str, score: float, changed: str
) -> None:
    robot = load(env_id)
    intent = AUTHOR.elicit(sentence, robot)
    draft = AUTHOR.write(intent, robot)
    found = judgment(intent, {key: score})
    missed = tuple(one.model_copy(update={"met": one.key != key}) for one in found.criteria)
    base = attempt(source=draft.source, judgment=found.model_copy(update={"criteria": missed}))
    change = AUTHOR.revise(intent, robot, (base,)).changes[0]
    assert change.name == changed


def test_training_is_lengthened_while_the_return_still_rises() -> None:
    change = revise(attempt())
    assert [c.name for c in change.changes if c.kind == "config"] == ["total_timesteps"]
    assert change.config_changes["total_timesteps"] == 480_000
    assert change.config_changes["episode_s"] == DRAFT.config_changes["episode_s"]


def test_a_training_that_ended_too_early_is_let_go_on_and_not_lengthened() -> None:
    stop = EarlyStop(step=1000, planned=2000, reason="The verdict was clear.")
    early = attempt(early_stop=stop, config=TrainConfig(stop_at_score=0.8))
    (change,) = [change for change in revise(early).changes if change.kind == "config"]
    assert (change.name, change.old, change.new) == ("stop_at_score", 0.8, None)
    assert "at step 1,000, and not on the report rollouts" in change.reason
    fixed = revise(early.model_copy(update={"pinned": ("stop_at_score",)}))
    assert "stop_at_score" not in [change.name for change in fixed.changes]


def test_what_the_user_fixed_is_not_changed() -> None:
    attempts = [attempt(pinned=("total_timesteps",))]
    for number in range(2, 8):
        revision = revise(*attempts)
        assert "total_timesteps" not in [change.name for change in revision.changes]
        attempts.append(following(revision, number, {"moves_left": 0.1}, pinned=("total_timesteps",)))


def test_an_early_plateau_asks_for_exploration() -> None:
    revision = revise(attempt(dynamics=FLAT))
    assert revision.config_changes["ent_coef"] == 0.005


def test_a_jumping_policy_asks_for_smaller_steps() -> None:
    assert revise(attempt(dynamics=RISING | {"kl_spike_share": 0.2})).config_changes["target_kl"] == 0.02


def test_revise_keeps_the_best_attempt_so_far() -> None:
    best = attempt(1, scores={"moves_left": 0.6})
    worse = following(revise(best), 2, {"moves_left": 0.1})
    revision = revise(best, worse)
    assert revision.based_on == 1
    assert "did not help" in revision.lesson
    better = following(revise(best), 2, {"moves_left": 0.7}, success=0.6)
    assert revise(best, better).based_on == 2


@pytest.mark.parametrize("dynamics", [RISING, FLAT, {}, RISING | {"kl_spike_share": 0.2, "return_drop": 0.6}])
@pytest.mark.parametrize("missing", [{"moves_left": 0.1}, {"keeps_line": 0.6, "stays_upright": 0.3}, {}])
def test_there_are_never_more_than_two_changes_and_none_comes_twice(
    dynamics: dict[str, float], missing: dict[str, float]
) -> None:
    attempts = [attempt(scores=missing, dynamics=dynamics)]
    seen = set()
    for number in range(2, 14):
        revision = revise(*attempts)
        assert revision.based_on == 1
        assert 1 <= len(revision.changes) <= 2
        for change in revision.changes:
            mark = (change.kind, change.name, repr(change.new))
            assert mark not in seen
            assert change.reason
            seen.add(mark)
        attempts.append(following(revision, number, missing))


def test_the_same_attempts_give_the_same_revision() -> None:
    assert revise(attempt()) == revise(attempt())


def test_a_reward_it_cannot_edit_keeps_its_text_and_only_the_configuration_changes() -> None:
    source = "def reward_fn(obs, action, next_obs, info):\n    return 1.0, {'alive': 1.0}\n"
    revision = revise(attempt(source=source))
    assert revision.source == source
    assert {change.kind for change in revision.changes} == {"config"}


def test_a_judgment_without_a_verdict_still_leads_to_a_change() -> None:
    nothing = judgment(WALK, {}).model_copy(
        update={"verdict": Verdict.NO_VERDICT, "intent_score": None, "success_rate": None, "criteria": ()}
    )
    assert revise(attempt(judgment=nothing)).changes


PERSONAL = '''\
"""Mine."""
from p2p.training.reward_function import RewardFunction


class Mine(RewardFunction):
    weights = {"vorwärts": 1, "forward": 2.5}  # a comment, kept

    def compute(self, obs, action, next_obs, info):
        w = self.weights
        terms = {
            "forward": w["forward"] * (info["velocity_x"] + 0.0),  # another
            "rest": -1.0 * (
                info["control_effort"]
            )
        }
        return sum(terms.values()), terms

    @property
    def latex(self):
        return "r"

    @property
    def terms(self):
        return {"forward": "f", "rest": "r"}
'''


def test_a_number_is_changed_in_place_in_a_file_a_person_edited() -> None:
    changed = set_number(PERSONAL, "weights", "forward", 5.0)
    assert changed == PERSONAL.replace("2.5", "5.0")
    assert set_number(PERSONAL, "weights", "effort", 5.0) is None
    assert set_number(PERSONAL, "margins", "forward", 5.0) is None
    assert set_number("not python (", "weights", "forward", 5.0) is None


def test_a_term_is_added_to_a_file_a_person_edited() -> None:
    changed = add_term(PERSONAL, NewTerm("upright", 0.3, 'tolerance(info["up"], 0.7, 1.0, 0.4)', "up"))
    assert changed is not None
    assert read_table(changed, "weights")["upright"] == 0.3
    assert "# a comment, kept" in changed
    space: dict[str, object] = {}
    exec(compile(changed, "reward_fn.py", "exec"), space)
    reward = space["Mine"]()  # type: ignore[operator]
    _, terms = reward.compute(None, None, None, {"velocity_x": 1.0, "control_effort": 0.5, "up": 1.0})
    assert terms == pytest.approx({"forward": 2.5, "rest": -0.5, "upright": 0.3})
    assert set(reward.terms) == set(terms)
    assert add_term(changed, NewTerm("upright", 0.3, "1.0", "again")) is None


def test_the_terms_that_read_a_feature_are_found() -> None:
    assert terms_reading(PERSONAL, ("control_effort",)) == ("rest",)
    assert terms_reading(DRAFT.source, ("velocity_x",)) == ("sideways",)
    assert terms_reading(DRAFT.source, ("up",)) == ("alive", "left", "sideways")
    assert ast.parse(DRAFT.source)


def test_the_terms_that_are_subtracted_are_found() -> None:
    added = add_term(PERSONAL, NewTerm("trunk", 0.3, 'info["torso_contact"] / 2', "the trunk", sign=-1))
    assert added is not None
    assert fines(added) == {"rest", "trunk"}
    assert fines("no reward") == frozenset()


@pytest.mark.parametrize(
    ("sentence", "env_id", "key", "serving"),
    [
        ("do a backflip and land on your feet", "Hopper-v5", "ends_on_its_feet", "landed"),
        ("do a backflip and land on your feet", "Hopper-v5", "turns_over", "flip"),
        ("jump", "Walker2d-v5", "rises", "lift"),
        ("spin left twice", "Ant-v5", "spins_left", "spin"),
        ("spin left twice", "Ant-v5", "up_at_the_end", "alive"),
    ],
)
def test_the_term_that_is_about_a_criterion_comes_first(sentence: str, env_id: str, key: str, serving: str) -> None:
    env = load(env_id)
    intent = AUTHOR.elicit(sentence, env)
    (predicate,) = [criterion.predicate for criterion in intent.criteria if criterion.key == key]
    assert predicate is not None
    assert terms_reading(AUTHOR.write(intent, env).source, features_read(predicate))[0] == serving


def test_what_a_judge_of_code_refused_is_neither_built_on_nor_told_as_a_low_score() -> None:
    passed, refusal = judgment(WALK, {}, success=1.0), judgment(WALK, {"moves_left": 0.5})
    refusal = refusal.model_copy(update={"diagnosis": "Its torques are above 40 N m."})
    refused = attempt(1, judgment=veto(passed, "a limit on torques", refusal))
    alone = revise(refused)
    assert "refused by a limit on torques: Its torques are above 40 N m." in alone.diagnosis
    assert "below" not in alone.diagnosis
    assert revise(refused, attempt(2, {"moves_left": 0.5})).based_on == 2


def test_the_advice_of_a_training_comes_before_the_usual_changes_of_its_configuration():
    longer = Advice(lever=Lever.LONGER_EPISODES, finding="hold paid nothing.", text="", config={"episode_s": 9.0})
    revision = revise(attempt(advice=(longer,)))
    (change,) = (change for change in revision.changes if change.kind == "config")
    assert (change.name, change.new, change.reason) == ("episode_s", 9.0, "hold paid nothing")
    assert revision.config_changes["episode_s"] == 9.0
    fixed = revise(attempt(advice=(longer,), pinned=("episode_s",)))
    assert fixed.config_changes.get("episode_s") == DRAFT.config_changes.get("episode_s")
