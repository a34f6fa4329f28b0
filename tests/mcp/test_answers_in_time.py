from threading import Event

import anyio
import pytest
from mcp.server.mcpserver.exceptions import ToolError

from p2p_mcp.time_limit import TimeLimit

pytestmark = pytest.mark.anyio


async def test_work_that_takes_too_long_is_not_begun_again() -> None:
    gate, calls = Event(), list[int]()

    def slow(number: int) -> int:
        calls.append(number)
        gate.wait()
        return 2 * number

    answer = TimeLimit(limit_s=0.05).limited(slow)
    with pytest.raises(ToolError, match=r"slow is still at work .* Call it again with the same arguments"):
        await answer(number=3)
    with pytest.raises(ToolError, match="still at work"):
        await answer(number=3)
    gate.set()
    assert await answer(number=3) == 6
    assert calls == [3]


async def test_a_client_that_cancels_and_asks_again_gets_what_it_asked_for_first() -> None:
    gate, calls = Event(), list[int]()

    def slow() -> int:
        calls.append(1)
        gate.wait()
        return len(calls)

    answer = TimeLimit().limited(slow)
    with anyio.move_on_after(0.05):
        await answer()
    gate.set()
    assert await answer() == 1


async def test_an_answer_nobody_came_back_for_is_forgotten() -> None:
    gate, calls = Event(), list[int]()

    def slow() -> int:
        calls.append(1)
        gate.wait()
        return len(calls)

    answer = TimeLimit(limit_s=0.05, kept_s=-1).limited(slow)
    with pytest.raises(ToolError):
        await answer()
    gate.set()
    with anyio.fail_after(10):
        while await answer() == 1:
            pass
    assert len(calls) > 1


async def test_what_is_asked_again_after_its_answer_is_done_again() -> None:
    calls = list[int]()
    answer = TimeLimit().limited(calls.append)
    await answer(1)
    await answer(1)
    assert calls == [1, 1]


async def test_a_failure_reaches_whoever_waits() -> None:
    def wrong() -> None:
        raise ToolError("no")

    with pytest.raises(ToolError, match="no"):
        await TimeLimit().limited(wrong)()
