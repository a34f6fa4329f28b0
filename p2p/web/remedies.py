"""Remedies as requests to this server; what only a terminal can do is said as a command."""

from p2p.contracts.remedies import Remedy, reworded

REQUESTS = {
    Remedy.CREATE: 'POST /api/sessions {{"prompt": "run forward as fast as you can"}}',
    Remedy.CREATE_WITH_MODEL: 'POST /api/sessions {{"prompt": SENTENCE, "author": "provider:model"}}',
    Remedy.CHOOSE_AUTHOR: '"author": "provider:model"',
    Remedy.CHOOSE_JUDGE_MODEL: '"judge_model": "provider:model"',
    Remedy.WRITE_REWARD: 'POST /api/sessions {{"reward": SOURCE}}',
    Remedy.TRAIN_REWARD: 'POST /api/sessions {{"prompt": SENTENCE, "reward": SOURCE, "env_id": "{env}"}}',
    Remedy.TRAIN: "POST /api/sessions/{session}/resume",
    Remedy.JUDGE: "POST /api/sessions/{session}/iterations/{iteration}/judge",
    Remedy.LOOK: "GET /api/sessions/{session}/iterations/{iteration}/recordings",
    Remedy.SUBMIT_JUDGMENT: "POST /api/sessions/{session}/labels",
    Remedy.FOLLOW: "GET /api/sessions/{session}",
    Remedy.RESUME: "POST /api/sessions/{session}/resume",
    Remedy.RESUME_ALL: "POST /api/sessions/ID/resume, for each of them",
    Remedy.ADD_ITERATIONS: 'POST /api/sessions/{session}/resume {{"max_iterations": N}}',
    Remedy.RAISE_CAP: 'PATCH /api/sessions/{session}/caps {{"{cap}": MORE}}',
    Remedy.EXTEND_BY_CRITERIA: 'POST /api/sessions/{session}/extend {{"criteria": [...]}}',
    Remedy.EXTEND_BY_WISH: 'POST /api/sessions/{session}/extend {{"wish": TEXT}}',
    Remedy.EXTEND_BY_MODEL: 'POST /api/sessions/{session}/extend {{"wish": TEXT, "author": "provider:model"}}',
    Remedy.TIGHTEN: "in a terminal: p2p tighten",
    Remedy.STOP: "POST /api/sessions/{session}/stop",
    Remedy.FOLLOW_JOB: "GET /api/jobs/{job}",
    Remedy.CANCEL_JOB: "POST /api/jobs/{job}/cancel",
    Remedy.DELETE: "DELETE /api/sessions/{session}",
    Remedy.RESTORE: "POST /api/sessions/{session}/restore",
    Remedy.EMPTY_TRASH: "DELETE /api/trash",
    Remedy.LIST: "GET /api/sessions",
    Remedy.CHOOSE_RUNS_DIR: "p2p web --runs-dir DIRECTORY",
    Remedy.ALLOW_WEAK_SANDBOX: "P2P_ALLOW_WEAK_SANDBOX=1 p2p web",
    Remedy.CHECK_SETUP: "in a terminal: p2p doctor",
    Remedy.SAY_PRICE: '"price": {{"input": DOLLARS, "output": DOLLARS}}',
    Remedy.SET_CAP: '"caps": {{"{cap}": NUMBER}}',
    Remedy.EXPORT: "POST /api/sessions/{session}/exports",
    Remedy.LABEL: "POST /api/sessions/{session}/labels",
    Remedy.RUN_AGENT: "in a terminal: p2p agent",
    Remedy.LIST_SERVED: "GET /api/vlm/status",
    Remedy.STOP_SERVED: "in a terminal: p2p models stop",
    Remedy.ADD_NODE: "in a terminal: p2p nodes add",
    Remedy.CHECK_NODES: "GET /api/nodes",
    Remedy.TRUST_NODE: "in a terminal: p2p nodes trust {node}",
    Remedy.PREPARE_NODE: "POST /api/nodes/{node}/bootstrap",
    Remedy.REMOVE_NODE: "in a terminal: p2p nodes remove {node} --abandon",
    Remedy.CHECK_CLUSTER: "in a terminal: p2p clusters check {cluster}",
    Remedy.GIVE_MEMORY: "in a terminal: p2p clusters add … --memory-mb MORE",
    Remedy.ASK_LESS: "in a terminal: p2p clusters add … --cores FEWER --memory-mb LESS",
    Remedy.SET_IN_CLUSTER: "in a terminal: p2p clusters add … --set {setting}",
    Remedy.REMOVE_CLUSTER: "in a terminal: p2p clusters remove {cluster}",
}


def in_requests(message: str) -> str:
    """A message with requests for its remedies."""
    return reworded(message, REQUESTS)
