"""Language model servers on this machine: start, list, stop."""

import socket
from collections.abc import Callable

from p2p.contracts.errors import EnvironmentProblem, InvalidInput, UnknownName
from p2p.contracts.inference import HOST, ServedModel, ServedModelView, VllmOptions
from p2p.contracts.remedies import Remedy
from p2p.inference.vllm_server import VllmServer, answers, end_group, has_ended
from p2p.scheduler import supervisor
from p2p.store.clock import now
from p2p.store.served_models import ServedModelStore


def serve_model(options: VllmOptions, heartbeat: Callable[[], None] = lambda: None) -> ServedModelView:
    """Start a server and wait until it serves its model; it outlives this process.

    Sessions that ask `vllm:MODEL` find it where `VLLM_BASE_URL` says nothing.

    Args:
        options: What is served.
        heartbeat: Called about twice a second while it is waited for.

    Raises:
        InvalidInput: something listens at its port already.
        EnvironmentProblem: vLLM is not installed, or it does not come to serve the model.
    """
    store = ServedModelStore()
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, options.port))
        except PermissionError as error:
            raise EnvironmentProblem(
                f"Port {options.port} is reserved for root. Choose one above 1023, such as 8001."
            ) from error
        except OSError as error:
            raise InvalidInput(
                f"Something listens at port {options.port} already. See what p2p serves: {Remedy.LIST_SERVED.of()}; "
                f"end it: {Remedy.STOP_SERVED.of()}; or choose another port, such as 8001."
            ) from error
    server = VllmServer(options, store.log_of(options.port))
    server.start(heartbeat)
    pid = server.leave()
    served = ServedModel(
        model=options.model,
        port=options.port,
        key=server.environment()["VLLM_API_KEY"],
        pid=pid,
        began=_began(pid),
        log=str(store.log_of(options.port)),
        started_at=now(),
    )
    store.add(served)
    return _view(served)


def served_models() -> tuple[ServedModelView, ...]:
    """All servers started here, with their current state; sessions use the last one."""
    return tuple(_view(server) for server in ServedModelStore().all())


def stop_model(model: str | None = None) -> tuple[ServedModelView, ...]:
    """Stop a server with its processes, and delete its record.

    Args:
        model: What it serves, with or without `vllm:`; None ends all.

    Raises:
        UnknownName: none was started here that serves it.
    """
    store = ServedModelStore()
    name = (model or "").removeprefix("vllm:")
    servers = [server for server in store.all() if model is None or server.model == name]
    if not servers and model is not None:
        raise UnknownName("served model", model, [server.model for server in store.all()])
    for server in servers:
        if _lives(server):
            end_group(server.pid)
        store.remove(server)
    return tuple(_view(server) for server in servers)


def _view(server: ServedModel) -> ServedModelView:
    state = "ended" if not _lives(server) else "ready" if answers(server) else "silent"
    return ServedModelView(
        model=server.model,
        name=f"vllm:{server.model}",
        base_url=server.base_url,
        state=state,
        pid=server.pid,
        log=server.log,
        started_at=server.started_at,
    )


def _lives(server: ServedModel) -> bool:
    return _began(server.pid) == server.began and not has_ended(server.pid)


def _began(pid: int) -> str:
    """Start time of a process; empty if it does not exist."""
    return supervisor.processes().get(pid, (0, ""))[1]
