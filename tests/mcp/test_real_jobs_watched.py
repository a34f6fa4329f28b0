"""Trainings, followed by what clients have for that: subscriptions of both eras, and tasks."""

import anyio
import mcp.types as types
import pytest
from mcp.client import Client
from shared_sessions import BALANCE
from task_client import KnowsTasks

from p2p.contracts.background import JobView, StartTraining
from p2p.contracts.job import JobState
from p2p.contracts.session import NewSession
from p2p.service.rewards.submission import submit_reward
from p2p.service.sessions.background import start_training
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p_mcp.server import build_server

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
REQUEST = NewSession(
    prompt=BALANCE,
    env_id="InvertedPendulum-v5",
    n_seeds=1,
    n_report_rollouts=10,
    config={"total_timesteps": 2_048, "num_evals": 1, "n_eval_episodes": 3},
)
PATIENCE_S = 180


@pytest.fixture
def session_id(ws: Workspace) -> str:
    """A session whose reward waits to be trained."""
    session_id = create_session(ws, REQUEST).session_id
    assert submit_reward(ws, session_id, source=None).report.accepted
    return session_id


async def _read(client: Client, uri: str) -> JobView:
    contents = (await client.read_resource(uri)).contents[0]
    assert isinstance(contents, types.TextResourceContents)
    return JobView.model_validate_json(contents.text)


@pytest.mark.nightly
async def test_a_client_that_knows_tasks_gets_the_trained_iteration_as_the_result(
    ws: Workspace, session_id: str
) -> None:
    with anyio.fail_after(PATIENCE_S):
        async with Client(build_server(ws), extensions=[KnowsTasks()]) as client:
            result = await client.call_tool("train_iteration", {"session_id": session_id})
    assert not result.is_error
    assert result.structured_content is not None
    assert result.structured_content["state"] == "completed"
    assert result.structured_content["step"] == result.structured_content["total"] > 0


async def test_both_eras_hear_of_a_training_until_it_has_ended(ws: Workspace, session_id: str) -> None:
    server = build_server(ws)
    told, updates = anyio.create_memory_object_stream[str](1000)

    async def note(message: object) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            told.send_nowait(str(message.params.uri))

    with anyio.fail_after(PATIENCE_S), told, updates:
        async with Client(server, mode="legacy", message_handler=note) as older, Client(server) as newer:
            job = start_training(ws, session_id, StartTraining(idempotency_key="once"))
            uri = f"p2p://jobs/{job.job_id}"
            subscribe = types.SubscribeRequest(params=types.SubscribeRequestParams(uri=uri))
            await older.session.send_request(subscribe, types.EmptyResult)
            async with newer.listen(resource_subscriptions=[uri]) as stream:
                async for _ in stream:
                    if (newer_view := await _read(newer, uri)).state.finished:
                        break
            async for updated in updates:
                if (older_view := await _read(older, updated)).state.finished:
                    break
    assert newer_view.state is older_view.state is JobState.COMPLETED
