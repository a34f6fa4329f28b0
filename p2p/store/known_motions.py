"""Motion clips with known truth: states and features."""

from pathlib import Path

from p2p.contracts.known_motions import ClipSet, KnownMotionsRequest
from p2p.store import files, layout


class KnownMotionsRecord:
    """Job directory of one robot's clips."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.states_path = path / layout.CLIP_STATES
        self.features_path = path / layout.FEATURES

    def save_request(self, request: KnownMotionsRequest) -> None:
        """Write the request for clips."""
        files.write_model(self.path / layout.REQUEST, request)

    def read_request(self) -> KnownMotionsRequest | None:
        """Request for clips."""
        return files.read_model(self.path / layout.REQUEST, KnownMotionsRequest)

    def save_clips(self, clips: ClipSet) -> None:
        """Write `clips.json`, which marks them as complete."""
        files.write_model(self.path / layout.CLIPS, clips)

    def read_clips(self) -> ClipSet | None:
        """The clips; None before they exist."""
        return files.read_model(self.path / layout.CLIPS, ClipSet)
