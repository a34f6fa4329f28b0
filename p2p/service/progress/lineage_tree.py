"""The tree of attempts of a session, with the iteration that is under way."""

from p2p.contracts.lineage_tree import LineageNode, LineageTree
from p2p.contracts.reward import LineageEntry
from p2p.service.workspace import Workspace


def lineage_tree(ws: Workspace, session_id: str) -> LineageTree:
    """Iterations begun so far as a tree, with their changes and what they taught.

    Raises:
        UnknownName: there is no such session.
    """
    record = ws.record(session_id)
    history = record.read_history()
    judged = {data.iteration: data for data in history.iterations} if history is not None else {}
    kept = record.read_lineage()
    entries = {int(name.rpartition("_")[2]): entry for name, entry in kept.iterations.items()}
    nodes = []
    for iteration in record.iteration_records():
        number = iteration.number
        before = record.iteration(number - 1).read_revision() if number > 1 else None
        data = judged.get(number)
        judgment = iteration.read_judgment() if data is not None else None
        entry = entries.get(number, LineageEntry(parent=None, score=None, star=False))
        nodes.append(
            LineageNode(
                iteration=number,
                parent=before.based_on if before is not None else entry.parent,
                verdict=data.verdict if data is not None else None,
                score=entry.score,
                success_rate=data.success_rate if data is not None else None,
                success_low=judgment.success_low if judgment is not None else None,
                success_high=judgment.success_high if judgment is not None else None,
                n_rollouts=judgment.n_rollouts if judgment is not None else 0,
                star=entry.star,
                best=history is not None and history.best_iteration == number,
                changes=before.changes if before is not None else (),
                lesson=before.lesson if before is not None else entry.lesson,
                diagnosis=entry.diagnosis,
                failure_tags=entry.failure_tags,
                best_run_id=entry.best_run_id,
                best_checkpoint=entry.best_checkpoint,
                final_return=entry.final_return,
                from_policy=iteration.start_policy.read(),
                elapsed_s=data.elapsed_time_s if data is not None else None,
            )
        )
    return LineageTree(session_id=session_id, nodes=tuple(nodes), lessons=kept.lessons, extends=kept.extends)
