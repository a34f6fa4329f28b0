"""What an attacker, or a model that has lost its way, sends: frames, ids and values."""

import json
import os
import random
from collections.abc import Iterator
from typing import Any

IDS = (
    "",
    " ",
    ".",
    "..",
    "../../../../etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "%2e%2e/%2e%2e",
    "/etc/passwd",
    "C:\\windows\\system32",
    "..\\..\\secret",
    "a/b",
    "a\x00b",
    "a\nb",
    "-rf",
    "--help",
    "$(touch hacked)",
    "`touch hacked`",
    "; touch hacked",
    "{}",
    "{0.__class__}",
    "%s%n",
    "<script>alert(1)</script>",
    "\u202enoisses",
    "\ud7ff\uffff",
    "𝓼𝓮𝓼𝓼𝓲𝓸𝓷",
    "CON",
    "a" * 5000,
    "job_" + "../" * 10,
    "__proto__",
)
"""Ids that nothing can have."""
UNKNOWN = ("nul", "null", "environments", "job_" + "0" * 32, "Nothing-v0", "os/Environment-v1", "gymnasium:Ant-v5")
"""Ids that look right, for nothing that exists."""

VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    10**30,
    1e308,
    -1e-320,
    "",
    "\x00",
    "x" * 5000,
    [],
    {},
    [[[]]],
    {"a": {"b": [1]}},
)
"""Values of the wrong kind or size."""

METHODS = ("tools/call", "tools/list", "resources/read", "resources/list", "prompts/get", "completion/complete")
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def request(number: object, method: str, params: dict[str, Any]) -> bytes:
    """A well-formed request of 2026-07-28."""
    frame = {"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": ENVELOPE}}
    return json.dumps(frame).encode()


def frames(count: int, tools: dict[str, list[str]], seed: int) -> Iterator[bytes]:
    """Lines for a server on stdio: noise, broken JSON, wrong types, and calls with wrong arguments.

    Args:
        count: how many.
        tools: names of the arguments of each tool.
        seed: of the random choices.
    """
    chance = random.Random(seed)
    makers = (_noise, _broken, _wrong_types, _wrong_arguments, _wrong_arguments, _wrong_uri, _wrong_envelope)
    for number in range(count):
        yield chance.choice(makers)(chance, number, tools).replace(b"\n", b" ")


def _noise(chance: random.Random, _number: int, _tools: dict[str, list[str]]) -> bytes:
    return os.urandom(chance.randint(1, 300))


def _broken(chance: random.Random, number: int, _tools: dict[str, list[str]]) -> bytes:
    whole = request(f"broken {number}", chance.choice(METHODS), {"name": "x"})
    return chance.choice((whole[: chance.randint(1, len(whole))], whole + b"}", b"[" * chance.randint(1, 2000), b"{}"))


def _wrong_types(chance: random.Random, _number: int, _tools: dict[str, list[str]]) -> bytes:
    frame = {
        "jsonrpc": chance.choice(("2.0", "1.0", 2, None)),
        "id": chance.choice((None, True, -1, 1.5, "", "\x00", [], {})),
        "method": chance.choice((*METHODS, "nope", "", 5, None)),
        "params": chance.choice(VALUES),
    }
    return json.dumps(frame).encode()


def _wrong_arguments(chance: random.Random, number: int, tools: dict[str, list[str]]) -> bytes:
    name = chance.choice([*tools])
    arguments = {key: chance.choice((*IDS, *VALUES)) for key in tools[name] if chance.random() < 0.9}
    if chance.random() < 0.2:
        arguments["unheard_of"] = 1
    return request(f"call {number}", "tools/call", {"name": name, "arguments": arguments})


def _wrong_uri(chance: random.Random, number: int, _tools: dict[str, list[str]]) -> bytes:
    uri = chance.choice(("p2p://sessions/{}", "p2p://jobs/{}/log", "p2p://environments/{}", "file://{}", "{}"))
    return request(f"read {number}", "resources/read", {"uri": uri.replace("{}", chance.choice(IDS))})


def _wrong_envelope(chance: random.Random, number: int, _tools: dict[str, list[str]]) -> bytes:
    envelope = {key: chance.choice((value, *VALUES)) for key, value in ENVELOPE.items() if chance.random() < 0.7}
    params = {"name": chance.choice(IDS), "arguments": chance.choice(VALUES), "_meta": envelope}
    frame = {"jsonrpc": "2.0", "id": f"envelope {number}", "method": chance.choice(METHODS), "params": params}
    return json.dumps(frame).encode()
