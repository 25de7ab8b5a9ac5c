"""Registers behind DSP48E2 blocks go into them.

`synth_xilinx` does so with the DSP48E1 of the 7-series and leaves those of UltraScale+ without registers. A block
that only multiplies, and whose product goes to registers only, which nothing resets and nothing holds, has the same
register of its own behind the multiplier (MREG), as Yosys chooses it for the 7-series.
"""

from __future__ import annotations

# How `write_json` has a register that is not used, and one that is.
UNUSED, USED = f"{0:032b}", f"{1:032b}"


def packed(module: dict) -> dict:
    """The module of a netlist with the registers in the blocks that feed them alone."""
    readers: dict[int | str, list[tuple[str, str]]] = {}
    for name, cell in module["cells"].items():
        for pin, wires in cell["connections"].items():
            if cell["port_directions"][pin] == "input":
                for bit in wires:
                    readers.setdefault(bit, []).append((name, pin))
    for port in module["ports"].values():
        if port["direction"] == "output":
            for bit in port["bits"]:
                readers.setdefault(bit, []).append(("", ""))
    cells = dict(module["cells"])
    for name, cell in module["cells"].items():
        if cell["type"] == "DSP48E2" and (found := behind(cell, readers, module["cells"])):
            pins = dict(cell["connections"])
            pins["P"] = [found[bit][1] if bit in found else bit for bit in pins["P"]]
            cells[name] = {**cell, "parameters": {**cell["parameters"], "MREG": USED}, "connections": pins}
            for register, _ in found.values():
                del cells[register]
    return {**module, "cells": cells}


def behind(cell: dict, readers: dict, cells: dict) -> dict[int, tuple[str, int]]:
    """Of each bit of a block's product the register and what it gives; none where one bit goes elsewhere."""
    found: dict[int, tuple[str, int]] = {}
    option, pins = cell["parameters"], cell["connections"]
    if any(option.get(register, UNUSED) != UNUSED for register in ("MREG", "PREG")):
        return found
    # What else its adder would take.
    if any(not isinstance(bit, str) for pin in ("C", "PCIN", "CARRYIN") for bit in pins.get(pin, [])):
        return found
    for bit in pins["P"]:
        sinks = readers.get(bit, [])
        if not sinks:
            continue
        (register, pin), *others = sinks
        if others or pin != "D" or not plain(cells[register]):
            return {}
        found[bit] = (register, cells[register]["connections"]["Q"][0])
    return found


def plain(cell: dict) -> bool:
    """Whether a register takes a value in every cycle, and begins with none or zero."""
    pins, begins = cell["connections"], cell["parameters"].get("INIT", "x")
    return cell["type"] == "FDRE" and pins["CE"] == ["1"] and pins["R"] == ["0"] and "1" not in begins
