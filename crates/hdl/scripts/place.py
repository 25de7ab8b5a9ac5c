# SPDX-License-Identifier: Apache-2.0
"""{..., "part", "mhz", "seed"} to {"mhz", "cells": {type: count}, "absorbed", "path"} or {"misfit"}: place and route
for a Lattice part.

The top gets a register at every port: inputs from a shift register, outputs into one. So a few pins carry any width,
and the frequency found is that of paths from register to register, through the top. Registers beside DSP blocks go into
them.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from absorb import absorb
from pyosys import libyosys as ys
from rtl import Tell, read, serve

CLOCKS = ("clk_i", "rst_ni")
# From the widest product to the narrowest: most bits of each operand, fewest of each, name.
NEXUS_PRODUCTS = (
    (36, 36, 22, 22, "36X36"),
    (36, 18, 22, 10, "36X18"),
    (18, 18, 10, 4, "18X18"),
    (18, 18, 4, 10, "18X18"),
    (9, 9, 4, 4, "9X9"),
)


def synth_ecp5(design: ys.Design) -> None:
    """The netlist of `frame` for ECP5."""
    ys.run_pass("synth_ecp5 -top frame", design)


def synth_nexus(design: ys.Design) -> None:
    """The netlist of `frame` for Nexus.

    Products are mapped by themselves: the pass that `synth_nexus` has for them ties the operands of a second block to 0
    when two blocks share a register (Yosys 0.70).
    """
    ys.run_pass("read_verilog -lib +/lattice/cells_bb_nexus.v", design)
    for one in ("hierarchy -check -top frame", "proc", "flatten", "opt", "wreduce", "peepopt", "opt_clean"):
        ys.run_pass(one, design)
    for a, b, least_a, least_b, name in NEXUS_PRODUCTS:
        most = f"-D DSP_A_MAXWIDTH={a} -D DSP_B_MAXWIDTH={b}"
        least = f"-D DSP_A_MINWIDTH={least_a} -D DSP_B_MINWIDTH={least_b}"
        ys.run_pass(f"techmap -map +/mul2dsp.v {most} {least} -D DSP_NAME=$__NX_MUL{name}", design)
        ys.run_pass("chtype -set $mul t:$__soft_mul", design)
    ys.run_pass("techmap -map +/lattice/dsp_map_nexus.v", design)
    ys.run_pass("synth_nexus -nodsp -top frame", design)


def unchained(module: dict) -> None:
    """nextpnr takes no carry from a constant 0 but none at all, which is the same."""
    cells = module["cells"].values()
    zeros = {cell["connections"]["Z"][0] for cell in cells if cell["type"] == "VLO"}
    for cell in cells:
        if cell["type"] == "CCU2" and set(cell["connections"].get("CIN", ())) & zeros:
            del cell["connections"]["CIN"]


@dataclass
class Part:
    """How a part is synthesised for and what nextpnr is told of it."""

    synth: Callable[[ys.Design], None]
    options: tuple[str, ...]
    # Where pins go, and a clock on the die where it must not come from a pin.
    constraints: str = ""
    clock: str = ""


PINS = {"rst_n": "G14", "shift": "E17", "serial_in": "F13", "serial_out": "G13"}
PARTS = {
    "ecp5": Part(synth_ecp5, ("--85k", "--package", "CABGA381", "--speed", "6")),
    "nexus": Part(
        synth_nexus,
        ("--device", "LIFCL-40-9BG400C", "--pdc", "pins.pdc"),
        "".join(f"ldc_set_location -site {{{site}}} [get_ports {pin}]\n" for pin, site in PINS.items()),
        '  wire clk;\n  OSCA #(.HF_CLK_DIV("1")) oscillator (.HFOUTEN(1\'b1), .HFCLKOUT(clk));\n',
    ),
}


def place(request: dict, scratch: Path, tell: Tell) -> dict:
    """Frequency in MHz and used cells by type."""
    tell("elaborate", 0, 3)
    design = read(request, scratch)
    name, top = request["part"], request["top"]
    part = PARTS[name]
    ys.run_pass(f"hierarchy -check -top {top}", design)
    ys.run_pass(f"tee -q -o {scratch}/log write_json {scratch}/top.json", design)
    ports = json.loads((scratch / "top.json").read_text())["modules"][top]["ports"]
    (scratch / "frame.v").write_text(frame(top, ports, part.clock))
    tell("synthesise", 1, 3)
    ys.run_pass(f"read_verilog {scratch}/frame.v", design)
    part.synth(design)
    ys.run_pass("autoname", design)
    ys.run_pass(f"tee -q -o {scratch}/log write_json {scratch}/netlist.json", design)
    netlist = json.loads((scratch / "netlist.json").read_text())
    absorbed = absorb(netlist["modules"]["frame"], name)
    unchained(netlist["modules"]["frame"])
    (scratch / "netlist.json").write_text(json.dumps(netlist))
    (scratch / "pins.pdc").write_text(part.constraints)
    tell("place and route", 2, 3)
    options = ["--freq", str(request["mhz"]), "--seed", str(request["seed"]), "--timing-allow-fail"]
    files = ["--json", "netlist.json", "--report", "report.json"]
    tool = Path(sys.executable).with_name(f"yowasp-nextpnr-{name}")
    words = subprocess.run([tool, *part.options, *options, *files], cwd=scratch, capture_output=True, text=True)
    if words.returncode:
        print(words.stderr, file=sys.stderr)
        return {"misfit": misfit(words.stderr)}
    report = json.loads((scratch / "report.json").read_text())
    clocks = [clock["achieved"] for clock_name, clock in report["fmax"].items() if re.search("clk", clock_name)]
    if len(clocks) != 1:
        raise SystemExit(f"one clock was expected, not {list(report['fmax'])}")
    cells = {cell: use["used"] for cell, use in report["utilization"].items() if use["used"]}
    return {"mhz": clocks[0], "cells": cells, "absorbed": absorbed, "path": slowest(report["critical_paths"])}


def misfit(words: str) -> str:
    """Why nextpnr would not place the design, where the reason is its size or a cell that the part has not."""
    reasons = r"[Uu]nable to (find legal )?place|no Bels? remaining|no BELs? remaining|not supported|failed to place"
    found = re.search(rf"ERROR: (.*({reasons}).*)", words)
    if not found:
        raise SystemExit("nextpnr failed")
    return found.group(1)


def slowest(paths: list[dict]) -> dict:
    """Ends of the path that sets the clock, and nanoseconds in cells and in wires."""
    (path,) = (p["path"] for p in paths if re.search("posedge.*clk", p["from"]) and p["from"] == p["to"])
    spent = {"logic": 0.0, "wires": 0.0}
    for step in path:
        spent["wires" if step["type"] == "routing" else "logic"] += step["delay"]
    return {"from": path[0]["from"]["cell"], "to": path[-1]["to"]["cell"], **spent}


def frame(top: str, ports: dict, clock: str) -> str:
    """The top between two shift registers."""
    sides = {side: [] for side in ("input", "output")}
    for name, port in ports.items():
        if name not in CLOCKS:
            sides[port["direction"]].append((name, len(port["bits"])))
    connections = [f".{name}({pin})" for name, pin in zip(CLOCKS, ("clk", "rst_n"), strict=True) if name in ports]
    for side, bus in (("input", "from"), ("output", "to")):
        at = 0
        for name, width in sides[side]:
            connections.append(f".{name}({bus}[{at} +: {width}])")
            at += width
    widths = {side: sum(width for _, width in found) for side, found in sides.items()}
    return f"""
module frame ({"" if clock else "input clk, "}input rst_n, input shift, input serial_in, output serial_out);
{clock}  reg [{widths["input"]}:0] from;
  wire [{widths["output"]}:0] to;
  reg [{widths["output"]}:0] kept;
  assign to[{widths["output"]}] = 1'b0;
  assign serial_out = kept[{widths["output"]}];
  always @(posedge clk) from <= {{from, serial_in}};
  always @(posedge clk) kept <= shift ? {{kept, 1'b0}} : to;
  {top} dut ({", ".join(connections)});
endmodule
"""


serve(place)
