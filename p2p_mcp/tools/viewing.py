"""Recorded rollouts, looked at from where one likes."""

from typing import Annotated, Literal

from mcp.types import CallToolResult
from pydantic import Field

from p2p.contracts.errors import InvalidInput
from p2p.contracts.work import RolloutPictures, ViewCamera, ViewRequest
from p2p.service.pictures import viewing
from p2p.service.workspace import Workspace
from p2p_mcp.fields import Iteration, SessionId, argument
from p2p_mcp.views.answer import Answer
from p2p_mcp.views.content import reply

SlowMotion = Annotated[
    float, argument(ViewRequest, "slow_motion", "How much slower the video is; simulated again for smoothness.")
]
PathOf = Annotated[
    str | None,
    argument(ViewRequest, "path_of", 'Draw the path of this body over the pictures, e.g. "torso".'),
]
USUAL = ViewRequest()


class ViewAnswer(RolloutPictures, Answer):
    """The pictures of this result: the contact sheet, then single moments."""

    runs_dir: str
    """Paths are relative to it."""
    next_step: str


def view_rollout(
    ws: Workspace,
    session_id: SessionId,
    iteration: Annotated[int | None, Field(ge=1, le=1000, description="Its number; null: the best one.")] = None,
    label: Annotated[
        Literal["p10", "median", "p90"], Field(description="Which of the recorded rollouts, by its success.")
    ] = "median",
    camera: Annotated[ViewCamera, Field(description="Where from; all cameras follow the robot.")] = (
        ViewCamera.TRACKING
    ),
    frames: Annotated[
        int, argument(ViewRequest, "frames", "Single moments in addition to the contact sheet.")
    ] = USUAL.frames,
    compare_with: Iteration = None,
    start_s: Annotated[float | None, argument(ViewRequest, "start_s", "Show from here [s].")] = None,
    end_s: Annotated[float | None, argument(ViewRequest, "end_s", "Show until here [s].")] = None,
    video: Annotated[bool, Field(description="Make a video file too; its path is in the result.")] = False,
    slow_motion: SlowMotion = USUAL.slow_motion,
    path_of: PathOf = None,
    width: Annotated[int, argument(ViewRequest, "width", "Of single moments and video [px].")] = USUAL.width,
    plain: Annotated[bool, Field(description="Draw no time, speed or coloured limbs into the video.")] = False,
) -> Annotated[CallToolResult, ViewAnswer]:
    """Look at a recorded rollout again: other camera, other part, a body's path, or below another iteration's.

    Made once and kept. It judges nothing: judge_videos does.
    """
    if start_s is not None and end_s is not None and end_s <= start_s:
        raise InvalidInput(f"end_s must be later than start_s, got {start_s:g} to {end_s:g}.")
    request = ViewRequest(
        label=label,
        camera=camera,
        slow_motion=slow_motion,
        frames=frames,
        video=video,
        compare_with=compare_with,
        width=width,
        plain=plain,
        start_s=start_s,
        end_s=end_s,
        path_of=path_of,
    )
    shown = viewing.view_rollout(ws, session_id, iteration, request)
    answer = ViewAnswer(
        **{name: getattr(shown, name) for name in RolloutPictures.model_fields},
        runs_dir=str(ws.runs.path),
        next_step=f'get_session(session_id="{session_id}") says how it stands.',
    )
    return reply(answer, [ws.runs.path / file.path for file in (shown.sheet, *shown.frame_files)])
