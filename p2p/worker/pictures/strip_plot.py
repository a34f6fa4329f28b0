"""Small plots of a rollout, side by side: place, angle, speed, part features of criteria."""

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, MultipleLocator, ScalarFormatter
from numpy.typing import NDArray

from p2p.contracts.env import BY_NAME, PartKind
from p2p.rewards.expressions import is_expression
from p2p.worker.pictures.key_frames import ROTATIONS, KeyFrames

Floats = NDArray[np.float64]

DPI = 100
PLOTS = 3
"""Plots of a rollout of which nothing else was asked."""
LINES = ("#1f5fa8", "#d1722a")
ANGLES = {
    "pitch_turns": "+ nose up (backward)",
    "yaw_turns": "+ left (CCW from above)",
    "roll_turns": "+ right side down",
}
"""Which way each rotation counts."""
BOTTOM = 30
TOP = 46
"""Heights kept free below the axes, for their ticks, and above them, for title and numbers [px]."""
NARROW = 24
SECOND_LINE = 12
"""Characters of a title's line where there are four plots, and what its second line takes [px]."""
SUMS = frozenset({"leg_swing", "most_leg_swing", "joint_swing", "pose_range", "stance_share", "touchdowns", "energy"})
"""Quantities that add up what was before, whose curve tells nothing of a moment."""
WHOLE = frozenset(q.name for q in BY_NAME.values() if q.kind in (PartKind.ROBOT, PartKind.WALKER))
"""Quantities of the whole robot."""
MOST_PARTS = 8
"""Features of parts that a few criteria read; more were recorded for code to choose from, and are not plotted."""
TICKS = (30, 45, 90, 180, 360, 720, 1440)
"""Distances between the ticks of an angle, of which the first that gives at most six is taken [deg]."""


class PlotLine(NamedTuple):
    """A curve."""

    times: Floats
    """Shape (T,) [s]."""
    values: Floats
    """Shape (T,)."""


class Marks(NamedTuple):
    """Vertical lines at the shown moments, with their numbers above."""

    times: list[float]
    colour: str
    rows: tuple[float, ...]
    """Heights at which numbers may stand, as shares of the plot's."""


class Angle(NamedTuple):
    """Angle of a robot."""

    name: str
    """"pitch" where that is absolute, "yaw turned" where it counts from the start."""
    title: str
    """Of its plot."""
    degrees: Floats
    """Shape (T,), never wrapped."""


class Panel(NamedTuple):
    """One plot."""

    title: str
    lines: dict[str, PlotLine]
    """By name in the legend."""
    least: float
    """Smallest range of the vertical axis: trembling is not to look like motion."""
    angle: bool = False
    """True for degrees."""


def draw_strip(
    features: Mapping[str, Floats], frames: KeyFrames, dt: float, size: tuple[int, int]
) -> NDArray[np.uint8]:
    """Draw the plots as one picture, with a line and a number for every key frame.

    Args:
        features: Name -> values after every control step, shape (T,).
        frames: The moments shown above the plots.
        dt: Control period [s].
        size: Width and height [px].

    Returns:
        Shape (height, width, 3).
    """
    times = features["time"]
    marks = Marks([float(times[step]) for step in frames.steps], "#999999", (1.0, 1.09))
    panels = [*_panels(features, frames.rotation), *of_parts(features)]
    return _draw(panels, [marks], (float(times[0]) - dt, float(times[-1])), size)


def draw_two_strips(
    names: Sequence[str],
    features: Sequence[Mapping[str, Floats]],
    frames: Sequence[KeyFrames],
    dt: float,
    size: tuple[int, int],
) -> NDArray[np.uint8]:
    """Draw two rollouts' plots on the same axes; the first one's moments are numbered in the upper row.

    Args:
        names: Of the rollouts, in the legend.
        features: Of each rollout, name -> values after every control step, shape (T,).
        frames: The moments shown of each.
        dt: Control period [s].
        size: Width and height [px].

    Returns:
        Shape (height, width, 3).
    """
    turning = [rotation for each in frames if (rotation := each.rotation) is not None]
    rotation = max(turning, key=lambda name: max(np.ptp(each[name]) for each in features), default=None)
    pairs = zip(*(_panels(each, rotation) for each in features), strict=True)
    panels = []
    for pair in pairs:
        lines = {name: next(iter(panel.lines.values())) for name, panel in zip(names, pair, strict=True)}
        panels.append(pair[0]._replace(lines=lines))
    marks = [
        Marks([float(each["time"][step]) for step in shown.steps], colour, (row,))
        for each, shown, colour, row in zip(features, frames, LINES, (1.09, 1.0), strict=True)
    ]
    begin = min(float(each["time"][0]) for each in features)
    end = max(float(each["time"][-1]) for each in features)
    return _draw(panels, marks, (begin - dt, end), size)


