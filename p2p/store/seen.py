"""Pictures exactly as a judge was sent them, kept under the hash of their bytes."""

import hashlib
from pathlib import Path

from p2p.store import files, layout


class SeenPictures:
    """What judges were shown of one iteration.

    Args:
        iteration: Its directory.
    """

    def __init__(self, iteration: Path) -> None:
        self._directory = iteration / layout.SEEN

    def keep(self, data: bytes, suffix: str) -> tuple[Path, str]:
        """Keep a picture or a video; the same bytes are kept once.

        Returns:
            Its file, and the SHA-256 of its bytes.
        """
        digest = hashlib.sha256(data).hexdigest()
        path = self._directory / f"{digest[:16]}{suffix}"
        if not path.exists():
            with files.replacing(path) as temporary:
                temporary.write_bytes(data)
        return path, digest
