# SPDX-License-Identifier: Apache-2.0
"""Moves registers into the DSP blocks of Lattice and UltraScale+ netlists, which Yosys leaves beside them.

A register without reset and enable that drives an operand of a block whole goes into the block (and stays beside it
where something else reads it); one that takes a product, which nothing else reads, replaces it. What the netlist
computes in every cycle stays the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

Bit = int | str


@dataclass
class Kind:
    """How a family writes what matters here."""

    flip_flop: str
    data: str
    clock: str
    # Pins that must not vary, with their value, for a register to be plain.
    plain: dict[str, str]
    # Block types to operands, each with what its register sets; and to the product.
    operands: dict[str, dict[str, dict[str, str]]]
    product: tuple[str, dict[str, str]]
    # Clock, enable and reset pin of an operand's or product's register.
    controls: dict[str, tuple[str, str, str]]
    constants: dict[str, str] = field(default_factory=dict)
    # The parameter by which a register begins with 1, as those of blocks do not.
    begins: str = ""
    # Pins that must not vary where the product's register is the one behind the multiplier: its adder's.
    adder: tuple[str, ...] = ()


def ecp5(pin: str) -> dict[str, str]:
    """An ECP5 register of a block on clock 0, never held, never reset."""
    return {f"REG_{pin}_CLK": "CLK0", f"REG_{pin}_CE": "CE0", f"REG_{pin}_RST": "RST0"}


KINDS = {
    "ecp5": Kind(
        flip_flop="TRELLIS_FF",
        data="DI",
        clock="CLK",
        plain={"LSR": "0", "CE": "1"},
        operands={"MULT18X18D": {"A": ecp5("INPUTA"), "B": ecp5("INPUTB")}},
        product=("P", ecp5("OUTPUT")),
        controls={pin: ("CLK0", "CE0", "RST0") for pin in "ABP"},
    ),
    "nexus": Kind(
        flip_flop="FD1P3IX",
        data="D",
        clock="CK",
        plain={"CD": "0", "SP": "1"},
        operands={
            name: {pin: {f"REGINPUT{pin}": "REGISTER"} for pin in "AB"}
            for name in ("MULT9X9", "MULT18X18", "MULT18X36", "MULT36X36")
        },
        product=("Z", {"REGOUTPUT": "REGISTER"}),
        controls={pin: ("CLK", f"CE{side}", f"RST{side}") for pin, side in (("A", "A"), ("B", "B"), ("Z", "OUT"))},
        constants={"VLO": "0", "VHI": "1"},
    ),
    # The 7-series' blocks take registers in Yosys itself, which chooses this one of a product.
    "xcup": Kind(
        flip_flop="FDRE",
        data="D",
        clock="C",
        plain={"R": "0", "CE": "1"},
        operands={"DSP48E2": {}},
        product=("P", {"MREG": f"{1:032b}"}),
        controls={"P": ("CLK", "CEM", "RSTM")},
        begins="INIT",
        adder=("C", "PCIN", "CARRYIN"),
    ),
}


class Registers:
    """A module's plain registers, and who reads what."""

    def __init__(self, module: dict, kind: Kind) -> None:
        self.kind = kind
        self.cells = module["cells"]
        self.fixed = {
            bit: kind.constants[cell["type"]]
            for cell in self.cells.values()
            if cell["type"] in kind.constants
            for bits in cell["connections"].values()
            for bit in bits
        }
        self.readers: dict[Bit, list[str]] = {}
        for port in module["ports"].values():
            for bit in port["bits"] if port["direction"] == "output" else ():
                self.readers.setdefault(bit, []).append("")
        self.by_output: dict[Bit, str] = {}
        self.by_input: dict[Bit, list[str]] = {}
        for name, cell in self.cells.items():
            pins = cell["connections"]
            for pin, bits in pins.items():
                if cell["port_directions"][pin] == "input":
                    for bit in bits:
                        self.readers.setdefault(bit, []).append(name)
            if self.is_plain(cell):
                self.by_output[pins["Q"][0]] = name
                self.by_input.setdefault(pins[kind.data][0], []).append(name)

    def is_plain(self, cell: dict) -> bool:
        """Takes a value each cycle, whatever else happens."""
        if cell["type"] != self.kind.flip_flop:
            return False
        if "1" in cell["parameters"].get(self.kind.begins, ""):
            return False
        pins = cell["connections"]
        held = {pin: self.value(pins[pin][0]) for pin in self.kind.plain if pins.get(pin)}
        return all(held[pin] == value for pin, value in self.kind.plain.items() if pin in held)

    def value(self, bit: Bit) -> Bit:
        """A constant, where the bit is one."""
        return self.fixed.get(bit, bit)

    def before(self, bits: list[Bit]) -> tuple[Bit, list[Bit]] | None:
        """Clock and data of the registers that drive all these bits."""
        clocks, data = set(), []
        for bit in bits:
            if isinstance(self.value(bit), str):
                data.append(bit)
                continue
            cell = self.cells.get(self.by_output.get(bit, ""))
            if cell is None:
                return None
            clocks.add(cell["connections"][self.kind.clock][0])
            data.append(cell["connections"][self.kind.data][0])
        return (clocks.pop(), data) if len(clocks) == 1 else None

    def behind(self, bits: list[Bit]) -> tuple[Bit, dict[Bit, list[str]]] | None:
        """Clock and registers that take these bits, where nothing else does."""
        clocks, taken = set(), {}
        for bit in bits:
            readers = self.readers.get(bit, [])
            taken[bit] = self.by_input.get(bit, [])
            if sorted(readers) != sorted(taken[bit]) or len(readers) > 1:
                return None
            clocks |= {self.cells[name]["connections"][self.kind.clock][0] for name in readers}
        return (clocks.pop(), taken) if len(clocks) == 1 else None


