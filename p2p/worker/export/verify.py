"""Verify an export: every file acts like the policy and replays the recorded episode."""

from pathlib import Path

import numpy as np

from p2p.contracts.errors import P2PError
from p2p.contracts.work import FormatCheck, RecordedEpisode
from p2p.worker.export.replayed_episodes import gymnasium_return, trained_return
from p2p.worker.export.source import Source
from p2p.worker.export.standalone import OPENERS

LIMIT = 1e-5
"""Most an action may differ, as a share of its range."""


def check_format(name: str, files: tuple[Path, ...], source: Source, episode: RecordedEpisode) -> FormatCheck:
    """Load the files as a user would, compare their actions, and run the recorded episode.

    Raises:
        P2PError: they act otherwise than the policy.
    """
    act = OPENERS[name](files[0].parent)
    # Largest difference of the actions on the recorded observations, all at once and one by one.
    observations = source.observations
    policy = source.policy
    expected = policy.act(observations)
    single = act(observations[:1])
    difference = max(_share(act(observations) - expected, source), _share(single - expected[:1], source))
    if not difference <= LIMIT:
        raise P2PError(
            f"The {name} file does not reproduce the policy: actions differ by up to {difference:.3g} of their range "
            f"on {len(observations)} recorded observations, more than {LIMIT:g}. Nothing was exported."
        )
    return FormatCheck(
        format=name,
        files=tuple(path.name for path in files),
        n_observations=len(source.observations),
        max_difference=difference,
        trained_return=trained_return(source, act),
        gymnasium_return=gymnasium_return(source, episode, act),
    )


def _share(difference: np.ndarray, source: Source) -> float:
    span = source.policy.high.astype(np.float64) - source.policy.low
    return float(np.max(np.abs(difference) / span))
