# SPDX-License-Identifier: Apache-2.0
"""Writes faults into a source, each behind a switch, and notes which bytes belong to which fault."""

from dataclasses import dataclass, field

from .fault import Fault, Part


@dataclass
class Rewritten:
    """A changed source, and for each fault in it the first byte, the end and the number."""

    content: bytearray = field(default_factory=bytearray)
    ranges: list[tuple[int, int, int]] = field(default_factory=list)


def rewrite(source: bytes, faults: dict[int, Fault]) -> Rewritten:
    """Returns the source of a file with its faults, each behind the switch of its number."""
    # If two faults begin at the same byte, the longer contains the other, so its switch comes first.
    order = sorted(faults.items(), key=lambda item: (item[1].start, -item[1].end, item[0]))
    made = Rewritten()
    _range(source, 0, len(source), order, made)
    return made


def _range(source: bytes, start: int, end: int, faults: list[tuple[int, Fault]], made: Rewritten) -> None:
    """Appends the source from `start` to `end`, which holds all of `faults`."""
    at = start
    while faults:
        number, fault = faults[0]
        inside = [f for f in faults[1:] if f[1].end <= fault.end and f[1].start >= fault.start]
        made.content += source[at : fault.start]
        _switch(source, number, fault, inside, made)
        at = fault.end
        faults = [f for f in faults[1:] if f not in inside]
    made.content += source[at:end]


def _switch(source: bytes, number: int, fault: Fault, inside: list[tuple[int, Fault]], made: Rewritten) -> None:
    begin = len(made.content)
    switch = f"crate::__mutant::is({number})".encode()
    match fault.form:
        case "entry":
            made.content += b" if " + switch + b" { "
            _parts(source, fault.changed, inside, made)
            made.content += b" }"
            _range(source, fault.start, fault.end, inside, made)
        case "statement":
            made.content += b"if !" + switch + b" { "
            _range(source, fault.start, fault.end, inside, made)
            made.content += b" }"
        case "expression":
            made.content += b"(if " + switch + b" { "
            _parts(source, fault.changed, inside, made)
            made.content += b" } else { "
            _range(source, fault.start, fault.end, inside, made)
            made.content += b" })"
    made.ranges.append((begin, len(made.content), number))


def _parts(source: bytes, parts: tuple[Part, ...], faults: list[tuple[int, Fault]], made: Rewritten) -> None:
    for part in parts:
        if isinstance(part, str):
            made.content += part.encode()
        else:
            start, end = part
            _range(source, start, end, [f for f in faults if start <= f[1].start and f[1].end <= end], made)
