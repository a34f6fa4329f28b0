"""What a host does with a reward on trial."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.worker.code_host.serve import Result
from p2p.worker.reward.recording import Recording
from p2p.worker.reward.service import ROWS, columns_of
from p2p.worker.reward.trial import try_source


class TrialService:
    """Rewards, each tried once. The other end is `try_hosted`.

    Args:
        progress: Where the line of code that ran out of time is told; nothing here.
    """

    def __init__(self, progress: NDArray[np.int64]) -> None:
        self._progress = progress

    def answer(self, _operation: str, fields: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Result:
        """Try a reward, which is all that is asked."""
        recording = Recording(**{name: arrays[name] for name in ROWS}, columns=columns_of(arrays))
        return try_source(fields["source"], recording).model_dump(mode="json"), None
