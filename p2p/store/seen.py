"""Pictures exactly as sent to a judge, stored by content hash."""

import hashlib
from pathlib import Path

from p2p.store import files, layout


class SeenPictures:
    """Pictures of one iteration that judges were shown.

    Args:
        iteration: Its directory.
    """

    def __init__(self, iteration: Path) -> None:
        self._directory = iteration / layout.SEEN

    def keep(self, data: bytes, suffix: str) -> tuple[Path, str]:
        """Save a picture or video; equal bytes are stored once.

        Returns:
            Its file, and the SHA-256 of its bytes.
        """
        digest = hashlib.sha256(data).hexdigest()
        path = self._directory / f"{digest[:16]}{suffix}"
        if not path.exists():
            with files.replacing(path) as temporary:
                temporary.write_bytes(data)
        return path, digest
