"""{..., "family", "once", "apart", "most_levels", "most_carry"} to {"cells": {type: count}, "paths"}: for Xilinx."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from absorb import KINDS, absorb
from levels import measured
from pyosys import libyosys as ys
from rtl import COPY, Tell, read, serve

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
    """Cells by type, flattened, without I/O and clock buffers, and how long the paths between registers are.

    Modules of `once` are mapped by themselves and put in the place of their instances before anything is counted. Those
    of `apart` are not there: nothing of them is counted, and no path begins or ends at them.
    """
    (scratch / "copy.v").write_text(COPIES)
    top, once, apart = request["top"], request["once"], request["apart"]
    steps = len(STAGES) * (1 + len(once)) + 2
    tell("elaborate", 0, steps)
    design = read(request, scratch, (COPY, *once, *apart))
    if apart:
        cells = netlist(design, scratch)[top]["cells"].values()
        for module, names in {cell["type"]: cell["parameters"] for cell in cells if cell["type"] in apart}.items():
            plain(design, module, names)
    for number, module in enumerate(once):
        params = parameters(netlist(design, scratch)[top], module)
        part = read({**request, "top": module, "params": [f"{p}={v}" for p, v in params.items()]}, scratch, (COPY,))
        mapped(part, {**request, "top": module}, scratch, tell, (number * len(STAGES), steps))
        for one in ("setattr -mod -unset top", f"select {module}", f"write_rtlil -selected {scratch}/{module}.il"):
            ys.run_pass(one, part)
        plain(design, module, params)
    mapped(design, request, scratch, tell, (len(once) * len(STAGES), steps))
    for module in once:
        for one in (f"delete ={module}", f"read_rtlil {scratch}/{module}.il"):
            ys.run_pass(one, design)
    for one in ("flatten -noscopeinfo", "clean", "check -assert"):
        ys.run_pass(one, design)
    tell("paths", steps - 1, steps)
    flat = netlist(design, scratch)[top]
    flat["cells"] = {name: cell for name, cell in flat["cells"].items() if cell["type"] not in apart}
    if request["family"] in KINDS:
        absorb(flat, request["family"])
    return {
        "cells": Counter(cell["type"] for cell in flat["cells"].values()),
        "paths": measured(flat, request["most_levels"], request["most_carry"]),
    }


def mapped(design: ys.Design, request: dict, scratch: Path, tell: Tell, so_far: tuple[int, int]) -> None:
    """Runs `synth_xilinx`, stage by stage; `so_far` are the stages done before, and all there are."""
    before, steps = so_far
    flow = f"synth_xilinx -family {request['family']} -flatten -noiopad -noclkbuf -top {request['top']}"
    for done, (stage, after) in enumerate(zip(STAGES, (*STAGES[1:], ""), strict=True), before + 1):
        tell(stage, done, steps)
        ys.run_pass(f"{flow} -run {stage}:{after}", design)
    ys.run_pass(f"techmap -map {scratch}/copy.v", design)
    ys.run_pass("clean", design)


def plain(design: ys.Design, module: str, names: Iterable[str]) -> None:
    """Takes parameters of a module's instances away: what is mapped, or left out, has none."""
    for name in names:
        ys.run_pass(f"setparam -unset {name} t:{module}", design)


def parameters(found: dict, module: str) -> dict[str, int]:
    """Those of a module's instances in a netlist, which must have the same."""
    of = [cell["parameters"] for cell in found["cells"].values() if cell["type"] == module]
    if not of or any(other != of[0] for other in of):
        raise SystemExit(f"{module} is to be mapped once, and has {len(of)} instances, not all of the same parameters")
    return {name: int(value, 2) for name, value in of[0].items()}


def netlist(design: ys.Design, scratch: Path) -> dict:
    """The modules of a design, as `write_json` has them."""
    ys.run_pass(f"tee -q -o {scratch}/log write_json {scratch}/netlist.json", design)
    return json.loads((scratch / "netlist.json").read_text())["modules"]


serve(synthesise)
