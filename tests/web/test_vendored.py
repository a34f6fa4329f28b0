import hashlib
import tomllib
from importlib.resources import files
from typing import Any

import pytest

VENDOR = files("p2p.web.pages") / "static/vendor"
FREE = {"MIT", "0BSD", "BSD-3-Clause"}
"""Licences that let p2p hand a file on."""


def vendored() -> dict[str, dict[str, Any]]:
    return tomllib.loads((VENDOR / "vendor.toml").read_text("utf-8"))


def test_each_vendored_file_is_the_one_that_its_authors_published() -> None:
    published = {name: file["sha256"] for one in vendored().values() for name, file in one["files"].items()}
    here = {one.name: hashlib.sha256(one.read_bytes()).hexdigest() for one in VENDOR.iterdir()}
    here.pop("vendor.toml")
    assert here == published


@pytest.mark.parametrize("package", sorted(vendored()))
def test_a_vendored_package_comes_with_its_licence(package: str) -> None:
    one = vendored()[package]
    assert one["licence"] in FREE
    assert "permission" in " ".join((VENDOR / one["licence_file"]).read_text("utf-8").lower().split())
    assert one["licence_file"] in one["files"]
