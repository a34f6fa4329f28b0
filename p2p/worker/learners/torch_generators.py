"""State of torch's and numpy's global random generators."""

import numpy as np
import torch

from p2p.worker.saved_state import State

_CPU = "cpu"
_CUDA = "cuda"
_WORDS = "words"
_PLACE = "place"


def global_generators() -> State:
    """Current state."""
    kind, words, *place = np.random.get_state(legacy=True)
    assert kind == "MT19937", "numpy's global generator is of no other kind"
    state = {_CPU: torch.get_rng_state().numpy(), _WORDS: np.array(words), _PLACE: np.array(place, dtype=np.float64)}
    if torch.cuda.is_available():
        state |= {f"{_CUDA}{i}": one.numpy() for i, one in enumerate(torch.cuda.get_rng_state_all())}
    return state


def restore_global_generators(state: State) -> None:
    """Restore a saved state."""
    torch.set_rng_state(torch.tensor(state[_CPU]))
    position, has_gauss, cached = state[_PLACE].tolist()
    np.random.set_state(("MT19937", state[_WORDS], int(position), int(has_gauss), cached))
    devices = [torch.tensor(one) for name, one in state.items() if name.startswith(_CUDA)]
    if devices and len(devices) == torch.cuda.device_count():
        torch.cuda.set_rng_state_all(devices)
