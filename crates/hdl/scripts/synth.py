# SPDX-License-Identifier: Apache-2.0
"""{..., "family", "once", "apart", "most_levels", "most_carry"} to {"cells": {type: count}, "pairs", "paths"}."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from absorb import KINDS, absorb
from levels import measured
from pairs import pairs
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

# What `rm_copy` is in a Xilinx part.
COPIES = r"""
module rm_copy #(parameter Width = 1) (input clk_i, input [Width-1:0] d_i, output [Width-1:0] q_o);
  genvar i;
  generate for (i = 0; i < Width; i = i + 1) begin : gen_bit
    FDRE #(.INIT(1'bx)) copy_q (.C(clk_i), .CE(1'b1), .D(d_i[i]), .R(1'b0), .Q(q_o[i]));
  end endgenerate
endmodule
"""

# What `rm_dsp_mac` is in UltraScale+: W is C, X and Y are the product, Z nothing or the neighbour's sum, 17 bits lower.
MAC = "rm_dsp_mac"
MACS = r"""
module rm_dsp_mac #(
    parameter AWidth = 27, parameter BWidth = 18, parameter InReg = 1, parameter CReg = 1, parameter Chain = 0
) (
    input clk_i, input signed [AWidth-1:0] a_i, input signed [BWidth-1:0] b_i,
    input [47:0] c_i, input [47:0] pc_i, output [47:0] p_o, output [47:0] pc_o
);
  wire signed [29:0] a = a_i;
  wire signed [17:0] b = b_i;
  DSP48E2 #(
      .AMULTSEL("A"), .BMULTSEL("B"), .A_INPUT("DIRECT"), .B_INPUT("DIRECT"), .USE_MULT("MULTIPLY"),
      .AREG(InReg ? 1 : 0), .ACASCREG(InReg ? 1 : 0), .BREG(InReg ? 1 : 0), .BCASCREG(InReg ? 1 : 0),
      .CREG(CReg ? 1 : 0), .MREG(1), .PREG(1), .ADREG(0), .DREG(0), .ALUMODEREG(0), .CARRYINREG(0),
      .CARRYINSELREG(0), .INMODEREG(0), .OPMODEREG(0)
  ) mac (
      .CLK(clk_i), .A(a), .B(b), .C(c_i), .PCIN(pc_i), .P(p_o), .PCOUT(pc_o),
      .OPMODE(Chain ? 9'b111010101 : 9'b110000101), .ALUMODE(4'b0000), .INMODE(5'b00000),
      .CARRYIN(1'b0), .CARRYINSEL(3'b000),
      .CEA1(1'b0), .CEA2(1'b1), .CEB1(1'b0), .CEB2(1'b1), .CEC(1'b1), .CEM(1'b1), .CEP(1'b1),
      .RSTA(1'b0), .RSTB(1'b0), .RSTC(1'b0), .RSTM(1'b0), .RSTP(1'b0)
  );
endmodule
"""

# Modules that are mapped last of all, and what each is.
OWN = {COPY: COPIES, MAC: MACS}


def synthesise(request: dict, scratch: Path, tell: Tell) -> dict:
    """Cells by type, flattened, without I/O and clock buffers, how many pairs of tables share a place, and how long the
    paths between registers are.

    Modules of `once` are mapped by themselves and put in the place of their instances before anything is counted. Those
    of `apart` are not there: nothing of them is counted, and no path begins or ends at them.
    """
    top, once, apart = request["top"], request["once"], request["apart"]
    own = (COPY, MAC) if request["family"] == "xcup" and top != MAC else (COPY,)
    (scratch / "own.v").write_text("".join(OWN[module] for module in own))
    steps = len(STAGES) * (1 + len(once)) + 2
    tell("elaborate", 0, steps)
    design = read(request, scratch, (*own, *once, *apart))
    parametric(design, request, scratch, own)
    if apart:
        cells = netlist(design, scratch)[top]["cells"].values()
        for module, names in {cell["type"]: cell["parameters"] for cell in cells if cell["type"] in apart}.items():
            plain(design, module, names)
    for number, module in enumerate(once):
        params = parameters(netlist(design, scratch), module)
        part = read({**request, "top": module, "params": [f"{p}={v}" for p, v in params.items()]}, scratch, own)
        parametric(part, request, scratch, own)
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
        "pairs": pairs(flat),
        "paths": measured(flat, request["most_levels"], request["most_carry"]),
    }


def mapped(design: ys.Design, request: dict, scratch: Path, tell: Tell, so_far: tuple[int, int]) -> None:
    """Runs `synth_xilinx`, stage by stage; `so_far` are the stages done before, and all there are."""
    before, steps = so_far
    flow = f"synth_xilinx -family {request['family']} -flatten -noiopad -noclkbuf -top {request['top']}"
    for done, (stage, after) in enumerate(zip(STAGES, (*STAGES[1:], ""), strict=True), before + 1):
        tell(stage, done, steps)
        if stage == "map_memory" and request["family"] != "xcup":
            # What has no ultra RAM takes block RAM in its place.
            ultra = f"40'b{int.from_bytes(b'ultra', 'big'):040b}"
            ys.run_pass(f'setattr -set ram_style "block" t:$mem_v2 a:ram_style={ultra} %i', design)
        ys.run_pass(f"{flow} -run {stage}:{after}", design)
    ys.run_pass(f"techmap -map {scratch}/own.v", design)
    ys.run_pass("clean", design)


def parametric(design: ys.Design, request: dict, scratch: Path, own: tuple[str, ...]) -> None:
    """Gives the black boxes of `own` modules their parameters, which their instances have."""
    there = {Path(file).stem for file in request["files"]}
    for module in there.intersection(own) - {request["top"]}:
        (scratch / f"{module}.v").write_text(OWN[module])
        for one in (f"delete ={module}", f"read_verilog -lib {scratch}/{module}.v"):
            ys.run_pass(one, design)


def plain(design: ys.Design, module: str, names: Iterable[str]) -> None:
    """Takes parameters of a module's instances away: what is mapped, or left out, has none."""
    for name in names:
        ys.run_pass(f"setparam -unset {name} t:{module}", design)


def parameters(found: dict, module: str) -> dict[str, str]:
    """Those of a module's instances in all modules of a netlist, which must have the same, as sized numbers."""
    cells = (cell for parent in found.values() for cell in parent["cells"].values())
    of = [cell["parameters"] for cell in cells if cell["type"] == module]
    if not of or any(other != of[0] for other in of):
        raise SystemExit(f"{module} is to be mapped once, and has {len(of)} instances, not all of the same parameters")
    return {name: f"{len(value)}'b{value}" for name, value in of[0].items()}


def netlist(design: ys.Design, scratch: Path) -> dict:
    """The modules of a design, as `write_json` has them."""
    ys.run_pass(f"tee -q -o {scratch}/log write_json {scratch}/netlist.json", design)
    return json.loads((scratch / "netlist.json").read_text())["modules"]


serve(synthesise)
