import pytest

from p2p.contracts.errors import UnknownName, UnknownPhrase
from p2p.envs.catalog import known, load
from p2p.rewards.templates import TEMPLATES, template
from p2p.rewards.templates.body_table import BODIES, body_of
from p2p.rewards.templates.push import OBJECT, TIP
from p2p.rewards.templates.skill import Manner, Params


def test_every_described_environment_has_a_body() -> None:
    assert set(BODIES) == set(known())


@pytest.mark.parametrize("env", known())
def test_a_body_has_only_skills_that_have_a_template_and_the_features_they_read(env: str) -> None:
    body = body_of(load(env))
    assert body.skills <= set(TEMPLATES)
    assert body.features == set(load(env).feature_names)
    assert set(body.budgets) <= set(TEMPLATES)


@pytest.mark.parametrize("env", known())
@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_a_template_either_applies_or_says_why_not(env: str, name: str) -> None:
    body = body_of(load(env))
    reason = template(name).refusal(body)
    assert (reason is None) == (name in body.skills)
    assert reason is None or len(reason) > 10


def test_an_environment_without_a_body_is_guessed_from_its_features() -> None:
    spec = load("Ant-v5").model_copy(update={"env_id": "MyAnt-v0"})
    body = body_of(spec)
    assert {"move", "still", "spin", "jump"} <= body.skills
    assert body_of(load("Reacher-v5").model_copy(update={"env_id": "MyArm-v0"})).skills == {"reach"}


def test_the_observation_of_pusher_is_where_the_template_reads_it() -> None:
    names = [entry.name for entry in load("Pusher-v5").observation]
    assert names[TIP] == ["tips_arm.x", "tips_arm.y", "tips_arm.z"]
    assert names[OBJECT] == ["object.x", "object.y", "object.z"]


def test_an_unknown_skill_is_named() -> None:
    with pytest.raises(UnknownName, match="flipp"):
        template("flipp")


def test_a_template_refuses_what_it_would_ignore() -> None:
    with pytest.raises(UnknownPhrase, match="A speed"):
        template("flip").check(Params(speed=2.0))
    with pytest.raises(UnknownPhrase, match="in place"):
        template("move").check(Params(manners=frozenset({Manner.IN_PLACE})))
    template("move").check(Params(manners=frozenset({Manner.SMOOTH})))
