"""Fetch the scripts and styles of others that `p2p web` serves, as npm packages of the registry npm is configured for.

    python requirements/vendor.py                 the versions of vendor.toml, held against their hashes
    python requirements/vendor.py uplot@1.6.33    another version of one: its files and hashes are written down

It needs npm; whoever uses or tests p2p needs neither npm nor Node.
"""

import hashlib
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "p2p/web/pages/static/vendor"
LIST = FOLDER / "vendor.toml"


def main(*wanted: str) -> int:
    """Fetch every package, or those that are wanted in another version. Exit code 1 where a hash differs."""
    versions = dict(word.rsplit("@", 1) for word in wanted)
    text = LIST.read_text(encoding="utf-8")
    known: dict[str, dict[str, Any]] = tomllib.loads(text)
    if unknown := versions.keys() - {one["package"] for one in known.values()}:
        print(f"{LIST.name} lists no {', '.join(sorted(unknown))}.", file=sys.stderr)
        return 2
    wrong = 0
    for name, one in known.items():
        version = versions.get(one["package"], one["version"])
        renewed = version != one["version"]
        fetched = packed(one["package"], version, [file["from"] for file in one["files"].values()])
        if renewed:
            text = re.sub(rf'(\[{re.escape(name)}\]\nversion = )"[^"]*"', rf'\1"{version}"', text)
        for file_name, file in one["files"].items():
            found = hashlib.sha256(fetched[file["from"]]).hexdigest()
            if found != file["sha256"] and not renewed:
                print(f"{file_name}: {one['package']} {version} holds another file, {found}: nothing written.")
                wrong += 1
                continue
            place = FOLDER / file_name
            same = place.exists() and place.read_bytes() == fetched[file["from"]]
            place.write_bytes(fetched[file["from"]])
            text = text.replace(file["sha256"], found)
            print(f"{file_name}: {one['package']} {version}, {'as it was' if same else 'CHANGED'}")
    LIST.write_text(text, encoding="utf-8")
    return 1 if wrong else 0


def packed(package: str, version: str, names: list[str]) -> dict[str, bytes]:
    """Files of a package as its authors published it.

    Raises:
        subprocess.CalledProcessError: npm finds no such version.
        KeyError: the package has no such file.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = ("npm", "pack", "--silent", "--ignore-scripts", f"{package}@{version}")
        subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=True)
        (archive,) = Path(folder).glob("*.tgz")
        found = {}
        with tarfile.open(archive) as tar:
            for name in names:
                member = tar.extractfile(f"package/{name}")
                if member is None:
                    raise KeyError(name)
                found[name] = member.read()
    return found


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
