# SPDX-License-Identifier: Apache-2.0
"""Compares one compiled program on several simulated machines, and on the CPU, in one table."""

from __future__ import annotations

import json
import logging
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ringmill.check import arguments, flag, instance, integer, items, names, optional, shown, text
from ringmill.compiled import Compiled
from ringmill.errors import DataError, DeviceError, KeysError
from ringmill.log import say_plans, timed
from ringmill.messages import Inputs
from ringmill.notebook import shown as shown_in_notebook

Value = str | bool | int | float


class Comparison(list[dict[str, Any]]):
    """The rows of a comparison as plain data, the CPU's first. ``print`` it for the table, or show it in a notebook.

    Each row has the fields that ``ringmill compare --json`` prints: `case`, `machine`, `set`, and `seconds`, `speedup`,
    `bound`, `multipliers`, `needs` and others. If a machine does not run the program, its row has the reason in
    `refused`.
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
    """Returns a value of a description's field in the form of the file."""
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
    """Returns fields of descriptions, each with the values that it takes in turn."""
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
    """Computes the time of a compiled program on each of several machines, by their cycle models.

    `machines` are names, or description files (``.toml``). `set` gives several values to fields of their descriptions,
    and every combination is a row. In ``set={"rpaus": [4, 10], "polymul:units": 16}`` the second field is of one
    machine alone.

    With `inputs`, from :meth:`Client.encrypt`, and `plain` inputs, the program also runs on this computer's CPU, on
    `threads` threads (by default all cores). It runs once to plan; the median of up to three more runs counts. Every
    row then has its `speedup` over the CPU. A machine that runs only some instructions needs `inputs` for a total,
    since its host's part is measured.

    A row's `seconds` are for a machine that holds as many keys as fit before the run begins, and its `cold_seconds` for
    a machine without keys. With `send_keys` both are for a machine without keys. A row's `keys` says whether keys are
    ``"seeded"`` or ``"stored"``.

    All machines run the program as it was compiled. The row of a machine that refuses it has the reason in `refused`.
    The command ``ringmill compare`` compiles a program for all the machines that it names.

    Raises :class:`DeviceError` for an unknown machine or field, and if every machine refuses.

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
        if inputs.more:
            raise DataError(f"inputs are of {len(inputs.more) + 1} runs, and one is compared; encrypt fewer at once")
        vectors = compiled._vectors(inputs.ciphertexts, plain)
        bound = (inputs.ciphertexts, vectors, inputs.evaluation_keys)
    of = (compiled._inner.name, ", ".join(machines))
    with shown_in_notebook(progress) as how, timed(logging.INFO, "compared %s on %s", *of):
        rows, table, html = compiled._inner.compare(machines, set or [], bound, threads, spill, send_keys, how)
    say_plans()
    return Comparison([json.loads(row) for row in rows], table, html)
