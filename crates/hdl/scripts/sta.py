# SPDX-License-Identifier: Apache-2.0
"""The slowest path of a netlist of standard cells, by OpenSTA."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Collection
from pathlib import Path

# Long enough for any path of ours, so that what is left of it says how long the path is.
PERIOD = 1000.0


def slowest(tool: Path, liberty: Path, netlist: Path, top: str, ports: Collection[str]) -> dict | None:
    """Nanoseconds from register to register with a register at every port, and the path's ends; none without a path."""
    clock = "[get_ports clk_i]" if "clk_i" in ports else ""
    reset = "set_false_path -from [get_ports rst_ni]" if "rst_ni" in ports else ""
    script = netlist.with_suffix(".tcl")
    script.write_text(f"""
read_liberty {liberty}
read_verilog {netlist}
link_design {top}
create_clock -name clk -period {PERIOD} {clock}
set_input_delay 0 -clock clk [all_inputs]
set_output_delay 0 -clock clk [all_outputs]
{reset}
report_checks -path_delay max -digits 4
""")
    places = {"LD_LIBRARY_PATH": str(tool.parent / "lib"), "TCL_LIBRARY": str(tool.parent / "tcl")}
    run = subprocess.run([tool, "-exit", script], env={**os.environ, **places}, capture_output=True, text=True)
    if run.returncode or re.search(r"^Error", run.stdout + run.stderr, re.M):
        raise SystemExit(f"OpenSTA: {run.stdout[-2000:]}{run.stderr[-2000:]}")
    ends = re.search(r"^Startpoint: (\S+).*?^Endpoint: (\S+)", run.stdout, re.M | re.S)
    slack = re.search(r"^\s*(-?[\d.]+)\s+slack", run.stdout, re.M)
    if not ends or not slack:
        return None
    return {"ns": PERIOD - float(slack.group(1)), "from": ends.group(1), "to": ends.group(2)}
