"""Ray's Jobs API: a few HTTP calls to the dashboard of a cluster, so p2p itself imports no Ray."""

import ipaddress
import json
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from p2p.contracts.errors import EnvironmentProblem, NodeUnreachable

SILENT_S = 20.0
"""Patience with one call."""
LONGEST = 64 << 20
"""Bytes of an answer that are read."""
TAIL = 1000
"""Characters of an answer that an error shows, from its end: Ray answers with tracebacks."""
TAKEN = "already exists"
"""Of a refusal: there is a job of this name."""


class Refused(NamedTuple):
    """An answer that is a refusal."""

    status: int
    """Of HTTP."""
    said: str


class RayJobs:
    """Jobs of one Ray cluster.

    Args:
        address: Of its dashboard, "http://host:8265".
        headers: Sent with every call; they may hold a token.
    """

    def __init__(self, address: str, headers: dict[str, str]) -> None:
        self.address = address.rstrip("/")
        self._headers = headers

    def version(self) -> str:
        """Version of Ray, such as "2.60.0".

        Raises:
            NodeUnreachable: it does not answer, or refuses.
            EnvironmentProblem: something else answers.
        """
        answer = self._accepted("GET", "/api/version")
        if not isinstance(answer, dict) or "ray_version" not in answer:
            raise EnvironmentProblem(f"{self.address} answers, but not as Ray does. Is it the address of a dashboard?")
        return str(answer["ray_version"])

    def all(self) -> list[dict[str, Any]]:
        """Every job that was submitted to the cluster and is remembered, by one call; fields as Ray documents them.

        Raises:
            NodeUnreachable: it does not answer, or refuses, or something else answers.
        """
        answer = self._accepted("GET", "/api/jobs/")
        if not isinstance(answer, list):
            raise NodeUnreachable(f"{self.address} answers, but not as Ray does.")
        return [job for job in answer if isinstance(job, dict) and job.get("submission_id") and job.get("status")]

    def submit(self, job: dict[str, Any]) -> None:
        """Submit a job; nothing happens if there is one of its `submission_id`.

        Raises:
            NodeUnreachable: it does not answer, or has no agent that could take jobs now.
            EnvironmentProblem: it refuses the job, or us; or something else answers.
        """
        answer = self._call("POST", "/api/jobs/", job)
        if isinstance(answer, Refused):
            if TAKEN in answer.said:
                return
            if answer.status >= 500:
                raise NodeUnreachable(f"Ray at {self.address} takes no jobs now: {answer.said}")
            raise EnvironmentProblem(self._refusal(answer))
        if not isinstance(answer, dict) or answer.get("submission_id") != job["submission_id"]:
            raise EnvironmentProblem(f"{self.address} answers, but not as Ray does. Is it the address of a dashboard?")

    def stop(self, name: str) -> None:
        """Have a job ended; nothing if there is none of this name.

        Raises:
            NodeUnreachable: it does not answer, or refuses.
        """
        answer = self._call("POST", f"/api/jobs/{name}/stop")
        if isinstance(answer, Refused) and answer.status != 404:
            raise NodeUnreachable(self._refusal(answer))

    def _accepted(self, method: str, path: str) -> Any:
        answer = self._call(method, path)
        if isinstance(answer, Refused):
            raise NodeUnreachable(self._refusal(answer))
        return answer

    def _refusal(self, answer: Refused) -> str:
        if answer.status in (401, 403):
            return (
                f"Ray at {self.address} refuses us: {answer.said}. "
                "It wants a token: put it into a file that only you can read, and name the file as token_file."
            )
        return f"Ray at {self.address} refuses ({answer.status}): {answer.said}"

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Answer as JSON, or a refusal; None for an answer that is no JSON."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", **self._headers}
        request = Request(self.address + path, data, headers, method=method)
        try:
            with _opener(self.address).open(request, timeout=SILENT_S) as response:
                text = response.read(LONGEST)
        except HTTPError as error:
            with error:
                return Refused(error.code, error.read(LONGEST).decode(errors="replace").strip()[-TAIL:])
        except (OSError, ValueError) as error:
            reason = error.reason if isinstance(error, URLError) else error
            raise NodeUnreachable(f"Ray at {self.address} does not answer: {reason}.") from error
        try:
            return json.loads(text)
        except ValueError:
            return None


def is_loopback(address: str) -> bool:
    """Whether an address is of this machine and cannot be reached from another."""
    host = urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_token(path: Path) -> str:
    """Token in a file.

    Raises:
        EnvironmentProblem: there is none.
    """
    token = _read(path).strip()
    if not token or not token.isprintable():
        raise EnvironmentProblem(f"{path} holds no token for Ray: expected one line.")
    return token


def read_headers(path: Path) -> dict[str, str]:
    """Headers in a file, one "Name: value" a line.

    Raises:
        EnvironmentProblem: it cannot be read, or holds something else.
    """
    headers = {}
    for line in filter(str.strip, _read(path).splitlines()):
        name, colon, value = line.partition(":")
        if not colon or not name.strip() or not line.isprintable():
            raise EnvironmentProblem(f'{path} holds no headers for Ray: expected "Name: value" in each line.')
        headers[name.strip()] = value.strip()
    return headers


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise EnvironmentProblem(f"What Ray is to be sent cannot be read: {error}.") from error


class _NoRedirects(HTTPRedirectHandler):
    """A redirect would take the token to another machine."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _opener(address: str) -> OpenerDirector:
    direct = [ProxyHandler({})] if is_loopback(address) else []
    return build_opener(_NoRedirects(), *direct)
