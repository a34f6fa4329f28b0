"""Nothing here talks to a provider by mistake."""

import socket

import pytest

from p2p.contracts.inference import ModelProblem, ModelRequest, user
from p2p.inference.access import access_to
from p2p.inference.providers.openai import OpenAIModel


def test_another_machine_cannot_be_reached_from_a_test() -> None:
    with pytest.raises(ConnectionRefusedError, match="this machine alone"):
        socket.create_connection(("192.0.2.1", 443), timeout=5)


def test_a_provider_elsewhere_is_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-1234567890")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://192.0.2.1/v1")
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    model = OpenAIModel("gpt-5.4", access_to("openai"))
    with pytest.raises(ModelProblem, match=r"connection to openai:gpt-5\.4 failed"):
        model.complete(ModelRequest(messages=(user("Hello?"),)))
    model.close()
