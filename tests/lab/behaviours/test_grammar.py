"""Sentences made by rules: always the same, all understood, and drawn evenly."""

import json

import pytest

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.cli import main
from p2p.contracts.suite import Budget
from p2p.envs.catalog import load
from p2p.lab.behaviours.grammar import grammar, suite_of
from p2p.lab.behaviours.sample import sample
from p2p.rewards.templates import TEMPLATES
from p2p.rewards.templates.body_table import BODIES, body_of


@pytest.fixture(scope="module")
def known():
    return grammar()


def test_the_same_code_makes_the_same_sentences_under_names_of_their_own(known):
    assert grammar() == known
    assert len({one.name for one in known.behaviours}) == len(known.behaviours) > 500
    assert suite_of(known, Budget()).digest == suite_of(grammar(), Budget()).digest


def test_every_sentence_is_understood_and_written(known):
    author = BuiltinAuthor()
    for one in known.behaviours:
        spec = load(one.env_id)
        assert author.write(author.elicit(one.sentence, spec), spec).source


def test_every_skill_of_every_robot_is_there(known):
    there = {(one.env_id, one.skill) for one in known.behaviours}
    for env_id in BODIES:
        body = body_of(load(env_id))
        able = {name for name, template in TEMPLATES.items() if template().refusal(body) is None}
        assert {skill for robot, skill in there if robot == env_id} - {"sequence"} == able


def test_what_is_left_out_is_told_with_its_reason(known):
    assert all("judged as" in one.why for one in known.same)
    assert all(one.why for one in known.refused)
    run = {(one.env_id, one.sentence) for one in known.behaviours}
    assert not run & {(one.env_id, one.sentence) for one in (*known.same, *known.refused)}


def test_a_larger_sample_holds_the_smaller_one_and_no_robot_waits(known):
    small, large = sample(known.behaviours, 22, 1), sample(known.behaviours, 60, 1)
    assert large[:22] == small
    assert {one.env_id for one in small} == set(BODIES)
    assert len({one.skill for one in large}) >= 8
    assert sample(known.behaviours, 22, 2) != small


def test_the_command_lists_and_filters(capsys):
    assert main(["bench", "behaviours", "--list", "--json", "--env", "Hopper-v5", "--skill", "jump"]) == 0
    listed = [one["sentence"] for one in json.loads(capsys.readouterr().out)["behaviours"]]
    assert "jump 3 times" in listed
    assert not [sentence for sentence in listed if "backflip" in sentence]


def test_a_skill_that_no_robot_has_is_refused(capsys):
    assert main(["bench", "behaviours", "--list", "--skill", "jmup"]) == 2
    assert "jump" in capsys.readouterr().err
