# SPDX-License-Identifier: Apache-2.0
"""The sources with faults: a copy of the tracked tree below `target/mutants`."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "target" / "mutants"
TREE = WORK / "tree"
TARGET = WORK / "build"


def tracked() -> set[str]:
    """Returns the paths of all files that git tracks and that exist."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True)
    return {path for path in listed.stdout.decode().split("\0") if path and (ROOT / path).is_file()}


def write(path: Path, content: bytes) -> None:
    """Writes a file if its content differs, since cargo rebuilds everything that depends on a newer file."""
    if not path.is_file() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def copy(changed: dict[str, bytes]) -> None:
    """Makes the copy equal to the tracked tree, except for files in `changed`, which get the content given there."""
    files = tracked()
    for path in sorted(files):
        write(TREE / path, changed[path] if path in changed else (ROOT / path).read_bytes())
        (TREE / path).chmod((ROOT / path).stat().st_mode)
    for old in TREE.rglob("*"):
        if old.is_file() and old.relative_to(TREE).as_posix() not in files:
            old.unlink()
