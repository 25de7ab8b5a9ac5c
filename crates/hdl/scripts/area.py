# SPDX-License-Identifier: Apache-2.0
"""{..., "liberty", "memory_words", "sta"} to {"area", "cells", "nand2", "library", "corner", "path", ...}: area of
standard cells, and the slowest path where there is an analyser.

Memories of at least so many words are left out: they would be macros. Their bits are counted apart, and paths from and
to them are not timed.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from pyosys import libyosys as ys
from rtl import Tell, read, serve, stat
from sta import slowest

# What the mapper of abc does; `stime` prints the delay that nobody but we should compare.
ABC = "+strash;dc2;map,-B,0.9;topo;buffer;upsize;dnsize;stime,-p"


def area(request: dict, scratch: Path, tell: Tell) -> dict:
    """Area and slowest path of the flattened top."""
    library = scratch / "cells.lib"
    library.symlink_to(request["liberty"])
    words = request["memory_words"]
    steps = {
        "elaborate": [],
        "coarse": [f"synth -noabc -booth -flatten -top {request['top']} -run begin:fine"],
        "memory": ["opt -fast -full", f"memory_map t:$mem_v2 r:SIZE>={words} %d", "opt -full"],
        "techmap": ["techmap", "opt -fast", "check -assert"],
        "map registers": [f"dfflibmap -liberty {library}", "opt -fast"],
        "map logic": [f"abc -liberty {library} -script {ABC}"],
        "clean": ["opt_clean"],
    }
    design = None
    for done, (stage, passes) in enumerate(steps.items()):
        tell(stage, done, len(steps) + 1)
        if design is None:
            design = read(request, scratch)
        for one in passes:
            ys.run_pass(one, design)
    memory = memories(design, scratch)
    found = stat(design, scratch, f"-liberty {library}")
    cells = {name: count for name, count in found["num_cells_by_type"].items() if not name.startswith("$")}
    area = found.get("area", 0.0)
    tell("time", len(steps), len(steps) + 1)
    path = timed(request, design, scratch) if request["sta"] else None
    return {**described(Path(request["liberty"])), "area": area, "cells": cells, "memory_bits": memory, "path": path}


def timed(request: dict, design: ys.Design, scratch: Path) -> dict | None:
    """The slowest path without the memories; none where there is none."""
    top, netlist = request["top"], scratch / "netlist.v"
    for one in ("delete t:$mem_v2", "delete t:$*", "setundef -zero", "opt_clean", "autoname"):
        ys.run_pass(one, design)
    ys.run_pass(f"tee -q -o {scratch}/log write_json {scratch}/netlist.json", design)
    module = json.loads((scratch / "netlist.json").read_text())["modules"][top]
    if not module["cells"]:
        return None
    ys.run_pass(f"write_verilog -noattr -simple-lhs {netlist}", design)
    return slowest(Path(request["sta"]), Path(request["liberty"]), netlist, top, module["ports"])


def memories(design: ys.Design, scratch: Path) -> int:
    """Bits of the memories that were left out."""
    listed = scratch / "memories.txt"
    ys.run_pass(f"tee -q -o {listed} dump t:$mem_v2", design)
    pairs = re.findall(r"parameter (?:signed )?\\(SIZE|WIDTH) (\d+)", listed.read_text())
    sizes = [int(value) for name, value in pairs if name == "SIZE"]
    widths = [int(value) for name, value in pairs if name == "WIDTH"]
    return sum(size * width for size, width in zip(sizes, widths, strict=True))


def described(liberty: Path) -> dict:
    """Name and corner of the library, and the area of its smallest NAND of two inputs."""
    text = liberty.read_text(errors="replace")
    name = re.search(r"\blibrary\s*\(\s*\"?([^\")\s]+)", text)
    corner = re.search(r"\bdefault_operating_conditions\s*:\s*\"?([^\";\s]+)", text)
    values = {key: re.search(rf"\bnom_{key}\s*:\s*([-\d.]+)", text) for key in ("voltage", "temperature")}
    nands = re.findall(r"\bcell\s*\(\s*\"?(\w*nand2\w*)\"?\s*\)\s*\{\s*area\s*:\s*([\d.]+)", text, re.I)
    if not name or not nands:
        raise SystemExit(f"{liberty}: no library name, or no NAND gate of two inputs to count in")
    return {
        "library": name.group(1),
        "corner": corner.group(1) if corner else "nominal",
        "voltage": float(values["voltage"].group(1)) if values["voltage"] else None,
        "temperature": float(values["temperature"].group(1)) if values["temperature"] else None,
        "nand2": min(float(size) for _, size in nands),
    }


serve(area)
