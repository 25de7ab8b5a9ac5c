# SPDX-License-Identifier: Apache-2.0
"""The line in each source file that names its licence: `python release/spdx.py` writes it where it is not there.

It is the first line, or the second behind `#!`. The files are those that git has or would add.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LINE = "SPDX-License-Identifier: Apache-2.0"
# How a comment begins, by the end of a file's name.
COMMENTS = {
    **dict.fromkeys((".rs", ".sv", ".svh", ".c", ".cpp", ".h", ".go"), "//"),
    **dict.fromkeys((".py", ".pyi", ".sh"), "#"),
}


def sources() -> list[Path]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout.decode().split("\0")
    paths = [ROOT / name for name in names if Path(name).suffix in COMMENTS]
    return [path for path in paths if path.is_file() and path.stat().st_size]


def place(text: str) -> int:
    """Where the line has to begin."""
    return text.index("\n") + 1 if text.startswith("#!") and not text.startswith("#![") else 0


def named(path: Path, text: str) -> bool:
    """Whether the file names its licence."""
    return text[place(text) :].startswith(f"{COMMENTS[path.suffix]} {LINE}\n")


def with_line(path: Path, text: str) -> str:
    at = place(text)
    return f"{text[:at]}{COMMENTS[path.suffix]} {LINE}\n{text[at:]}"


def main() -> int:
    texts = {path: path.read_text(encoding="utf-8") for path in sources()}
    lacking = {path: text for path, text in texts.items() if not named(path, text)}
    for path, text in lacking.items():
        path.write_text(with_line(path, text), encoding="utf-8")
    print(f"{len(lacking)} of {len(texts)} source files did not name their licence; now they do")
    return 0


if __name__ == "__main__":
    sys.exit(main())
