"""{..., "family"} to {"cells": {type: count}}: synthesis for a Xilinx family."""

from __future__ import annotations

from pathlib import Path

from pyosys import libyosys as ys
from rtl import Tell, read, serve, stat

# Labels of synth_xilinx; each runs up to the next.
STAGES = (
    "begin",
    "prepare",
    "map_dsp",
    "coarse",
    "map_memory",
    "map_ffram",
    "fine",
    "map_cells",
    "map_ffs",
    "map_luts",
    "finalize",
    "check",
)


def synthesise(request: dict, scratch: Path, tell: Tell) -> dict:
    """Cells by type, flattened, without I/O and clock buffers."""
    tell("elaborate", 0, len(STAGES) + 1)
    design = read(request, scratch)
    flow = f"synth_xilinx -family {request['family']} -flatten -noiopad -noclkbuf -top {request['top']}"
    for done, (stage, after) in enumerate(zip(STAGES, (*STAGES[1:], ""), strict=True), 1):
        tell(stage, done, len(STAGES) + 1)
        ys.run_pass(f"{flow} -run {stage}:{after}", design)
    ys.run_pass("check -assert", design)
    return {"cells": stat(design, scratch)["num_cells_by_type"]}


serve(synthesise)
