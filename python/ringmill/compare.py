# SPDX-License-Identifier: Apache-2.0
"""One compiled program on several simulated machines, and on the CPU, in one table."""

from __future__ import annotations

import json
import logging
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ringmill.check import arguments, flag, instance, integer, items, names, optional, shown, text
from ringmill.errors import DataError, DeviceError, KeysError
from ringmill.log import say_plans, timed
from ringmill.notebook import shown as shown_in_notebook
from ringmill.runtime import Compiled, Inputs

Value = str | bool | int | float


class Comparison(list[dict[str, Any]]):
    """Rows as plain data, the CPU's first: ``print`` it for the table, or show it in a notebook.

    Each row has the fields that ``ringmill compare --json`` prints: `case`, `machine`, `set`, and `seconds`, `speedup`,
    `bound`, `multipliers`, `needs` and others, or `refused`, the reason of a machine that does not run the program.
    """

    def __init__(self, rows: list[dict[str, Any]], text: str, html: str) -> None:
        super().__init__(rows)
        self._text = text
        self._html = html

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self._html


def _value(name: str, value: Any) -> str:
    """A value of a description's field, as its file has it."""
    try:
        if isinstance(value, (bool, np.bool_)):
            return "true" if value else "false"
        if isinstance(value, (float, np.floating)):
            return repr(float(value))
        if isinstance(value, (int, np.integer)):
            return str(operator.index(value))
    except ValueError:  # an integer of thousands of digits
        pass
    if isinstance(value, str):
        return text(DeviceError)(name, value)
    raise DeviceError(f"{name} must be a number, a bool or a str, and is {shown(value)}")


def _values(name: str, value: Any) -> list[tuple[str, list[str]]]:
    """Fields of descriptions, each with the values that it takes in turn."""
    single = (str, bool, int, float, np.generic)
    several = items(_value, "a value, or a list of values", DeviceError)
    return [
        (field, [_value(place, given)] if isinstance(given, single) else several(place, given))
        for field, given in names("values", DeviceError)(name, value).items()
        for place in [f"{name}[{field!r}]"]
    ]


@arguments(
    "rm.compare",
    compiled=instance(Compiled, "a compiled program: Program.compile makes them", DataError),
    machines=items(text(DeviceError), 'a list of machines, as ["ring", "vector"]', DeviceError),
    set=optional(_values),
    inputs=optional(instance(Inputs, "what client.encrypt gave", DataError)),
    plain=optional(names("values", DataError)),
    threads=optional(integer(1, 1024)),
    spill=flag(),
    send_keys=flag(),
    progress=flag(),
)
def compare(
    compiled: Compiled,
    machines: Sequence[str],
    *,
    set: Mapping[str, Value | Sequence[Value]] | None = None,
    inputs: Inputs | None = None,
    plain: Mapping[str, Any] | None = None,
    threads: int | None = None,
    spill: bool = True,
    send_keys: bool = False,
    progress: bool = True,
) -> Comparison:
    """The time that a compiled program takes on each of some machines, by their cycle models.

    `machines` are names, or description files (``.toml``). `set` gives fields of their descriptions several values, and
    every combination is a row: ``set={"rpaus": [4, 10], "polymul:units": 16}``, the second of one machine alone.

    With `inputs`, as :meth:`Client.encrypt` makes them, and `plain` ones, the program is run on this computer's CPU, on
    `threads` threads (all cores if left out): once to plan, and the median of up to three more runs counts. Every row
    then has its `speedup` over it. A machine that takes some instructions only needs `inputs` for a total: its host's
    part is measured.

    A row's `seconds` are of a machine that has as many keys before the run as it holds, and its `cold_seconds` of one
    that has none. With `send_keys` both are the latter. `keys` tells ``"seeded"`` from ``"stored"`` ones.

    All machines run the program as it was compiled. One that refuses it has a row with the reason in `refused`. The
    command ``ringmill compare`` compiles a program for all the machines that it names.

    Raises :class:`DeviceError` for a machine or field that there is not, and where every machine refuses.

    >>> import ringmill as rm
    >>> @rm.program
    ... def square(x: rm.Encrypted):
    ...     return x * x
    >>> table = rm.compare(square.compile(slots=1024, input_bound=1), ["ring"], set={"rpaus": [4, 10]})
    >>> [(row["case"], row["multipliers"]) for row in table]
    [('ring rpaus=4', 144), ('ring rpaus=10', 360)]
    """
    if inputs is None and (plain is not None or threads is not None):
        idle = "plain" if plain is not None else "threads"
        raise DataError(f"{idle}= is about a run on the CPU, which takes inputs=; give them, or leave {idle} out")
    bound = None
    if inputs is not None:
        if inputs.evaluation_keys is None:
            raise KeysError("inputs has no evaluation keys; give what client.encrypt gave")
        vectors = compiled._vectors(inputs.ciphertexts, plain)
        bound = (inputs.ciphertexts, vectors, inputs.evaluation_keys)
    of = (compiled._inner.name, ", ".join(machines))
    with shown_in_notebook(progress) as how, timed(logging.INFO, "compared %s on %s", *of):
        rows, table, html = compiled._inner.compare(machines, set or [], bound, threads, spill, send_keys, how)
    say_plans()
    return Comparison([json.loads(row) for row in rows], table, html)
