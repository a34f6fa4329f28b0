"""Model card, `README.md` in the Hugging Face Hub's layout: `card.md.j2` filled in."""

import json

from jinja2 import Environment, PackageLoader, StrictUndefined

from p2p.contracts.intent import Comparison, interval_in_words, score_in_words, share_in_words
from p2p.contracts.judgment import CriterionScore
from p2p.contracts.work import ExportReport, ExportRequest
from p2p.worker.export.interface import Interface
from p2p.worker.export.source import Source
from p2p.worker.export.verify import LIMIT

LIBRARIES = {"sb3": "stable-baselines3", "onnx": "onnx", "torchscript": "pytorch"}
"""Format -> what the Hub calls its library."""

TAGS = ("reinforcement-learning", "deep-reinforcement-learning", "ppo", "mujoco", "p2p")


def model_card(source: Source, interface: Interface, request: ExportRequest, report: ExportReport) -> str:
    """Write the whole card."""
    templates = Environment(
        loader=PackageLoader("p2p.worker", "export"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # Markdown; what was typed or written by a model goes through `plain` or `cell`
    )
    templates.filters |= {"plain": plain, "cell": cell, "quoted": quoted, "repr": repr}
    templates.filters |= {"number": number, "score": score_in_words, "share": share, "share_interval": share_interval}
    templates.globals |= {"interval": interval, "needed": needed}
    library = LIBRARIES[request.formats[0]]
    settings = source.config.model_dump(exclude={"iteration_id"})
    return templates.get_template("card.md.j2").render(
        source=source,
        interface=interface,
        request=request,
        report=report,
        library=library,
        tags=[source.spec.env_id, *TAGS, library],
        reward=source.run.read_reward_spec(),
        summary=source.run.read_summary(),
        start=source.run.start_policy.read(),
        settings={name: json.dumps(value) for name, value in settings.items()},
        limit=LIMIT,
    )


def plain(value: object) -> str:
    """Text on one line, with HTML tags defused."""
    return " ".join(str(value).split()).replace("<", "&lt;")


def cell(value: object) -> str:
    """Text that stays in its cell of a table."""
    return plain(value).replace("|", "\\|")


def quoted(value: str) -> str:
    """Text for the YAML front matter: JSON strings are valid YAML."""
    return json.dumps(value, ensure_ascii=False)


def number(value: float | None, unit: str = "") -> str:
    """Number with four significant figures; "–" for None."""
    if value is None:
        return "–"
    shown = f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4g}"
    return shown if unit in ("", "1") else f"{shown} {unit}"


def interval(low: float | None, high: float | None, unit: str = "") -> str:
    """Interval; "–" for None."""
    return "–" if low is None or high is None else f"{number(low)} … {number(high, unit)}"


def share(value: float | None) -> str:
    """Share in [0, 1] as per cent, rounded down; "–" for None."""
    return share_in_words(value).replace("%", " %")


def share_interval(low: float, high: float) -> str:
    """Interval of a share as per cent, rounded outward."""
    return interval_in_words(low, high).replace("%", " %")


def needed(item: CriterionScore) -> str:
    """What a criterion asks for."""
    if item.comparison is Comparison.BETWEEN:
        return interval(item.threshold, item.upper, item.unit)
    return f"{'≥' if item.comparison is Comparison.AT_LEAST else '≤'} {number(item.threshold, item.unit)}"
