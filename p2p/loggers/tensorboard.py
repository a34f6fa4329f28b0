"""Event files of TensorBoard, one in the directory `tensorboard/` of each run, and one for the session.

A row is one record of the file, with all its values: after a kill it is there whole, or not at all. What follows the
last whole record is cut off when the file is opened again, and the rows that it holds tell from where to go on.
"""

import shutil
import struct
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c
from tensorboard.plugins.hparams import api_pb2, plugin_data_pb2
from tensorboard.summary.writer.record_writer import RecordWriter

from p2p.contracts.log_rows import LogRow, LogTable, LogTarget, mark_of

FOLDER = "tensorboard"
PREFIX = "events.out.tfevents"
HEADER, FOOTER = struct.Struct("<QI"), struct.Struct("<I")
GIF = (
    "-t",
    "12",
    "-vf",
    "fps=10,scale=240:-2:flags=area,split[a][b];[a]palettegen=64[p];[b][p]paletteuse",
    "-f",
    "gif",
)
"""How a video is shown: TensorBoard plays moving pictures of this format, and no MP4."""


class TensorBoardLog:
    """Event file of one run or session.

    Args:
        target: Whose.

    Raises:
        OSError: it cannot be written.
    """

    def __init__(self, target: LogTarget) -> None:
        self._target = target
        self._folder = target.directory / FOLDER
        self._folder.mkdir(parents=True, exist_ok=True)
        found = sorted(self._folder.glob(f"{PREFIX}.*"))
        self._path = found[-1] if found else self._folder / f"{PREFIX}.{int(time.time()):010d}.p2p"
        self._marks: dict[str, list[int]] = defaultdict(list)
        whole = 0
        for end, event in events_of(self._path):
            whole = end
            scalars = {value.tag: value.simple_value for value in event.summary.value if _is_scalar(value)}
            if scalars:
                self._marks[next(iter(scalars)).partition("/")[0]].append(mark_of(event.step, scalars))
        self._file = self._path.open("ab")
        self._file.truncate(whole)
        self._writer = RecordWriter(self._file)
        if not whole:
            self._begin()

    def marks(self, stream: str) -> Sequence[int]:
        """Marks of the rows of a stream that are written, oldest first."""
        return self._marks[stream]

    def write(self, row: LogRow) -> None:
        """Append one row."""
        values = [Summary.Value(tag=name, simple_value=number) for name, number in row.scalars.items()]
        values += [_text(name, text) for name, text in row.texts.items()]
        values += [_text(name, as_markdown(table)) for name, table in row.tables.items()]
        for name, video in row.videos.items():
            if picture := _moving_picture(video):
                values.append(Summary.Value(tag=name, image=Summary.Image(encoded_image_string=picture, colorspace=3)))
        self._add(Event(wall_time=row.wall_time, step=row.step, summary=Summary(value=values)))
        self._marks[row.stream].append(row.mark)

    def flush(self) -> None:
        """Hand all rows to the operating system."""
        self._writer.flush()

    def close(self) -> None:
        """Flush and close the file."""
        self._writer.close()

    def restart(self) -> None:
        """Drop all rows: the records have changed."""
        self._file.truncate(0)
        self._marks.clear()
        self._begin()

    def _begin(self) -> None:
        now = time.time()
        self._add(Event(wall_time=now, file_version="brain.Event:2"))
        self._add(Event(wall_time=now, summary=_hyperparameters(self._target, now)))

    def _add(self, event: Any) -> None:
        self._writer.write(event.SerializeToString())


def events_of(path: Path) -> Iterator[tuple[int, Any]]:
    """Whole events of a file, each with the byte at which it ends; a torn or broken one ends the file."""
    if not path.exists():
        return
    with path.open("rb") as file:
        while len(header := file.read(HEADER.size)) == HEADER.size:
            length, crc = HEADER.unpack(header)
            if masked_crc32c(header[:8]) != crc:
                return
            body, footer = file.read(length), file.read(FOOTER.size)
            if len(footer) < FOOTER.size or masked_crc32c(body) != FOOTER.unpack(footer)[0]:
                return
            yield file.tell(), Event.FromString(body)


def as_markdown(table: LogTable) -> str:
    """A table in Markdown, numbers with four significant digits."""
    lines = [table.columns, ("---",) * len(table.columns), *(tuple(map(_cell, row)) for row in table.rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: str | float | bool | None) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value).replace("|", "\\|").replace("\n", " ")


def _is_scalar(value: Any) -> bool:
    return bool(value.WhichOneof("value") == "simple_value")


def _text(name: str, text: str) -> Any:
    plugin = SummaryMetadata.PluginData(plugin_name="text")
    value = Summary.Value(tag=name, metadata=SummaryMetadata(plugin_data=plugin))
    value.tensor.dtype = 7  # DT_STRING
    value.tensor.tensor_shape.dim.add(size=1)
    value.tensor.string_val.append(text.encode())
    return value


def _hyperparameters(target: LogTarget, now: float) -> Any:
    """What the page of hyperparameters shows: the settings of this run, and the scalars to compare them by."""
    start = plugin_data_pb2.SessionStartInfo(group_name=f"{target.session_id}/{target.name}", start_time_secs=now)
    described = []
    for name, value in target.settings.items():
        kind, slot = _kind_of(value)
        setattr(start.hparams[name], slot, value)
        described.append(api_pb2.HParamInfo(name=name, type=kind))
    metrics = [api_pb2.MetricInfo(name=api_pb2.MetricName(tag=name)) for name in target.metrics]
    experiment = api_pb2.Experiment(hparam_infos=described, metric_infos=metrics, time_created_secs=now)
    contents: Mapping[str, Any] = {
        "_hparams_/experiment": plugin_data_pb2.HParamsPluginData(experiment=experiment),
        "_hparams_/session_start_info": plugin_data_pb2.HParamsPluginData(session_start_info=start),
    }
    values = []
    for tag, content in contents.items():
        plugin = SummaryMetadata.PluginData(plugin_name="hparams", content=content.SerializeToString())
        values.append(Summary.Value(tag=tag, metadata=SummaryMetadata(plugin_data=plugin)))
    return Summary(value=values)


def _kind_of(value: str | float | bool) -> tuple[int, str]:
    if isinstance(value, bool):
        return api_pb2.DATA_TYPE_BOOL, "bool_value"
    if isinstance(value, str):
        return api_pb2.DATA_TYPE_STRING, "string_value"
    return api_pb2.DATA_TYPE_FLOAT64, "number_value"


def _moving_picture(video: Path) -> bytes:
    """A video as GIF; empty where there is no ffmpeg, or it cannot read the video."""
    try:
        from imageio_ffmpeg import get_ffmpeg_exe  # noqa: PLC0415  of the extra "train"; a log does without it

        ffmpeg = get_ffmpeg_exe()
    except (ImportError, RuntimeError):
        ffmpeg = shutil.which("ffmpeg") or ""
    if not ffmpeg:
        return b""
    command = [ffmpeg, "-nostdin", "-loglevel", "error", "-i", str(video), *GIF, "-"]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120).stdout
