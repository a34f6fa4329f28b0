"""What probes say of the rewards of `audited_rewards.py`: `python tests/worker/reward/measure_probe.py`."""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from audited_rewards import KEPT, TUNED, Audited

from p2p.contracts.session import NewSession
from p2p.service.rewards.submission import check_reward_source
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings


def probed(ws: Workspace, one: Audited) -> tuple[float, float, list[str]]:
    """Return of the untrained and of the last policy, and what the probe is warned of."""
    request = NewSession(
        prompt=one.sentence,
        env_id=one.env_id,
        author="given",
        config={"terminate_when_unhealthy": one.terminates},
    )
    session = create_session(ws, request, reward=one.source)
    probe = check_reward_source(ws, session.session_id, one.source, probe=True)
    assert probe.probe is not None, probe.errors
    said = [issue.message for issue in probe.issues if issue.message.startswith("In a probe training")]
    return probe.probe.returns[0], probe.probe.returns[-1], said


def table(rewards: tuple[Audited, ...]) -> None:
    """Print one row per reward as it ends, then the counts."""
    warned = {True: 0, False: 0}
    print("| reward | robot | label | return | warned of |\n|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory(prefix="p2p-probes-") as root:
        ws = Workspace(Settings(runs_dir=Path(root)))
        for one in rewards:
            first, last, messages = probed(ws, one)
            warned[one.good] += bool(messages)
            said = messages[0].partition(" while ")[2].split("(")[0] or "nothing was learnt" if messages else "nothing"
            label = "good" if one.good else f"bad: {one.why}"
            print(f"| {one.name} | {one.env_id} | {label} | {first:.3g} to {last:.3g} | {said} |", flush=True)
    bad = sum(not one.good for one in rewards)
    print(f"\nWarned of {warned[False]} of {bad} bad and {warned[True]} of {len(rewards) - bad} good.", flush=True)


if __name__ == "__main__":
    for name, rewards in (("Tuned on", TUNED), ("Kept apart", KEPT)):
        print(f"### {name}\n")
        table(rewards)
        print()
