import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from mcp.client import Client
from pole import EYES, GOOD, HOLD
from replacing import replace_function
from tool_caller import Caller, Connect

from p2p.contracts.background import StartTraining
from p2p.contracts.cluster import Cluster
from p2p.contracts.errors import InvalidInput
from p2p.contracts.node import Node
from p2p.service.machines.clusters import add_cluster
from p2p.service.machines.nodes import add_node
from p2p.service.progress.listing import list_sessions
from p2p.service.sessions import driving
from p2p.service.sessions.background import start_training
from p2p.service.sessions.driving import stop_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings

pytestmark = pytest.mark.anyio
Calls = Callable[[Client], Caller]
MISSING = "session_20260101_000000_00000000"


@pytest.fixture(params=["auto", pytest.param("legacy", marks=pytest.mark.nightly)])
def mode(request: pytest.FixtureRequest) -> str:
    """The older era at night: what travels in it is tried in test_tools_after_training.py at every change."""
    era: str = request.param
    return era


async def test_environments_lead_to_a_session(connect: Connect, ws: Workspace, caller: Calls) -> None:
    async with connect(ws) as client:
        call = caller(client)
        listed = await call("list_environments")
        assert "HalfCheetah-v5" in [line["env_id"] for line in listed["environments"]]
        facts = await call("describe_environment", env_id="Humanoid")
        assert facts["observation_size"] > len(facts["observation"])
        assert {"height", "velocity_x"} <= {feature["name"] for feature in facts["features"]}
        assert "- those under `features`" in facts["reward_rules"]
        assert not any(feature["description"] in facts["reward_rules"] for feature in facts["features"])
        assert "Did you mean 'Hopper-v5'" in await call.error("describe_environment", env_id="Hoper-v5")


async def test_a_robot_of_a_file_is_kept_under_a_name_and_given_back(
    connect: Connect, ws: Workspace, caller: Calls
) -> None:
    pony = Path(__file__).parents[2] / "examples" / "pony.xml"
    async with connect(ws) as client:
        call = caller(client)
        facts = await call("describe_environment", env_id=str(pony), name="pony")
        assert any(choice.startswith("feet: fl_foot") for choice in facts["choices"])
        listed = await call("list_environments")
        assert "pony" in [line["env_id"] for line in listed["environments"]]
        assert (await call("describe_environment", env_id="pony"))["env_id"] == facts["env_id"]
        await call("describe_environment", env_id="pony", name="-")
        listed = await call("list_environments")
        assert "pony" not in [line["env_id"] for line in listed["environments"]]
        assert "pony" in await call.error("describe_environment", env_id="pony", name="-")


async def test_the_setup_is_told(connect: Connect, ws: Workspace, caller: Calls) -> None:
    async with connect(ws) as client:
        setup = await caller(client)("check_setup")
    assert setup["usable"]
    assert {check["name"] for check in setup["checks"]}


async def test_other_machines_are_told_with_what_they_lack_and_none_is_added_here(
    connect: Connect, tmp_path: Path, caller: Calls
) -> None:
    ws = Workspace(Settings(runs_dir=tmp_path / "runs", nodes_dir=tmp_path / "nodes"))
    async with connect(ws) as client:
        call = caller(client)
        none = await call("list_nodes")
        assert none["nodes"] == []
        assert "p2p nodes --help" in none["next_step"]
        with socket.create_server(("127.0.0.1", 0)) as closed:
            port = closed.getsockname()[1]
        add_node(ws, Node(name="attic", host="127.0.0.1", port=port))
        (line,) = (await call("list_nodes"))["nodes"]
        assert (line["backend"], line["reachable"], line["prepared"], line["cores"]) == (
            "ssh:attic",
            False,
            False,
            None,
        )
        assert "attic" in line["problem"]
        add_cluster(ws, Cluster(name="lab", kind="ray", options={"address": "http://127.0.0.1:8265"}))
        told = await call("list_nodes")
        assert told["clusters"] == [{"backend": "ray:lab", "jobs": 0, "problem": ""}]
        assert 'backend="ray:lab"' in told["next_step"]
        tools = {tool.name for tool in (await client.list_tools()).tools}
    assert not {name for name in tools if "node" in name or "cluster" in name} - {"list_nodes"}


async def test_a_session_begins_with_criteria_and_the_rules_of_rewards(
    connect: Connect, ws: Workspace, caller: Calls
) -> None:
    async with connect(ws) as client:
        call = caller(client)
        new = await call("create_session", intent="run forward", environment="HalfCheetah", n_seeds=1)
        assert [criterion["key"] for criterion in new["criteria"]]
        assert new["note"] == ""
        assert "velocity_x" in new["reward_rules"]
        assert '"total_timesteps": ' in new["reward_rules"].splitlines()[-1], "what the built-in author trains it with"
        assert new["next_step"].startswith(f'write_reward(session_id="{new["session_id"]}"')
        shown = await call("get_session", session_id=new["session_id"])
        assert shown["criteria"] == new["criteria"]
        assert [line["session_id"] for line in (await call("list_sessions"))["sessions"]] == [new["session_id"]]


