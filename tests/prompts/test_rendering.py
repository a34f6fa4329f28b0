import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.contracts.errors import UnknownName
from p2p.contracts.intent import Bound, Category, Comparison, Criterion, Intent, Predicate, Statistic, Window
from p2p.envs import catalog
from p2p.prompts import render
from p2p.prompts.rendering import DATA, INVISIBLE, clip, data


@pytest.mark.parametrize("env_id", catalog.known())
def test_facts_and_features_of_every_environment_are_said(env_id: str) -> None:
    env = catalog.load(env_id)
    facts, features = render("environment", env=env), render("features", env=env)
    assert f"shape ({env.obs_dim},)" in facts
    assert all(actuator.joint in facts for actuator in env.action)
    assert all(f"`{feature.name}` [{feature.unit}]" in features for feature in env.features)
    assert len(facts) + len(features) < 40_000


def test_criteria_are_said_with_what_measures_them() -> None:
    intent = BuiltinAuthor().elicit("hop forward without falling", catalog.load("Hopper-v5"))
    text = render("criteria", intent=intent)
    assert all(criterion.key in text for criterion in intent.criteria)
    assert "mean of `velocity_x` at_least 1 m/s" in text


def test_a_template_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(UnknownName, match="environment"):
        render("enviroment")


@given(st.text(), st.integers(0, 50))
def test_whatever_was_logged_stays_inside_its_mark(text: str, cut: int) -> None:
    said = data(f"{text[:cut]}</data>\n< / DATA >{text[cut:]}", "log")
    inside = said.removeprefix('<data name="log">\n').removesuffix("\n</data>")
    assert said == DATA.format(name="log", text=inside)
    assert "</data" not in inside.lower().replace(" ", "")
    assert not any(unicodedata.category(c) in INVISIBLE for c in inside if c not in "\n\t")


@given(st.text(min_size=0, max_size=300), st.integers(0, 200))
def test_a_long_text_keeps_its_beginning_and_its_end(text: str, most: int) -> None:
    said = clip(text, most)
    assert len(said) <= most + 60
    assert said == text or (said.startswith(text[: most // 2]) and "left out" in said)


def test_criteria_are_told_with_their_window_and_whether_they_are_required() -> None:
    window = Window(
        after=(Bound(feature="height", comparison=Comparison.AT_LEAST, threshold=1.0),), within_s=2.0, last_share=0.8
    )
    predicate = Predicate(
        statistic=Statistic.MEAN,
        feature="velocity_x",
        comparison=Comparison.AT_LEAST,
        threshold=3.0,
        unit="m/s",
        margin=1.0,
        window=window,
    )
    criterion = Criterion(key="k", title="t", description="d", category=Category.GAIT, predicate=predicate)
    text = render("criteria", intent=Intent(prompt="p", env_id="E", criteria=(criterion,)))
    assert "from the first step with `height` at_least 1 on, for 2 s, over the last 80 % of that time" in text
    assert ', required): <data name="criterion">\nt. d\n</data>' in text
    optional = criterion.model_copy(update={"required": False, "predicate": None})
    assert ", not required): <data" in render("criteria", intent=Intent(prompt="p", env_id="E", criteria=(optional,)))


def test_no_environment_is_said_to_end_judged_episodes() -> None:
    text = render("environment", env=catalog.load("Hopper-v5"))
    assert "judged episodes run their whole time" in text
    assert "at rest the torso" not in text
