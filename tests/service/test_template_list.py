"""The behaviours that are shown are those that the built-in author understands and writes."""

import pytest

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.agents.builtin.phrases import parse
from p2p.contracts.errors import UnknownName
from p2p.envs import catalog
from p2p.rewards.templates import TEMPLATES
from p2p.rewards.templates.body_table import body_of
from p2p.service.rewards.template_list import reward_templates


def test_every_template_is_listed_with_what_it_rewards() -> None:
    found = reward_templates()
    assert [one.name for one in found] == list(TEMPLATES)
    for one in found:
        assert one.about
        assert one.summary
        assert one.terms
        for term in one.terms:
            assert term.name.replace("_", r"\_") in one.latex
            assert term.latex in one.latex


@pytest.mark.parametrize("env_id", catalog.known())
def test_what_is_listed_for_a_robot_is_understood_there_and_nothing_else(env_id: str) -> None:
    spec = catalog.load(env_id)
    body = body_of(spec)
    listed = reward_templates(env_id)
    assert listed
    for one in listed:
        assert one.environments == (env_id,)
        for phrase in one.phrases:
            assert parse(phrase, body)[0].name == one.name
        report = BuiltinAuthor().understand(one.phrases[0], spec)
        assert report.intent.criteria
    everywhere = {one.name for one in reward_templates() if env_id in one.environments}
    assert {one.name for one in listed} == everywhere


def test_an_environment_that_p2p_does_not_come_with_is_named() -> None:
    with pytest.raises(UnknownName, match="environment"):
        reward_templates("Unknown-v1")