async def test_a_sentence_nobody_can_measure_is_judged_by_eyes(connect: Connect, ws: Workspace, caller: Calls) -> None:
    async with connect(ws) as client:
        new = await caller(client)("create_session", intent="dance like a swan", environment="Ant-v5")
    assert [criterion["predicate"] for criterion in new["criteria"]] == [None]
    assert "steer_session" in new["note"]


async def test_criteria_of_the_caller_replace_or_extend_the_derived_ones(
    connect: Connect, ws: Workspace, caller: Calls
) -> None:
    place = {"intent": "keep the pole balanced", "environment": "InvertedPendulum-v5"}
    async with connect(ws) as client:
        call = caller(client)
        derived = await call("create_session", **place)
        own = await call("create_session", **place, criteria=[HOLD, EYES])
        more = await call("create_session", **place, criteria=[EYES], extend_criteria=True)
        assert [criterion["key"] for criterion in own["criteria"]] == ["upright", "calm"]
        assert more["criteria"][:-1] == derived["criteria"]
        wrong = {**HOLD, "predicate": {**HOLD["predicate"], "where": [], "feature": "pole_angel", "statistic": "mean"}}
        assert "Did you mean 'pole_angle'" in await call.error("create_session", **place, criteria=[wrong])
        steered = await call("steer_session", session_id=derived["session_id"], criteria=[HOLD], wish=" land  softer ")
        assert steered["wishes"] == ["land softer"]
        assert steered["criteria"][-1]["key"] == "upright"
        assert (derived["episode_s"], own["episode_s"]) == (10.0, 5.0)
        longer = await call("steer_session", session_id=derived["session_id"], episode_s=8)
        assert longer["criteria"] == steered["criteria"]
        intent = ws.record(derived["session_id"]).read_criteria()
        assert intent is not None
        assert intent.episode_s == 8
        assert "Give a wish" in await call.error("steer_session", session_id=derived["session_id"])
        steered = await call("steer_session", session_id=derived["session_id"], n_seeds=3, stop_when_clear=False)
        assert steered["settings_changes"] == ["from iteration 1: n_seeds 2 → 3, stop_when_clear True → False"]
        same = await call.error("steer_session", session_id=derived["session_id"], n_seeds=3)
        assert "Nothing would change" in same


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"environment": "Nope-v9"}, "Known: Ant-v5"),
        ({"config": {"learning_rat": 1}}, "learning_rat: unknown key"),
        ({"n_seeds": 0}, "n_seeds: Input should be greater than or equal to 1, got 0."),
        ({"intent": "x" * 3000}, "intent: String should have at most 2000 characters"),
        ({"seeds": [1]}, "create_session has no argument 'seeds'. Did you mean 'seed'?"),
        ({"criteria": [{"key": "a"}]}, "criteria.0.title: it must be given."),
    ],
)
async def test_what_a_session_cannot_be_is_said(
    connect: Connect, ws: Workspace, caller: Calls, arguments: dict[str, object], words: str
) -> None:
    async with connect(ws) as client:
        said = await caller(client).error("create_session", **{"intent": "run forward", **arguments})
        assert words in said
        assert "pydantic.dev" not in said
    assert list_sessions(ws) == ()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_session", {}),
        ("write_reward", {"source": GOOD}),
        ("train_iteration", {}),
        ("get_metrics", {}),
        ("judge_videos", {}),
        ("submit_judgment", {"is_what_was_meant": True, "score": 1, "diagnosis": "seen"}),
        ("revise_reward", {}),
        ("view_rollout", {}),
        ("compare_iterations", {"first": 1, "second": 2}),
        ("analyze_session", {}),
        ("steer_session", {"wish": "softer"}),
        ("run_session", {}),
        ("export_policy", {}),
        ("show_dashboard", {}),
    ],
)
async def test_a_session_that_does_not_exist_is_named_with_those_that_do(
    connect: Connect, ws: Workspace, caller: Calls, tool: str, arguments: dict[str, object]
) -> None:
    async with connect(ws) as client:
        call = caller(client)
        known = (await call("create_session", intent="run forward"))["session_id"]
        words = await call.error(tool, session_id=MISSING, **arguments)
    assert f"Unknown session '{MISSING}'" in words
    assert known in words


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("train_iteration", {}, "write_reward"),
        ("get_metrics", {}, "write_reward"),
        ("judge_videos", {}, "write_reward"),
        ("submit_judgment", {"is_what_was_meant": True, "score": 1, "diagnosis": "seen"}, "write_reward"),
        ("revise_reward", {}, "write_reward"),
        ("revise_reward", {"source": GOOD}, "write_reward"),
        ("compare_iterations", {"first": 1, "second": 2}, "iteration"),
        ("analyze_session", {}, "judge_videos"),
        ("export_policy", {}, "get_session"),
        ("view_rollout", {"start_s": 2, "end_s": 1}, "end_s must be later"),
    ],
)
async def test_what_has_to_come_first_is_said(
    connect: Connect, ws: Workspace, caller: Calls, tool: str, arguments: dict[str, object], words: str
) -> None:
    async with connect(ws) as client:
        call = caller(client)
        session = await call("create_session", intent="run forward")
        assert words in await call.error(tool, session_id=session["session_id"], **arguments)


