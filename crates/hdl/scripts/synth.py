"""Request on stdin, {"cells": {type: count}} on stdout, the tool's own words on stderr."""

import json
import os
import sys
import tempfile
from pathlib import Path

from pyosys import libyosys as ys


def synthesise(request: dict, scratch: Path) -> dict[str, int]:
    """Cells by type."""
    design = ys.Design()
    parameters = " ".join(f"-G {p}" for p in request["params"])
    files = " ".join(linked(request["files"], scratch))
    top = request["top"]
    ys.run_pass(f"read_slang --top {top} {parameters} {files}", design)
    ys.run_pass(f"synth_xilinx -family xc7 -flatten -noiopad -noclkbuf -top {top}", design)
    ys.run_pass("check -assert", design)
    report = scratch / "stat.json"
    ys.run_pass(f"tee -q -o {report} stat -json", design)
    text = report.read_text()
    return json.loads(text[text.index("{") :])["design"]["num_cells_by_type"]


def linked(files: list[str], scratch: Path) -> list[str]:
    """Links under plain names: Yosys splits a command at spaces, wherever a source lies."""
    for file in files:
        (scratch / Path(file).name).symlink_to(file)
    return [str(scratch / Path(file).name) for file in files]


with os.fdopen(os.dup(1), "w") as answer, tempfile.TemporaryDirectory() as directory:
    os.dup2(2, 1)
    json.dump({"cells": synthesise(json.load(sys.stdin), Path(directory))}, answer)
