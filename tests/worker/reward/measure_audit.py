"""Table of docs/reward_audit.md: `python tests/worker/reward/measure_audit.py`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from audited_rewards import KEPT, TUNED, Audited

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.analysis.reward_audit import audit
from p2p.analysis.reward_ranking import ranking
from p2p.contracts.work import CheckRequest
from p2p.envs import catalog
from p2p.worker.reward.tried_motions import pay_hosted


def audited(one: Audited) -> tuple[float | None, list[str]]:
    """Rank correlation of a reward, and what it is warned of."""
    spec = catalog.load(one.env_id)
    intent = BuiltinAuthor().elicit(one.sentence, spec)
    request = CheckRequest(terminate_when_unhealthy=one.terminates, intent=intent)
    paid = pay_hosted(one.source, spec, request, intent)
    found = ranking(paid)
    issues = audit(paid, one.source, "error", one.terminates)
    return found.correlation if found is not None else None, [issue.message for issue in issues]


def table(rewards: tuple[Audited, ...]) -> str:
    """One row per reward, then the counts."""
    rows, warned = [], {True: 0, False: 0}
    for one in rewards:
        correlation, messages = audited(one)
        warned[one.good] += bool(messages)
        rho = "–" if correlation is None else f"{correlation:.2f}"
        said = messages[0].split(":")[0][:90].replace("|", "/") if messages else "nothing"
        label = "good" if one.good else f"bad: {one.why}"
        rows.append(f"| {one.name} | {one.env_id} | {label} | {rho} | {said} |")
    bad = sum(not one.good for one in rewards)
    head = "| reward | robot | label | rank correlation | warned of |\n|---|---|---|---|---|"
    counts = f"Warned of {warned[False]} of {bad} bad and {warned[True]} of {len(rewards) - bad} good."
    return "\n".join([head, *rows, "", counts])


if __name__ == "__main__":
    print("## Tuned on\n\n" + table(TUNED))
    print("\n## Kept apart\n\n" + table(KEPT))
