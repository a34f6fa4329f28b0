"""Remedies as tools of this server."""

from typing import Any

from p2p.contracts.remedies import Remedy, reworded, reworded_data

TOOLS = {
    Remedy.CREATE: "create_session",
    Remedy.CREATE_WITH_MODEL: 'create_session(author="provider:model")',
    Remedy.CHOOSE_AUTHOR: "author",
    Remedy.CHOOSE_JUDGE_MODEL: "judge_model",
    Remedy.WRITE_REWARD: "write_reward",
    Remedy.TRAIN_REWARD: "create_session, then write_reward(source=...)",
    Remedy.TRAIN: "train_iteration",
    Remedy.JUDGE: 'judge_videos(session_id="{session}", iteration={iteration})',
    Remedy.LOOK: "judge_videos(mode='calling_agent')",
    Remedy.SUBMIT_JUDGMENT: "submit_judgment",
    Remedy.FOLLOW: 'get_session(session_id="{session}")',
    Remedy.RESUME: 'run_session(session_id="{session}")',
    Remedy.RESUME_ALL: "run_session, for each of them",
    Remedy.ADD_ITERATIONS: 'extend_session(session_id="{session}", iterations=N)',
    Remedy.RAISE_CAP: "the user raises it in a terminal: p2p resume {session} --cap {cap}=MORE",
    Remedy.EXTEND_BY_CRITERIA: 'extend_session(session_id="{session}", criteria=[...])',
    Remedy.EXTEND_BY_WISH: 'extend_session(session_id="{session}", wish="...")',
    Remedy.EXTEND_BY_MODEL: 'extend_session(session_id="{session}", wish="...", author="provider:model")',
    Remedy.TIGHTEN: "steer_session(criteria=[...], why=...)",
    Remedy.STOP: "cancel_job",
    Remedy.FOLLOW_JOB: 'get_job(job_id="{job}")',
    Remedy.CANCEL_JOB: 'cancel_job(job_id="{job}")',
    Remedy.DELETE: 'manage_session(session_id="{session}", action="delete")',
    Remedy.RESTORE: 'manage_session(session_id="{session}", action="restore")',
    Remedy.RESTORE_RUN: "the user, in a terminal: p2p benchmark restore {run}",
    Remedy.DELETE_RUN: "the user, in a terminal: p2p benchmark delete {run}",
    Remedy.STOP_RUN: "the user, in a terminal: p2p benchmark stop {run}",
    Remedy.EMPTY_TRASH: "the user empties the trash in a terminal: p2p trash --empty",
    Remedy.LIST: "list_sessions",
    Remedy.CHOOSE_RUNS_DIR: "the server's P2P_RUNS_DIR",
    Remedy.ALLOW_WEAK_SANDBOX: "the user starts this server with P2P_ALLOW_WEAK_SANDBOX=1",
    Remedy.CHECK_SETUP: "check_setup",
    Remedy.SAY_PRICE: "its price, which p2p run takes in a terminal",
    Remedy.SET_CAP: 'caps={{"{cap}": NUMBER}}',
    Remedy.EXPORT: "export_policy",
    Remedy.LABEL: "label_rollout",
    Remedy.RUN_AGENT: "run_session",
    Remedy.LIST_SERVED: "p2p models list, in a terminal",
    Remedy.STOP_SERVED: "p2p models stop, in a terminal",
    Remedy.ADD_NODE: "the user, in a terminal: p2p nodes add",
    Remedy.CHECK_NODES: "list_nodes",
    Remedy.TRUST_NODE: "the user, in a terminal: p2p nodes trust {node}",
    Remedy.PREPARE_NODE: "the user, in a terminal: p2p nodes bootstrap {node}",
    Remedy.REMOVE_NODE: "the user, in a terminal: p2p nodes remove {node} --abandon",
    Remedy.CHECK_CLUSTER: "the user, in a terminal: p2p clusters check {cluster}",
    Remedy.GIVE_MEMORY: "the user, in a terminal: p2p clusters add … --memory-mb MORE",
    Remedy.ASK_LESS: "the user, in a terminal: p2p clusters add … --cores FEWER --memory-mb LESS",
    Remedy.SET_IN_CLUSTER: "the user, in a terminal: p2p clusters add … --set {setting}",
    Remedy.REMOVE_CLUSTER: "the user, in a terminal: p2p clusters remove {cluster}",
    Remedy.STOP_CLUSTER: "the user, in a terminal: p2p clusters stop {cluster}",
    Remedy.INTERRUPT_CLUSTER: "the user, in a terminal: p2p clusters stop {cluster} --interrupt",
}
"""What only a person may do is said as a command for the user."""


def in_tools(message: str) -> str:
    """A message with tools for its remedies."""
    return reworded(message, TOOLS)


def data_in_tools(data: Any) -> Any:
    """The same for all texts of plain data."""
    return reworded_data(data, TOOLS)
