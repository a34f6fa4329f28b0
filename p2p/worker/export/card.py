"""Model card: `README.md` in the Hugging Face Hub's layout."""

import json

from p2p.contracts.export import ExportReport, ReturnStatistics
from p2p.contracts.work import ExportRequest
from p2p.worker.export.card_results import checks, criteria, returns
from p2p.worker.export.card_usage import usage
from p2p.worker.export.interface import Interface
from p2p.worker.export.markdown import paragraphs, plain, table
from p2p.worker.export.source import Source

LIBRARIES = {"sb3": "stable-baselines3", "onnx": "onnx", "torchscript": "pytorch"}
"""Format -> what the Hub calls its library."""

TAGS = ("reinforcement-learning", "deep-reinforcement-learning", "ppo", "mujoco", "p2p")


def model_card(source: Source, interface: Interface, request: ExportRequest, report: ExportReport) -> str:
    """The whole card."""
    body = paragraphs(
        _introduction(source, report),
        "## What it was asked to do",
        *criteria(source),
        "## What it returns",
        *returns(source, report),
        "## What it was rewarded for",
        *_reward(source),
        "## What it sees and does",
        *_ends(interface),
        "## How to use it",
        *usage(interface, report),
        "## How it was checked",
        *checks(report),
        "## How it was trained",
        *_training(source),
        "## Versions",
        table(("package", "version"), list(report.versions.items())),
    )
    return _front_matter(source, request, report) + body


def _front_matter(source: Source, request: ExportRequest, report: ExportReport) -> str:
    """YAML front matter; strings are written as JSON, which is valid YAML."""
    env_id, library = json.dumps(source.spec.env_id), LIBRARIES[request.formats[0]]
    tags = [source.spec.env_id, *TAGS, library]
    seconds = report.episode.steps * source.spec.dt
    measured = {
        f"Gymnasium's own reward, {seconds:g} s": report.gymnasium_returns,
        f"the trained reward, {seconds:g} s": report.trained_returns,
    }
    lines = [
        "---",
        f"library_name: {library}",
        f"license: {request.license}",
        "pipeline_tag: reinforcement-learning",
        "tags:",
        *(f"- {json.dumps(tag)}" for tag in tags),
        "model-index:",
        "- name: PPO",
        "  results:",
        "  - task:",
        "      type: reinforcement-learning",
        "      name: reinforcement-learning",
        "    dataset:",
        f"      name: {env_id}",
        f"      type: {env_id}",
        "    metrics:",
        *(line for name, found in measured.items() for line in _metric(name, found)),
        "---",
    ]
    return "\n".join(lines) + "\n\n"


def _metric(name: str, found: ReturnStatistics) -> list[str]:
    return [
        "    - type: mean_reward",
        f'      value: "{found.mean:.2f} +/- {found.std:.2f}"',
        f"      name: {json.dumps(f'mean_reward ({name})', ensure_ascii=False)}",
        "      verified: false",
    ]


def _introduction(source: Source, report: ExportReport) -> str:
    aim = f"“{plain(source.intent.prompt)}”" if source.intent else "a reward of its own"
    picture = "\n\n[Video of the replayed episode](replay.mp4)" if source.video is not None else ""
    return (
        f"# {aim}, {source.spec.env_id}\n\n"
        f"A PPO policy for Gymnasium's {source.spec.env_id} ({plain(source.spec.description).rstrip('.')}), "
        f"trained by p2p: run `{report.run_id}`, checkpoint at step {report.checkpoint:,}.{picture}"
    )


def _reward(source: Source) -> list[str]:
    """Formula and terms of the reward."""
    spec = source.run.read_reward_spec()
    parts = ["Source: [`reward_fn.py`](reward_fn.py)."]
    if spec is None:
        return parts
    if spec.description:
        parts.append(plain(spec.description))
    if spec.latex:
        parts.append(f"$$\n{spec.latex.strip().strip('$')}\n$$")
    return [*parts, table(("term", "meaning"), [(item.name, item.description) for item in spec.terms])]


def _ends(interface: Interface) -> list[str]:
    observation = [(item.index, item.name, item.quantity, item.unit, item.frame) for item in interface.observation]
    action = [(item.index, item.name, item.joint, f"{item.low:g} … {item.high:g}") for item in interface.action]
    return [
        f"<details><summary>{len(observation)} observations</summary>",
        table(("index", "name", "quantity", "unit", "frame"), observation),
        "</details>",
        table(("index", "action", "joint", "range"), action),
    ]


def _training(source: Source) -> list[str]:
    summary = source.run.read_summary()
    spent = ""
    if summary is not None:
        spent = f" in {summary.training_time_s:.0f} s ({summary.steps_per_second:,.0f} steps/s)"
        spent = f" by the learner `{summary.learner}`, {summary.total_timesteps:,} steps{spent}"
    config = source.config.model_dump(exclude={"iteration_id"})
    return [
        f"Proximal policy optimisation{spent}, training seed {source.config.seed}. All of it is in "
        "[`config.json`](config.json).",
        f"<details><summary>{len(config)} settings</summary>",
        table(("setting", "value"), [(name, json.dumps(value)) for name, value in config.items()]),
        "</details>",
    ]
