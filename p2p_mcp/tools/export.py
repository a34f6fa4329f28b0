"""Policies handed out."""

from typing import Annotated

from pydantic import Field

from p2p.contracts.work import Export, ExportFormat, NewExport
from p2p.service.sessions import export
from p2p.service.workspace import Workspace
from p2p_mcp.fields import RunId, SessionId
from p2p_mcp.views.answer import Answer


class ExportAnswer(Export, Answer):
    """An export: where it is, and the proof that it acts as the policy that was judged."""

    next_step: str


def export_policy(
    ws: Workspace,
    session_id: SessionId,
    formats: Annotated[
        tuple[ExportFormat, ...],
        Field(min_length=1, max_length=3, description="sb3: stable-baselines3; onnx; torchscript."),
    ] = (ExportFormat.ONNX,),
    iteration: Annotated[int | None, Field(ge=1, le=1000, description="Its number; null: the best one.")] = None,
    run_id: RunId = None,
    checkpoint: Annotated[int | None, Field(ge=0, description="Step; null means the best one of the run.")] = None,
    overwrite: Annotated[bool, Field(description="Replace the files of an earlier export.")] = True,
) -> ExportAnswer:
    """Write a trained policy in formats that other libraries load, checked against the judged one and replayed.

    Each format needs its library on this machine; the error names the install line.
    """
    request = NewExport(
        formats=tuple(dict.fromkeys(formats)),
        iteration=iteration,
        run_id=run_id,
        checkpoint=checkpoint,
        overwrite=overwrite,
    )
    done = export.export_policy(ws, session_id, request)
    return ExportAnswer(
        **{name: getattr(done, name) for name in Export.model_fields},
        next_step=f"Tell the user that the files are in {done.directory}; README.md there says how to load them.",
    )
