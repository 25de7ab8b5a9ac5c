# SPDX-License-Identifier: Apache-2.0
"""Logic levels and carry bits between the registers of a netlist that `synth_xilinx` made.

A path begins where a clock puts a value out (flip-flop, memory, DSP block, port: as if a register stood there) and ends
where a clock takes one in. Its levels are its look-up tables; its carry bits are the carry multiplexers that it passes,
of all chains together. What is neither counts as many levels as its delay is worth (`WORTH`). Longest levels and
longest carry are found apart: a path may be the worst in one of them only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# In levels of 0.7 ns, a look-up table and its wire, from the delays that Yosys' `cells_sim.v` has for the 7-series:
# from DSP input to M register 1.4 ns, from there to P 1.3; from the clock to the output of a block RAM 2.5 (0.9 where
# it has an output register), of a shift register 1.5, of distributed RAM 1.2, of a flip-flop 0.3.
WORTH = {"multiplier": 2, "adder": 2, "block": 3, "block_registered": 1, "shift": 2, "distributed": 1}
FLIP_FLOPS = re.compile(r"FD[RSCP]E(_1)?$")
TABLES = re.compile(r"LUT[1-6]$|INV$")
MUXES = re.compile(r"MUXF[789]$")
BLOCKS = re.compile(r"RAMB(18|36)E[12]$|URAM288$")
# From address ports to the data ports that they read.
SHIFTS = {"SRL16E": {"A": "Q"}, "SRLC16E": {"A": "Q"}, "SRLC32E": {"A": "Q"}}
DISTRIBUTED = {
    **{f"RAM{words}M": {f"ADDR{p}": f"DO{p}" for p in "ABCD"} for words in (32, 64)},
    **{kind: {f"ADDR{p}": f"DO{p}" for p in "ABCDEFGH"} for kind in ("RAM32M16", "RAM64M8")},
    **{f"RAM{words}X1D": {"A": "SPO", "DPRA": "DPO"} for words in (32, 64, 128)},
    **{f"RAM{words}X1S": {"A": "O"} for words in (32, 64, 128, 256)},
}
# A clock is no data.
CLOCK = re.compile(r"(C|CLK|WCLK|CLKARDCLK|CLKBWRCLK)$")
WORST = 12

Node = int | str
# From where, at how many levels and carry bits.
Arc = tuple[Node, int, int]


class Graph:
    """What a netlist is to time: where paths begin and end, and what lies between."""

    def __init__(self, module: dict) -> None:
        self.starts: dict[Node, tuple[int, str]] = {}
        self.ends: list[tuple[Node, int, str]] = []
        self.arcs: dict[Node, list[Arc]] = {}
        self.names = names(module)
        for port, wire in module["ports"].items():
            for bit, name in bits(wire["bits"], port):
                if wire["direction"] == "input":
                    self.starts[bit] = (0, name)
                else:
                    self.ends.append((bit, 0, name))
        for name, cell in module["cells"].items():
            self.add(name, cell)

    def add(self, name: str, cell: dict) -> None:
        """Takes in a cell."""
        kind, pins = cell["type"], cell["connections"]
        sides = cell["port_directions"]
        inputs = {pin: wires for pin, wires in pins.items() if sides[pin] == "input"}
        outputs = {pin: wires for pin, wires in pins.items() if sides[pin] == "output"}
        if TABLES.match(kind) or MUXES.match(kind):
            cost = 1 if TABLES.match(kind) else 0
            self.through([bit for wires in inputs.values() for bit in wires], outputs["O"][0], cost)
        elif kind in ("CARRY4", "CARRY8"):
            self.carry(name, pins)
        elif FLIP_FLOPS.match(kind):
            register = self.names.get(pins["Q"][0]) or source(cell, name)
            self.starts[pins["Q"][0]] = (0, register)
            for pin, (bit,) in inputs.items():
                if not CLOCK.match(pin):
                    self.ends.append((bit, 0, register if pin == "D" else f"{register} ({pin})"))
        elif kind in ("DSP48E1", "DSP48E2"):
            self.dsp(self.called(name, pins["P"]), cell, inputs)
        elif BLOCKS.match(kind):
            self.memory(name, cell, inputs, outputs)
        elif kind in SHIFTS or kind in DISTRIBUTED:
            self.tables_as_memory(name, kind, inputs, outputs)
        elif kind not in ("GND", "VCC") and not kind.startswith("$"):
            raise SystemExit(f"levels.py does not know how long a path through the cell {kind} is")

    def through(self, sources: list, to: Node, levels: int, carry: int = 0) -> None:
        """Combinational arcs."""
        self.arcs.setdefault(to, []).extend((bit, levels, carry) for bit in sources if not isinstance(bit, str))

    def inner(self, source: Node, to: Node, levels: int, carry: int = 0) -> None:
        """An arc from a node of our own."""
        self.arcs.setdefault(to, []).append((source, levels, carry))

    def carry(self, name: str, pins: dict) -> None:
        """A carry multiplexer at each position, which passes on to the next; the sum leaves beside it."""
        into: Node | None = None
        first = [bit for pin in ("CI", "CYINIT") for bit in pins.get(pin, [])]
        for at, (s, o) in enumerate(zip(pins["S"], pins.get("O", []), strict=True)):
            here = f"{name}.{at}"
            self.through([s, pins["DI"][at], *(first if at == 0 else [])], here, 0, 1)
            self.through([s, *(first if at == 0 else [])], o, 0)
            if into is not None:
                self.inner(into, here, 0, 1)
                self.inner(into, o, 0)
            self.inner(here, pins["CO"][at], 0)
            into = here

    def dsp(self, name: str, cell: dict, inputs: dict) -> None:
        """Multiplier, then adder, with the registers that are in use between them."""
        option = cell["parameters"]
        multiplies = not text(option.get("USE_MULT", "MULTIPLY")).startswith("NONE")
        product, total, out = (f"{name}.{stage}" for stage in ("product", "sum", "out"))
        for pin, wires in inputs.items():
            if CLOCK.match(pin):
                continue
            to, cost = (product, WORTH["multiplier"]) if multiplies and pin in "ABD" else (total, WORTH["adder"])
            if pin in "ABCD" and number(option.get(f"{pin}REG", 0)):
                for bit in wires:
                    self.end(bit, 0, f"{name} ({pin})")
                self.starts[f"{name}.{pin}"] = (0, f"{name} ({pin} register)")
                self.inner(f"{name}.{pin}", to, cost)
            elif pin in "ABCD" or pin == "PCIN":
                self.through(wires, to, cost)
            else:
                for bit in wires:
                    self.end(bit, 0, f"{name} ({pin})")
        if multiplies:
            self.cut(product, total, WORTH["adder"], number(option.get("MREG", 0)), f"{name} (M register)")
        self.cut(total, out, 0, number(option.get("PREG", 0)), f"{name} (P register)")
        for pin in ("P", "PCOUT", "CARRYOUT", "PATTERNDETECT"):
            for bit in cell["connections"].get(pin, []):
                self.inner(out, bit, 0)

    def cut(self, source: Node, to: Node, levels: int, registered: int, register: str) -> None:
        """From one stage of a block to the next, through a register or not."""
        if registered:
            self.ends.append((source, 0, register))
            self.starts[f"{source}.q"] = (0, register)
            self.inner(f"{source}.q", to, levels)
        else:
            self.inner(source, to, levels)

    def memory(self, name: str, cell: dict, inputs: dict, outputs: dict) -> None:
        """Block and ultra RAM: everything in and out is clocked."""
        option = cell["parameters"]
        registered = [key for key in ("DOA_REG", "DOB_REG", "OREG_A", "OREG_B") if text(option.get(key, "0")) in ONES]
        for pin, wires in inputs.items():
            for bit, pin_bit in bits(wires, pin):
                if not CLOCK.match(pin):
                    self.end(bit, 0, f"{name}.{pin_bit}")
        for pin, wires in outputs.items():
            side = "B" if re.match(r"(DO|DOUT)P?_?B", pin) else "A"
            own = any(f"{side}_REG" in key or f"REG_{side}" in key for key in registered)
            worth = WORTH["block_registered" if own else "block"]
            for bit, pin_bit in bits(wires, pin):
                self.starts[bit] = (worth, f"{name}.{pin_bit}")

    def tables_as_memory(self, name: str, kind: str, inputs: dict, outputs: dict) -> None:
        """Look-up tables that hold words: clocked to write, a level to read."""
        reads = SHIFTS.get(kind) or DISTRIBUTED[kind]
        held = WORTH["shift" if kind in SHIFTS else "distributed"]
        where = self.called(name, [bit for wires in outputs.values() for bit in wires])
        for wires in outputs.values():
            for bit in wires:
                self.starts[bit] = (held, where)
        for pin, wires in inputs.items():
            address = re.sub(r"\d+$", "", pin) if pin not in reads else pin
            for bit in wires if not CLOCK.match(pin) else ():
                self.end(bit, 0, f"{where} ({pin})")
                for out in outputs.get(reads.get(address, ""), []):
                    self.through([bit], out, 1)

    def end(self, bit: Node, levels: int, name: str) -> None:
        """A path ends here, unless nothing varies."""
        if not isinstance(bit, str):
            self.ends.append((bit, levels, name))

    def called(self, cell: str, out: list) -> str:
        """A cell under the user's name, or the first name among its outputs."""
        if not cell.startswith("$"):
            return cell
        return next((stem(self.names[bit]) for bit in out if bit in self.names), cell)