def wires(cell: dict, pin: str) -> list[tuple[str, int]]:
    """Where the bits of `pin` are: one port of many bits, or ports of one bit with their number behind."""
    pins = cell["connections"]
    if pin in pins:
        return [(pin, at) for at in range(len(pins[pin]))]
    return [(name, 0) for name in pins if re.fullmatch(rf"{pin}\d+", name)]


def absorb(module: dict, family: str) -> int:
    """Changes the module; how many registers of blocks are in use now."""
    kind = KINDS[family]
    registers = Registers(module, kind)
    used = 0
    for cell in list(module["cells"].values()):
        if cell["type"] not in kind.operands:
            continue
        pins = cell["connections"]
        operands = kind.operands[cell["type"]]
        found = {pin: registers.before([pins[p][at] for p, at in wires(cell, pin)]) for pin in operands}
        clocks = {before[0] for before in found.values() if before}
        moved = all(found.values()) and len(clocks) == 1
        if moved:
            for pin, (clock, data) in found.items():
                for (port, at), bit in zip(wires(cell, pin), data, strict=True):
                    pins[port][at] = bit
                enable(cell, registers, kind.controls[pin], clock, operands[pin])
            used += 1
        pin, options = kind.product
        where = wires(cell, pin)
        behind = registers.behind([pins[p][at] for p, at in where])
        adds = any(not isinstance(registers.value(bit), str) for p in kind.adder for bit in pins.get(p, []))
        if behind and not adds and (not clocks or clocks == {behind[0]}):
            clock, taken = behind
            for port, at in where:
                for name in taken[pins[port][at]]:
                    pins[port][at] = module["cells"].pop(name)["connections"]["Q"][0]
            enable(cell, registers, kind.controls[pin], clock, options)
            used += 1
        # A product's register had one reader and one source; operands' have readers anew.
        if moved:
            registers = Registers(module, kind)
    return used


def enable(
    cell: dict, registers: Registers, controls: tuple[str, str, str], clock: Bit, options: dict[str, str]
) -> None:
    """Puts a register of the block to work: never held, never reset."""
    one, zero = (next((bit for bit, is_ in registers.fixed.items() if is_ == value), value) for value in "10")
    for pin, bit in zip(controls, (clock, one, zero), strict=True):
        cell["connections"][pin] = [bit]
        cell["port_directions"][pin] = "input"
    cell["parameters"].update(options)