def _draw(
    panels: Sequence[Panel], marks: Sequence[Marks], span: tuple[float, float], size: tuple[int, int]
) -> NDArray[np.uint8]:
    figure = Figure(figsize=(size[0] / DPI, size[1] / DPI), dpi=DPI)
    canvas = FigureCanvasAgg(figure)
    if len(panels) > PLOTS:
        panels = [panel._replace(title=fill(panel.title, NARROW)) for panel in panels]
    lines = max(panel.title.count("\n") for panel in panels)
    share = 0.985 / len(panels)
    for column, panel in enumerate(panels):
        height = size[1] - BOTTOM - TOP - SECOND_LINE * lines
        axes = figure.add_axes((0.055 + column * share, BOTTOM / size[1], share - 0.063, height / size[1]))
        _draw_panel(axes, panel, span)
        if len(panel.lines) > 1 and (len(marks) == 1 or column == 0):
            axes.legend(fontsize=8, frameon=False, loc="best", handlelength=1.2, borderaxespad=0.1, labelspacing=0.1)
        for each in marks:
            rows = dict.fromkeys(each.rows, -np.inf)
            for number, mark in enumerate(each.times, start=1):
                axes.axvline(
                    mark, color=each.colour, linewidth=0.7 if len(each.rows) > 1 else 0.4, linestyle=(0, (3, 2))
                )
                free = [row for row, taken in rows.items() if mark - taken > 0.05 * (span[1] - span[0])]
                if free:
                    rows[free[0]] = mark
                    colour = "black" if len(each.rows) > 1 else each.colour
                    above = axes.get_xaxis_transform()
                    axes.text(
                        mark, free[0], str(number), transform=above, fontsize=8, color=colour, ha="center", va="bottom"
                    )
    canvas.draw()  # type: ignore[no-untyped-call]  # matplotlib leaves it untyped
    return np.array(canvas.renderer.buffer_rgba(), np.uint8)[..., :3]


def angle_of(features: Mapping[str, Floats], rotation: str | None) -> Angle | None:
    """Angle of the robot or its pole; None without either.

    In a plane that is absolute, 0 for upright, and counts on beyond 180 degrees. In space there is no such angle:
    there it is how far the robot has turned since the start of the episode.
    """
    if rotation is None:
        if "pole_angle" not in features:
            return None
        return Angle("pole", "pole from upright [deg]", np.rad2deg(features["pole_angle"]))
    name = rotation.removesuffix("_turns")
    turned = 360.0 * features[rotation]
    planar = sum(each in features for each in ROTATIONS) == 1 and name in features
    if planar:
        degrees = np.rad2deg(features[name][0]) + turned - turned[0]
        return Angle(name, f"{name} [deg]: {ANGLES[rotation]}", degrees)
    ways = ANGLES[rotation].partition(" (")[0]
    return Angle(f"{name} turned", f"{name} turned since start [deg]: {ways}", turned)


def _panels(features: Mapping[str, Floats], rotation: str | None) -> list[Panel]:
    angle = angle_of(features, rotation)
    if angle is not None:
        turning = Panel(angle.title, {"": PlotLine(features["time"], angle.degrees)}, least=20.0, angle=True)
    else:
        turning = _first(features, {"joint_speed": "joint speed"})
    places = {"height": "height [m]", "pole_height": "height of the pole's tip [m]"}
    places |= {"target_distance": "distance to the target [m]", "displacement_x": "displacement in x [m]"}
    lines = {"forward": "forward_velocity", "lateral (+ left)": "lateral_velocity"}
    known = {label: PlotLine(features["time"], features[name]) for label, name in lines.items() if name in features}
    if known:
        title = "velocity [m/s]" if len(known) > 1 else "forward velocity [m/s]"
        velocity = Panel(title, known, least=0.5)
    else:
        velocity = _first(features, {"velocity_x": "velocity in x [m/s]", "control_effort": "control effort [0, 1]"})
    return [_first(features, places), turning, velocity]


def of_parts(features: Mapping[str, Floats]) -> list[Panel]:
    """Values of the first part that criteria read, and of a second with the same reading; empty without any."""
    found = [name for name in features if _is_of_part(name)]
    if not found or len(found) > MOST_PARTS:
        return []
    derived = next((name for name in found if is_expression(name)), None)
    if derived is not None:  # the features it reads are recorded as well
        return [_first(features, {derived: derived})]
    quantity = found[0].partition(":")[0]
    alike = [name for name in found if name.partition(":")[0] == quantity][: len(LINES)]
    lines = {name.partition(":")[2]: PlotLine(features["time"], features[name]) for name in alike}
    unit = BY_NAME[quantity].unit
    part = f" of {alike[0].partition(':')[2]}" if len(alike) == 1 and ":" in alike[0] else ""
    return [Panel(f"{quantity.replace('_', ' ')}{part}" + (f" [{unit}]" if unit != "1" else ""), lines, least=0.1)]


def _is_of_part(name: str) -> bool:
    quantity, colon, _ = name.partition(":")
    return is_expression(name) or (quantity in BY_NAME and quantity not in SUMS and bool(colon or name in WHOLE))


def _first(features: Mapping[str, Floats], titles: dict[str, str]) -> Panel:
    name = next((name for name in titles if name in features), next(iter(features)))
    return Panel(titles.get(name, name), {"": PlotLine(features["time"], features[name])}, least=0.1)


def _draw_panel(axes: Axes, panel: Panel, span: tuple[float, float]) -> None:
    for colour, (label, line) in zip(LINES, panel.lines.items(), strict=False):
        axes.plot(line.times, line.values, color=colour, linewidth=1.3, label=label)
    axes.set_xlim(span)
    axes.set_title(panel.title, fontsize=8.5, pad=20)
    low, high = axes.get_ylim()
    if (missing := panel.least - (high - low)) > 0:
        axes.set_ylim(low - missing / 2, high + missing / 2)
    step = next((step for step in TICKS if (high - low) / step <= 5), None)
    if panel.angle and high - low >= 90 and step is not None:
        axes.yaxis.set_major_locator(MultipleLocator(step))
    else:
        axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_formatter(ScalarFormatter(useOffset=False))
    axes.tick_params(labelsize=8, length=2, pad=2)
    axes.annotate("t [s]", (1.0, 0.0), (0, -14), "axes fraction", "offset points", fontsize=8, ha="right", va="top")
    axes.grid(visible=True, color="#e6e6e6", linewidth=0.6)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
