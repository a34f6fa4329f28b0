"""`p2p models`: language models that this machine serves itself, with vLLM."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.table import Table

from p2p.cli.formats import age
from p2p.cli.options import AsJson, examples
from p2p.cli.output import Output
from p2p.cli.tables import table
from p2p.contracts.errors import EnvironmentProblem
from p2p.contracts.inference import ServedModelView, VllmOptions
from p2p.service.machines.serving import serve_model, served_models, stop_model

models = typer.Typer(name="models", no_args_is_help=True, help="Language models on this machine, served by vLLM.")
DEFAULTS = VllmOptions(model="-")

ServedName = Annotated[
    str, typer.Argument(metavar="MODEL", help="Its name in vLLM, such as Qwen/Qwen3-VL-8B-Instruct.")
]
Port = Annotated[int, typer.Option(min=1, max=65_535, help="Port to listen on; only this machine can reach it.")]
MaxModelLen = Annotated[int, typer.Option("--max-model-len", min=1, help="Longest conversation [tokens].")]
GpuShare = Annotated[
    float, typer.Option("--gpu-share", min=0.01, max=1.0, help="Share of the GPU's memory that it takes.")
]
Devices = Annotated[
    str | None, typer.Option("--devices", metavar="0,1", help="GPUs it may use.", show_default="all of them")
]
Wait = Annotated[float, typer.Option("--wait", min=1.0, help="Longest time to load [s].")]
Which = Annotated[str | None, typer.Argument(metavar="[MODEL]", help="Model to stop; without it, all.")]


@models.command(
    epilog=examples(
        "p2p models serve Qwen/Qwen3-VL-8B-Instruct",
        "p2p models serve Qwen/Qwen3-32B --port 8001 --devices 0,1",
        'p2p run "hop on the spot" --env Hopper-v5 --model vllm:Qwen/Qwen3-VL-8B-Instruct',
    )
)
def serve(
    model: ServedName,
    port: Port = DEFAULTS.port,
    max_model_len: MaxModelLen = DEFAULTS.max_model_len,
    gpu_share: GpuShare = DEFAULTS.gpu_memory_share,
    devices: Devices = None,
    wait: Wait = DEFAULTS.start_s,
    as_json: AsJson = False,
) -> None:
    """Start a server for MODEL and wait until it answers; it goes on without this terminal, until it is stopped."""
    output = Output(as_json)
    options = VllmOptions(
        model=model.removeprefix("vllm:"),
        port=port,
        max_model_len=max_model_len,
        gpu_memory_share=gpu_share,
        devices=devices,
        start_s=wait,
    )
    with output.console.status(f"loading {options.model}; the first time it is downloaded …"):
        view = serve_model(options)
    output.result(
        view,
        f"{view.model} answers at {view.base_url}; its log is {view.log}\n"
        f"  ask it:   p2p run … --model {view.name}\n"
        f"  end it:   p2p models stop {view.model}",
    )


@models.command("list", epilog=examples("p2p models list", "p2p models list --json | jq '.models[].state'"))
def list_models(as_json: AsJson = False) -> None:
    """Ask every server that was started here how it is; the exit code is 4 when one does not answer."""
    output = Output(as_json)
    views = served_models()
    text = model_table(views) if views else "No model is served. To serve one: p2p models serve MODEL"
    output.result({"models": [view.model_dump(mode="json") for view in views]}, text)
    if any(view.state != "ready" for view in views):
        raise typer.Exit(EnvironmentProblem.exit_code)


@models.command(epilog=examples("p2p models stop", "p2p models stop Qwen/Qwen3-32B"))
def stop(model: Which = None, as_json: AsJson = False) -> None:
    """End a server, and all it started."""
    output = Output(as_json)
    views = stop_model(model)
    said = f"Stopped {', '.join(view.model for view in views)}." if views else "No model is served."
    output.result({"models": [view.model_dump(mode="json") for view in views]}, said)


def model_table(views: Sequence[ServedModelView]) -> Table:
    """One row per server."""
    made = table("model", "state", "address", "since", "log")
    for view in views:
        made.add_row(view.name, view.state, view.base_url, age(view.started_at), view.log)
    return made
