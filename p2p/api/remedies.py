"""Remedies of errors, worded as Python calls."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from p2p.contracts.errors import P2PError
from p2p.contracts.remedies import Remedy, reworded

P = ParamSpec("P")
T = TypeVar("T")
CALLS = {
    Remedy.CREATE: 'p2p.run("run forward as fast as you can")',
    Remedy.CREATE_WITH_MODEL: 'p2p.run(SENTENCE, model="provider:model")',
    Remedy.CHOOSE_AUTHOR: 'model="provider:model"',
    Remedy.CHOOSE_JUDGE_MODEL: 'judge_model="provider:model"',
    Remedy.WRITE_REWARD: "p2p.train(REWARD)",
    Remedy.TRAIN_REWARD: 'p2p.train(REWARD, prompt=SENTENCE, env="{env}")',
    Remedy.TRAIN: 'p2p.load_session("{session}").resume()',
    Remedy.JUDGE: 'p2p.load_session("{session}").judge(iteration={iteration})',
    Remedy.LOOK: 'p2p.load_session("{session}").video',
    Remedy.SUBMIT_JUDGMENT: 'p2p.load_session("{session}").judge()',
    Remedy.FOLLOW: 'p2p.load_session("{session}").view',
    Remedy.RESUME: 'p2p.load_session("{session}").resume()',
    Remedy.RESUME_ALL: "p2p.load_session(ID).resume() for each of them",
    Remedy.ADD_ITERATIONS: 'p2p.load_session("{session}").resume(max_iterations=N)',
    Remedy.RAISE_CAP: "in a terminal: p2p resume {session} --cap {cap}=MORE",
    Remedy.EXTEND_BY_CRITERIA: 'p2p.load_session("{session}").extend(criteria=...)',
    Remedy.EXTEND_BY_WISH: 'p2p.load_session("{session}").extend("...")',
    Remedy.EXTEND_BY_MODEL: 'p2p.load_session("{session}").extend("...", author="provider:model")',
    Remedy.TIGHTEN: "in a terminal: p2p tighten",
    Remedy.STOP: 'p2p.load_session("{session}").stop()',
    Remedy.FOLLOW_JOB: "in a terminal: p2p jobs {job}",
    Remedy.CANCEL_JOB: "in a terminal: p2p jobs {job} --cancel",
    Remedy.DELETE: "in a terminal: p2p delete {session}",
    Remedy.RESTORE: "in a terminal: p2p trash --restore {session}",
    Remedy.RESTORE_RUN: "in a terminal: p2p benchmark restore {run}",
    Remedy.DELETE_RUN: "in a terminal: p2p benchmark delete {run}",
    Remedy.STOP_RUN: "in a terminal: p2p benchmark stop {run}",
    Remedy.EMPTY_TRASH: "in a terminal: p2p trash --empty",
    Remedy.LIST: "p2p.sessions()",
    Remedy.CHOOSE_RUNS_DIR: "runs_dir=... or P2P_RUNS_DIR",
    Remedy.ALLOW_WEAK_SANDBOX: "P2P_ALLOW_WEAK_SANDBOX=1",
    Remedy.CHECK_SETUP: "in a terminal: p2p doctor",
    Remedy.SAY_PRICE: "price=Price(...)",
    Remedy.SET_CAP: 'caps={{"{cap}": NUMBER}}',
    Remedy.EXPORT: ".export()",
    Remedy.LABEL: "p2p label in a terminal",
    Remedy.RUN_AGENT: "in a terminal: p2p agent",
    Remedy.LIST_SERVED: "p2p models list in a terminal",
    Remedy.STOP_SERVED: "p2p models stop in a terminal",
    Remedy.ADD_NODE: "in a terminal: p2p nodes add",
    Remedy.CHECK_NODES: "in a terminal: p2p nodes check",
    Remedy.TRUST_NODE: "in a terminal: p2p nodes trust {node}",
    Remedy.PREPARE_NODE: "in a terminal: p2p nodes bootstrap {node}",
    Remedy.REMOVE_NODE: "in a terminal: p2p nodes remove {node} --abandon",
    Remedy.CHECK_CLUSTER: "in a terminal: p2p clusters check {cluster}",
    Remedy.GIVE_MEMORY: "in a terminal: p2p clusters add … --memory-mb MORE",
    Remedy.ASK_LESS: "in a terminal: p2p clusters add … --cores FEWER --memory-mb LESS",
    Remedy.SET_IN_CLUSTER: "in a terminal: p2p clusters add … --set {setting}",
    Remedy.REMOVE_CLUSTER: "in a terminal: p2p clusters remove {cluster}",
    Remedy.STOP_CLUSTER: "in a terminal: p2p clusters stop {cluster}",
    Remedy.INTERRUPT_CLUSTER: "in a terminal: p2p clusters stop {cluster} --interrupt",
}


def in_calls(message: str) -> str:
    """Replace the remedies in a message by Python calls."""
    return reworded(message, CALLS)


def worded(function: Callable[P, T]) -> Callable[P, T]:
    """Word the remedies of errors raised in an API function."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except P2PError as error:
            error.args = (in_calls(str(error)), *error.args[1:])
            raise

    return call
