"""Name -> "module:attribute", imported on first use: a new author, judge or backend is one file and one line."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from p2p.contracts.errors import MissingExtra, UnknownName

AUTHORS: dict[str, str] = {
    "builtin": "p2p.agents.builtin.author:BuiltinAuthor",
    "model": "p2p.agents.model.author:ModelAuthor",
}
ANALYSTS: dict[str, str] = {
    "builtin": "p2p.agents.builtin.analyst:analyze",
    "model": "p2p.agents.model.session_analyzer:analyze",
}
JUDGES: dict[str, str] = {
    "author": "p2p.judges.author:JudgeAuthor",
    "code_rules": "p2p.judges.author:rules",
    "code": "p2p.judges.code:CodeJudge",
}
EYES: dict[str, str] = {
    "model": "p2p.judges.vision:VisionJudge",
    "clips": "p2p.judges.calibration.model_judge:EyesJudge",
    "pair": "p2p.judges.pairwise:PairwiseJudge",
    "pair_question": "p2p.judges.pairwise:question",
}
"""Who looks at pictures when p2p asks; loaded by name, for what it needs is not light."""
CALIBRATED_JUDGES: dict[str, str] = {
    "predicates": "p2p.judges.calibration.predicate_judge:PredicateJudge",
}
"""Judges whose accuracy is measured on clips whose truth is known."""
BACKENDS: dict[str, str] = {
    "local": "p2p.scheduler.backends.local:LocalBackend",
    "pool": "p2p.scheduler.backends.pool:PoolBackend",
    "ssh": "p2p.scheduler.backends.ssh:SSHBackend",
}
NODES: dict[str, str] = {
    "care": "p2p.scheduler.nodes.care:NodeCare",
}
"""What reaches other machines, with a library that is not always installed."""
HOSTS: dict[str, str] = {
    "converse": "p2p_mcp.agent.sitting:converse",
    "plan": "p2p_mcp.agent.plan:plan",
}
"""What `p2p agent` runs: a door above this package, so it is loaded by name and never imported."""
PROVIDERS: dict[str, str] = {
    "anthropic": "p2p.inference.providers.anthropic:AnthropicModel",
    "gemini": "p2p.inference.providers.gemini:GeminiModel",
    "openai": "p2p.inference.providers.openai:OpenAIModel",
    "vllm": "p2p.inference.providers.openai:VllmModel",
    "ollama": "p2p.inference.providers.openai:OllamaModel",
}
MEASUREMENTS: dict[str, str] = {
    "rollout_numbers": "p2p.analysis.rollout_numbers:rollout_numbers",
    "calibrate": "p2p.judges.calibration.measure:calibrate",
    "judge_by_code": "p2p.judges.generated:judge_report",
    "prepare_report": "p2p.judges.generated:prepare_report",
    "prepare_trial": "p2p.judges.generated:prepare_trial",
    "code_findings": "p2p.judges.generated:read",
    "code_problems": "p2p.judges.generated:problems_of",
    "code_on_known": "p2p.judges.generated:on_known_motions",
    "judge_by_clip_code": "p2p.judges.calibration.code_judge:ClipCodeJudge",
    "prepare_clip_code": "p2p.judges.calibration.clip_calls:prepare",
    "read_clip_code": "p2p.judges.calibration.clip_calls:read",
    "criteria_by_hand": "p2p.judges.calibration.by_hand:written_by_hand",
}
"""Computed with numpy, which the service starts without."""

_EXTRA_OF = {
    **dict.fromkeys(("numpy", "mujoco", "gymnasium"), "train"),
    **dict.fromkeys(("torch", "stable_baselines3"), "sb3"),
    **dict.fromkeys(("onnx", "onnxruntime"), "onnx"),
    "anthropic": "anthropic",
    "google": "gemini",
    "openai": "openai",
    "paramiko": "ssh",
}


def load(kind: str, registry: Mapping[str, str], name: str) -> Any:
    """The object registered as `name`; `kind` names it in the error.

    Raises:
        UnknownName: nothing is registered under `name`.
        MissingExtra: what it needs is not installed.
    """
    if name not in registry:
        raise UnknownName(kind, name, registry)
    module, attribute = registry[name].split(":")
    try:
        return getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        package = (error.name or "").split(".")[0]
        if package in _EXTRA_OF:
            raise MissingExtra(package, _EXTRA_OF[package]) from error
        raise
