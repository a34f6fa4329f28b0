"""What a tool answered, in one line for whoever watches; the model gets all of it."""

import json
from collections.abc import Callable
from typing import Any

from p2p.contracts.inference import ToolResult
from p2p.contracts.intent import score_in_words

Answer = dict[str, Any]
MOST = 200
"""Characters of a line."""


def in_one_line(tool: str, result: ToolResult) -> str:
    """The result of a tool, as short as it can be said.

    Args:
        tool: Its name.
        result: What it answered, as the model is sent it.
    """
    text = result.text
    if result.is_error:
        return _cut(f"failed: {text.removeprefix(f'Error executing tool {tool}: ')}")
    try:
        answer = json.loads(text)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        return _cut(text)
    try:
        words = _job(answer) if "job_id" in answer else WORDS.get(tool, _next)(answer)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):  # shaped otherwise than it is now
        words = _next(answer)
    pictures = len(result.images)
    shown = f" · {pictures} picture{'s' if pictures > 1 else ''}" if pictures else ""
    return f"{_cut(words)}{shown}"


def _session(answer: Answer) -> str:
    criteria = ", ".join(one["key"] for one in answer["criteria"]) or "none"
    best = f", best score {score_in_words(answer['best_score'])}" if answer["best_score"] is not None else ""
    where = f"{answer['session_id']}, {answer['environment']}: {answer['status']}"
    return f"{where}, iteration {answer['iteration']} of {answer['max_iterations']}{best}; criteria: {criteria}"


def _reward(answer: Answer) -> str:
    if not answer["accepted"]:
        return f"refused: {'; '.join(answer['errors'])}"
    terms = ", ".join(one["name"] for one in answer["ranges"])
    warned = f"; {len(answer['warnings'])} to mind: {answer['warnings'][0]}" if answer["warnings"] else ""
    return f"accepted, terms {terms}{warned}"


def _revision(answer: Answer) -> str:
    if answer["reward"] is not None:
        return _reward(answer["reward"])
    brief = answer["brief"]
    tags = f" ({', '.join(brief['failure_tags'])})" if brief["failure_tags"] else ""
    return f"iteration {brief['iteration']} {_verdict(brief)}{tags}, {brief['iterations_left']} iterations left"


def _job(answer: Answer) -> str:
    iteration = f"iteration {answer['iteration']} " if answer.get("iteration") is not None else ""
    error = f": {answer['error']}" if answer.get("error") else ""
    return f"{iteration}{answer['state']}, {answer['step']:,} of {answer['total']:,} steps{error}"


def _metrics(answer: Answer) -> str:
    runs = []
    for run in answer["runs"]:
        reached = f", return {run['episode_return']:.4g}" if run.get("episode_return") is not None else ""
        runs.append(f"{run['run_id']} {run['state']}{reached}")
    warned = f"; {answer['warnings'][0]}" if answer["warnings"] else ""
    return f"{answer['view']} of iteration {answer['iteration']}: {'; '.join(runs)}{warned}"


def _evidence(answer: Answer) -> str:
    if answer["judgment"] is not None:
        return f"{_verdict(answer['judgment'])}, seen by {answer['judged_by']}"
    eyes = ", ".join(answer["only_eyes_can_judge"])
    return f"measured: {_verdict(answer['code'])}{f'; for eyes: {eyes}' if eyes else ''}"


def _judgment(answer: Answer) -> str:
    return _verdict(answer["judgment"])


def _verdict(said: Answer) -> str:
    score = (
        f", score {score_in_words(said['score'])} of {score_in_words(said['pass_threshold'])}"
        if said["score"] is not None
        else ""
    )
    rate = f", success {100 * said['success_rate']:.0f} %" if said["success_rate"] is not None else ""
    return f"{str(said['verdict']).replace('_', ' ')}{score}{rate}"


def _judge_code(answer: Answer) -> str:
    report = answer["report"]
    if report is None:
        return f"to measure: {', '.join(one['key'] for one in answer['task']['to_measure']) or 'nothing'}"
    return f"accepted for {report['key']}" if report["accepted"] else f"refused: {'; '.join(report['errors'])}"


def _view(answer: Answer) -> str:
    return f"{answer['label']} rollout of iteration {answer['iteration']}: {answer['note']}"


def _compared(answer: Answer) -> str:
    one = answer["first"]["iteration"]
    two = answer["second"]["iteration"]
    better = f"iteration {answer['better']} did better" if answer["better"] is not None else "neither did better"
    return f"iterations {one} and {two}: {better}"


def _environments(answer: Answer) -> str:
    return f"{len(answer['environments'])} environments"


def _environment(answer: Answer) -> str:
    return f"{answer['env_id']}: {answer['observation_size']} observations, {len(answer['action'])} actuators"


def _jobs(answer: Answer) -> str:
    return "; ".join(_job(job) for job in answer["jobs"]) or "no jobs"


def _export(answer: Answer) -> str:
    return f"{len(answer['files'])} files in {answer['directory']}"


def _next(answer: Answer) -> str:
    return f"done; next: {answer['next_step']}" if answer.get("next_step") else "done"


WORDS: dict[str, Callable[[Answer], str]] = {
    "create_session": _session,
    "get_session": _session,
    "write_reward": _reward,
    "check_reward": _reward,
    "revise_reward": _revision,
    "get_metrics": _metrics,
    "judge_videos": _evidence,
    "submit_judgment": _judgment,
    "write_judge_code": _judge_code,
    "view_rollout": _view,
    "compare_iterations": _compared,
    "list_environments": _environments,
    "describe_environment": _environment,
    "list_jobs": _jobs,
    "export_policy": _export,
}
"""Tool -> its answer in words; what starts or shows a job is told by the job, and the others by their next step."""


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MOST else f"{line[: MOST - 1]}…"
