"""Measure what one whole session over MCP gives a model to read, in bytes and tokens.

    python tests/mcp/session_bytes.py [COMMAND OF A SERVER ...]

It speaks plain JSON-RPC with the server's stdin and stdout, so that the server of any version can be measured. One
session is pursued from the list of tools to the brief for its second reward. Of a tool, its name, description and input
schema are counted (and its output schema, where the list has one), as compact JSON; of a result, its texts.

A token is taken for 4 bytes of UTF-8; a picture for a token for each 750 pixels.
"""

import argparse
import base64
import json
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

BYTES_PER_TOKEN = 4
PIXELS_PER_TOKEN = 750
ENVIRONMENT, SENTENCE, STEPS = "HalfCheetah-v5", "run forward as fast as you can", 20_000
REWARD = """
from p2p.training.reward_function import RewardFunction


class ForwardReward(RewardFunction):
    def compute(self, obs, action, next_obs, info):
        terms = {"forward": info["velocity_x"], "effort": -0.1 * info["control_effort"]}
        return sum(terms.values()), terms

    @property
    def latex(self):
        return r"r = v_x - 0.1\\,\\overline{a^2}"

    @property
    def terms(self):
        return {"forward": "forward velocity", "effort": "penalty for large actions"}
"""
ENDED = ("completed", "failed", "cancelled", "lost")


@dataclass(frozen=True, slots=True)
class Reading:
    """What one message gives a model to read."""

    what: str
    text_bytes: int
    picture_tokens: int = 0

    @property
    def tokens(self) -> int:
        """By the rule of this module."""
        return round(self.text_bytes / BYTES_PER_TOKEN) + self.picture_tokens


class Server:
    """A server of the Model Context Protocol on stdio.

    Args:
        command: What starts it.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._count = 0
        self.readings: list[Reading] = []
        client = {"name": "session_bytes", "version": "1"}
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        self._send({"method": "notifications/initialized"})

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a request.

        Raises:
            RuntimeError: the server answers with an error, or is gone.
        """
        self._count += 1
        self._send({"id": self._count, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            if message.get("id") == self._count and "method" not in message:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                result: dict[str, Any] = message["result"]
                return result
        raise RuntimeError(f"The server is gone while it was asked for {method}.")

    def tools(self) -> None:
        """Read the list of tools."""
        fields = ("name", "description", "inputSchema", "outputSchema")
        listed = [{key: tool[key] for key in fields if key in tool} for tool in self.ask("tools/list")["tools"]]
        self.readings.append(Reading(f"the list of {len(listed)} tools", _size(listed)))

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and read its result, which is returned as a structure.

        Raises:
            RuntimeError: the tool refuses.
        """
        result = self.ask("tools/call", name=tool, arguments=arguments)
        texts = [part["text"] for part in result["content"] if part["type"] == "text"]
        if result.get("isError"):
            raise RuntimeError(f"{tool}: {' '.join(texts)}")
        pictures = [part["data"] for part in result["content"] if part["type"] == "image"]
        size = sum(len(text.encode()) for text in texts)
        self.readings.append(Reading(tool, size, sum(map(_picture_tokens, pictures))))
        found: dict[str, Any] = result.get("structuredContent") or json.loads(texts[0])
        return found

    def close(self) -> None:
        """End it."""
        with self._process:
            assert self._process.stdin is not None
            self._process.stdin.close()

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()


def _size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def _picture_tokens(data: str) -> int:
    width, height = jpeg_size(base64.b64decode(data))
    return round(width * height / PIXELS_PER_TOKEN)


def jpeg_size(data: bytes) -> tuple[int, int]:
    """Width and height of a JPEG, from its frame header.

    Raises:
        ValueError: there is none.
    """
    place = 2
    while place + 9 <= len(data) and data[place] == 0xFF:
        marker, length = data[place + 1], struct.unpack(">H", data[place + 2 : place + 4])[0]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[place + 5 : place + 9])
            return width, height
        place += 2 + length
    raise ValueError("no JPEG")


def whole_session(server: Server) -> None:
    """Pursue one sentence as a model would that makes no mistake, up to the brief for its second reward."""
    server.tools()
    server.call("describe_environment", env_id=ENVIRONMENT)
    config = {"total_timesteps": STEPS, "num_evals": 1}
    made = server.call("create_session", intent=SENTENCE, environment=ENVIRONMENT, n_seeds=1, config=config)
    name = made["session_id"]
    server.call("write_reward", session_id=name, source=REWARD)
    job = server.call("train_iteration", session_id=name)
    polls = len(server.readings)
    while job["state"] not in ENDED:
        job = server.call("get_job", job_id=job["job_id"], wait_seconds=45)
        del server.readings[polls + 1 :]  # how often is a matter of the machine: one is counted
    server.call("get_metrics", session_id=name, view="terms")
    server.call("judge_videos", session_id=name, mode="calling_agent")
    server.call("submit_judgment", session_id=name, is_what_was_meant=False, score=0.3, diagnosis="It is slow.")
    server.call("revise_reward", session_id=name)
    server.call("get_session", session_id=name)


def measured(command: Sequence[str]) -> list[Reading]:
    """What is read in one session with the server that `command` starts, in a runs directory of its own."""
    with tempfile.TemporaryDirectory() as runs:
        server = Server([*command, "--runs-dir", runs])
        try:
            whole_session(server)
        finally:
            server.close()
    return server.readings


def table(readings: Sequence[Reading]) -> str:
    """The readings, a row each, and their sum."""
    total = Reading(
        "**the whole session**", sum(r.text_bytes for r in readings), sum(r.picture_tokens for r in readings)
    )
    rows = (f"| {r.what} | {r.text_bytes:,} | {r.tokens:,} |" for r in (*readings, total))
    return "\n".join(["| read | bytes of text | tokens |", "|---|---|---|", *rows])


def main() -> None:
    """Measure a server, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", nargs="*", default=[sys.executable, "-m", "p2p_mcp"], help="what starts the server")
    print(table(measured(parser.parse_args().command)))


if __name__ == "__main__":
    main()
