from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from shared_sessions import made_once
from watched_session import train_watched
from wire_stub import Step, Stub

from p2p.cli import main
from p2p.contracts.inference import ModelChoice
from p2p.contracts.spending import Caps
from p2p.inference.client import SessionModels
from p2p.inference.retry import Patience
from p2p.store.calls import CallLedger
from p2p.store.events import EventLog

MODELS = ("anthropic:claude-opus-5-5", "gemini:gemini-3.1-pro-preview", "openai:gpt-5.4")
CLIPS = ("--env", "Swimmer-v5", "--variations", "1", "--no-mutations")
QUICK = Patience(attempts=3, first_pause_s=0.01, longest_pause_s=0.02, total_s=20)


@pytest.fixture(scope="session")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A runs directory, to be copied, with a session whose only iteration is trained and not judged."""
    return made_once(tmp_path_factory, "watched", train_watched)


@pytest.fixture(scope="session")
def swimmer_clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A runs directory, to be copied, with one clip of each motion of a swimmer."""

    def make(place: Path) -> None:
        main(["judge", "calibrate", *CLIPS, "--runs-dir", str(place), "--json"])

    return made_once(tmp_path_factory, "swimmer_clips", make)


@pytest.fixture(params=MODELS, ids=[name.split(":")[0] for name in MODELS])
def model_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Stub]]:
    """Starts a stub that every provider is, for the rest of the test."""
    with ExitStack() as stack:

        def start(*steps: Step, **more: Any) -> Stub:
            stub = stack.enter_context(Stub(steps, **more).serving())
            for name, value in stub.environment().items():
                monkeypatch.setenv(name, value)
            return stub

        yield start


@pytest.fixture
def session_models(tmp_path: Path) -> Callable[..., SessionModels]:
    """Makes the models of the session in `tmp_path`; another time, as another process would."""

    def make(name: str = MODELS[0], caps: Caps | None = None, **more: Any) -> SessionModels:
        choice = ModelChoice(model=name, caps=caps or Caps(), light_model=more.pop("light_model", ""))
        options = {"patience": QUICK, "silence_s": 2.0, **more}
        return SessionModels(choice, CallLedger(tmp_path), EventLog(tmp_path / "events.jsonl"), **options)

    return make
