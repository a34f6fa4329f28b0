"""Remedies as commands of the terminal."""

from p2p.contracts.remedies import Remedy, reworded

COMMANDS = {
    Remedy.CREATE: "p2p run 'run forward as fast as you can'",
    Remedy.CREATE_WITH_MODEL: "p2p run SENTENCE --model PROVIDER:MODEL",
    Remedy.CHOOSE_AUTHOR: "--model PROVIDER:MODEL",
    Remedy.CHOOSE_JUDGE_MODEL: "--judge-model PROVIDER:MODEL",
    Remedy.WRITE_REWARD: "p2p train --reward FILE",
    Remedy.TRAIN_REWARD: "p2p train --reward FILE --intent SENTENCE --env {env}",
    Remedy.TRAIN: "p2p resume {session}",
    Remedy.JUDGE: "p2p judge {session} --iteration {iteration}",
    Remedy.LOOK: "p2p view {session}",
    Remedy.SUBMIT_JUDGMENT: "p2p judge {session} with a model that looks",
    Remedy.FOLLOW: "p2p watch {session}",
    Remedy.RESUME: "p2p resume {session}",
    Remedy.RESUME_ALL: "p2p resume --all",
    Remedy.ADD_ITERATIONS: "p2p resume {session} --iterations N",
    Remedy.RAISE_CAP: "p2p resume {session} --cap {cap}=MORE",
    Remedy.EXTEND_BY_CRITERIA: "p2p extend {session} --criteria FILE",
    Remedy.EXTEND_BY_WISH: "p2p extend {session} --wish TEXT",
    Remedy.EXTEND_BY_MODEL: "p2p extend {session} --wish TEXT --model PROVIDER:MODEL",
    Remedy.TIGHTEN: "p2p tighten",
    Remedy.STOP: "p2p stop {session}",
    Remedy.FOLLOW_JOB: "p2p jobs {job}",
    Remedy.CANCEL_JOB: "p2p jobs {job} --cancel",
    Remedy.DELETE: "p2p delete {session}",
    Remedy.RESTORE: "p2p trash --restore {session}",
    Remedy.EMPTY_TRASH: "p2p trash --empty",
    Remedy.LIST: "p2p list",
    Remedy.CHOOSE_RUNS_DIR: "--runs-dir or P2P_RUNS_DIR",
    Remedy.ALLOW_WEAK_SANDBOX: "--allow-weak-sandbox or P2P_ALLOW_WEAK_SANDBOX=1",
    Remedy.CHECK_SETUP: "p2p doctor",
    Remedy.SAY_PRICE: "--price INPUT,OUTPUT",
    Remedy.SET_CAP: "--cap {cap}=NUMBER",
    Remedy.EXPORT: "p2p export",
    Remedy.LABEL: "p2p label",
    Remedy.RUN_AGENT: "p2p agent",
    Remedy.LIST_SERVED: "p2p models list",
    Remedy.STOP_SERVED: "p2p models stop",
    Remedy.ADD_NODE: "p2p nodes add",
    Remedy.CHECK_NODES: "p2p nodes check",
    Remedy.TRUST_NODE: "p2p nodes trust {node}",
    Remedy.PREPARE_NODE: "p2p nodes bootstrap {node}",
    Remedy.REMOVE_NODE: "p2p nodes remove {node} --abandon",
    Remedy.CHECK_CLUSTER: "p2p clusters check {cluster}",
    Remedy.GIVE_MEMORY: "p2p clusters add … --memory-mb MORE",
    Remedy.ASK_LESS: "p2p clusters add … --cores FEWER --memory-mb LESS",
    Remedy.SET_IN_CLUSTER: "p2p clusters add … --set {setting}",
    Remedy.REMOVE_CLUSTER: "p2p clusters remove {cluster}",
}


def in_commands(message: str) -> str:
    """A message with commands for its remedies."""
    return reworded(message, COMMANDS)