async def test_a_job_that_does_not_exist_is_named(connect: Connect, ws: Workspace, caller: Calls) -> None:
    async with connect(ws) as client:
        call = caller(client)
        for tool in ("get_job", "cancel_job"):
            assert "Unknown job" in await call.error(tool, job_id="job_" + "0" * 32)
            assert "job_id: String should match pattern" in await call.error(tool, job_id="../secret")
        assert (await call("list_jobs"))["jobs"] == []


async def test_a_reward_is_tried_kept_or_refused_with_the_line(connect: Connect, ws: Workspace, caller: Calls) -> None:
    async with connect(ws) as client:
        call = caller(client)
        tried = await call("check_reward", source=GOOD, environment="InvertedPendulum-v5")
        assert tried["accepted"]
        assert [term["name"] for term in tried["ranges"]] == ["upright", "calm"]
        assert "Give session_id or environment" in await call.error("check_reward", source=GOOD)
        session = await call("create_session", intent="keep the pole balanced", environment="InvertedPendulum-v5")
        bad = await call("write_reward", session_id=session["session_id"], source="import os\n")
        assert not bad["accepted"]
        assert bad["errors"][0].startswith("line 1: imports 'os'")
        assert "was refused" in await call.error("train_iteration", session_id=session["session_id"])
        good = await call("write_reward", session_id=session["session_id"], source=GOOD)
        assert (good["accepted"], good["iteration"]) == (True, 1)
        assert "source" not in good  # its writer has it
        own = await call("write_reward", session_id=session["session_id"])
        assert own["accepted"]
        assert own["source"] != GOOD
        assert own["next_step"].startswith("train_iteration")


async def test_a_client_sets_what_a_terminal_can(connect: Connect, ws: Workspace, caller: Calls) -> None:
    asked = {"n_configs": 2, "priority": "normal", "caps": {"minutes": 30, "dollars": None}}
    async with connect(ws) as client:
        call = caller(client)
        new = await call("create_session", intent="run forward", **asked)
        session = ws.record(new["session_id"]).read_session()
        assert (session.n_configs, session.priority, session.author) == (2, "normal", "builtin")
        assert (session.caps.minutes, session.caps.dollars, session.caps.calls) == (30, None, 1_000)
        fixed = await call("create_session", intent="run forward", reward_only=True)
        assert ws.record(fixed["session_id"]).read_session().reward_only
        refusals = {
            "choose one of the two": {"n_configs": 2, "reward_only": True},
            "Language models write several": {"candidates": 3},
            "Caps: dollars, tokens, calls": {"caps": {"euros": 5}},
            "P2P_NO_SUCH": {"judge_author": "P2P_NO_SUCH:model"},
        }
        for words, wrong in refusals.items():
            assert words.lower() in (await call.error("create_session", intent="run forward", **wrong)).lower()
    assert len(list_sessions(ws)) == 2


async def test_the_priority_of_a_training_is_that_of_its_caller(
    connect: Connect, ws: Workspace, caller: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driving, "DRIVER", ("{python}", "-c", "import time; time.sleep(600)"))
    async with connect(ws) as client:
        call = caller(client)
        name = (await call("create_session", intent="run forward", n_seeds=1))["session_id"]
        try:
            await call("run_session", session_id=name, priority="normal")
            assert ws.record(name).read_session().priority == "normal"
            await call("run_session", session_id=name)
            assert ws.record(name).read_session().priority == "normal"
            started: list[StartTraining] = []

            def seen(_ws: Workspace, _name: str, start: StartTraining) -> None:
                started.append(start)
                raise InvalidInput("seen, and not started")

            replace_function(monkeypatch, start_training, seen)
            assert "seen" in await call.error("train_iteration", session_id=name, priority="low")
            assert [start.priority for start in started] == ["low"]
        finally:
            stop_session(ws, name)