ONES = ("1", "TRUE")


def text(value: object) -> str:
    """A parameter as text, a binary one as its number."""
    return str(int(value, 2)) if isinstance(value, str) and re.fullmatch(r"[01]{8,}", value) else str(value).strip()


def number(value: object) -> int:
    """A parameter as a number."""
    return int(text(value))


def bits(wires: list, name: str) -> Iterator[tuple[Node, str]]:
    """Each bit that varies with its name."""
    for at, bit in enumerate(wires):
        if not isinstance(bit, str):
            yield bit, name if len(wires) == 1 else f"{name}[{at}]"


def names(module: dict) -> dict[int, str]:
    """The shortest name that the source gives a bit."""
    found: dict[int, str] = {}
    for name, net in module["netnames"].items():
        if net.get("hide_name"):
            continue
        for bit, called in bits(net["bits"], name):
            if bit not in found or (len(called), called) < (len(found[bit]), found[bit]):
                found[bit] = called
    return found


def stem(name: str) -> str:
    """A register without the number of its bit."""
    return re.sub(r"\[\d+\](?= |$)", "", name)


def alike(name: str) -> str:
    """A name that the copies of a unit share."""
    return re.sub(r"(?<=[\[.])\d+\b", "", stem(name))


def source(cell: dict, name: str) -> str:
    """Where the source makes a register that kept no name."""
    where = cell.get("attributes", {}).get("src", "").split("|")[0]
    found = re.search(r"([^/]+\.sv:\d+)", where)
    return found.group(1) if found else name


