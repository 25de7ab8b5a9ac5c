"""{..., "family", "most_levels", "most_carry"} to {"cells": {type: count}, "paths"}: synthesis for a Xilinx family."""

from __future__ import annotations

import json
from pathlib import Path

from levels import measured
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

# What `rm_copy_bit` is in a Xilinx part.
COPIES = r"""
module rm_copy_bit (input clk_i, input d_i, output q_o);
  FDRE #(.INIT(1'bx)) copy_q (.C(clk_i), .CE(1'b1), .D(d_i), .R(1'b0), .Q(q_o));
endmodule
"""


def synthesise(request: dict, scratch: Path, tell: Tell) -> dict:
    """Cells by type, flattened, without I/O and clock buffers, and how long the paths between registers are."""
    steps = len(STAGES) + 2
    tell("elaborate", 0, steps)
    design = read(request, scratch, copies=True)
    flow = f"synth_xilinx -family {request['family']} -flatten -noiopad -noclkbuf -top {request['top']}"
    for done, (stage, after) in enumerate(zip(STAGES, (*STAGES[1:], ""), strict=True), 1):
        tell(stage, done, steps)
        ys.run_pass(f"{flow} -run {stage}:{after}", design)
    (scratch / "copy.v").write_text(COPIES)
    ys.run_pass(f"techmap -map {scratch}/copy.v", design)
    ys.run_pass("clean", design)
    ys.run_pass("check -assert", design)
    tell("paths", steps - 1, steps)
    ys.run_pass(f"tee -q -o {scratch}/log write_json {scratch}/netlist.json", design)
    module = json.loads((scratch / "netlist.json").read_text())["modules"][request["top"]]
    return {
        "cells": stat(design, scratch)["num_cells_by_type"],
        "paths": measured(module, request["most_levels"], request["most_carry"]),
    }


serve(synthesise)
