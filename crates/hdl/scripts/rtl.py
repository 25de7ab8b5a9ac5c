# SPDX-License-Identifier: Apache-2.0
"""What the scripts share: a request on stdin, progress and the answer on stdout, the tools' own words on stderr."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from pyosys import libyosys as ys

# Tells a stage, how many are done and how many there are.
Tell = Callable[[str, int, int], None]


# A register that synthesis for an FPGA neither merges nor takes into a shift register.
COPY = "rm_copy"


def read(request: dict, scratch: Path, apart: tuple[str, ...] = ()) -> ys.Design:
    """The elaborated top with its parameters; each instance of a module `apart` is a cell of its own."""
    design = ys.Design()
    parameters = " ".join(f"-G {p}" for p in request["params"])
    files = " ".join(linked(request["files"], scratch))
    boxes = " ".join(f"--blackboxed-module {module}" for module in apart if module != request["top"])
    # Tables of large rings are loops of tens of thousands of turns.
    limit = "--unroll-limit 1000000"
    ys.run_pass(f"read_slang --top {request['top']} {limit} {boxes} {parameters} {files}", design)
    return design


def linked(files: list[str], scratch: Path) -> list[str]:
    """Links under plain names: Yosys splits a command at spaces, wherever a source lies."""
    links = [scratch / Path(file).name for file in files]
    for file, link in zip(files, links, strict=True):
        if not link.is_symlink():
            link.symlink_to(file)
    return [str(link) for link in links]


def stat(design: ys.Design, scratch: Path, options: str = "") -> dict:
    """The report of `stat -json`."""
    report = scratch / "stat.json"
    ys.run_pass(f"tee -q -o {report} stat -json {options}", design)
    text = report.read_text()
    return json.loads(text[text.index("{") :])["design"]


def serve(work: Callable[[dict, Path, Tell], object]) -> None:
    """Answers the request with what `work` returns: lines {"stage", "done", "total"}, then one {"answer"}."""
    with os.fdopen(os.dup(1), "w") as out, tempfile.TemporaryDirectory() as directory:
        os.dup2(2, 1)

        def tell(stage: str, done: int, total: int) -> None:
            print(json.dumps({"stage": stage, "done": done, "total": total}), file=out, flush=True)

        answer = work(json.load(sys.stdin), Path(directory), tell)
        print(json.dumps({"answer": answer}), file=out)