def ordered(graph: Graph) -> list[Node]:
    """Nodes behind arcs, each after those that it hangs on."""
    order: list[Node] = []
    state: dict[Node, int] = {}
    for root in graph.arcs:
        stack = [(root, 0)]
        while stack:
            node, at = stack.pop()
            if at == 0:
                if state.get(node) == 2:
                    continue
                state[node] = 1
            sources = graph.arcs[node]
            while at < len(sources):
                source = sources[at][0]
                at += 1
                if source in graph.arcs and state.get(source) != 2:
                    if state.get(source) == 1:
                        raise SystemExit(f"a combinational loop through {graph.names.get(source, source)}")
                    stack += [(node, at), (source, 0)]
                    break
            else:
                state[node] = 2
                order.append(node)
    return order


def longest(graph: Graph, order: list[Node], first: int) -> tuple[dict, dict]:
    """For each node the longest way to it, (levels, carry) or, with `first` 1, (carry, levels), and the node before."""
    begin = {node: ((worth, 0) if first == 0 else (0, worth)) for node, (worth, _) in graph.starts.items()}
    far: dict[Node, tuple[int, int]] = dict(begin)
    before: dict[Node, Node] = {}
    for node in order:
        best = begin.get(node)
        for source, levels, carry in graph.arcs[node]:
            if (so_far := far.get(source)) is None:
                continue
            step = (levels, carry) if first == 0 else (carry, levels)
            way = (so_far[0] + step[0], so_far[1] + step[1])
            if best is None or way > best:
                best = way
                before[node] = source
        if best is not None:
            far[node] = best
    return far, before


def measured(module: dict, most_levels: int, most_carry: int) -> dict:
    """How many endpoints there are and how many lie beyond, and the worst paths by levels and by carry."""
    graph = Graph(module)
    order = ordered(graph)
    beyond: set[int] = set()
    worst = {}
    for kind, first, most in (("levels", 0, most_levels), ("carry", 1, most_carry)):
        far, before = longest(graph, order, first)
        groups: dict[tuple[str, str], list] = {}
        for at, (node, levels, name) in enumerate(graph.ends):
            way = far.get(node)
            if way is None:
                continue
            way = (way[0] + levels, way[1]) if first == 0 else (way[0], way[1] + levels)
            if way[0] > most:
                beyond.add(at)
            origin = node
            while origin in before:
                origin = before[origin]
            group = groups.setdefault((alike(graph.starts[origin][1]), alike(name)), [way, node, name, 0])
            group[3] += 1
            if way > group[0]:
                group[:3] = [way, node, name]
        ranked = sorted(groups.values(), key=lambda group: (-group[0][0], -group[0][1], group[2]))[:WORST]
        worst[kind] = [path(graph, before, first, *group) for group in ranked]
    timed = sum(1 for node, _, _ in graph.ends if node in far)
    return {"endpoints": timed, "beyond": len(beyond), "by_levels": worst["levels"], "by_carry": worst["carry"]}


def path(graph: Graph, before: dict, first: int, way: tuple, node: Node, name: str, count: int) -> dict:
    """A path from its beginning, with the named nets that it passes."""
    passed: list[str] = []
    while node in before:
        called = stem(graph.names.get(node, ""))
        if called and (not passed or passed[-1] != called):
            passed.append(called)
        node = before[node]
    return {
        "levels": way[first],
        "carry": way[1 - first],
        "from": graph.starts[node][1],
        "to": name,
        "through": passed[::-1],
        "endpoints": count,
    }
