# SPDX-License-Identifier: Apache-2.0
"""Traces array programs: a function runs on stand-ins, and layouts are chosen for all values together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ringmill._ringmill import MacroProgram
from ringmill.arrays import choose, trees
from ringmill.arrays.batch import batched, most_inputs
from ringmill.arrays.elementwise import encrypted
from ringmill.arrays.emit import Emitter
from ringmill.arrays.graph import Graph, Node
from ringmill.arrays.interface import Interface
from ringmill.arrays.value import Array, PlainArray
from ringmill.frames import Line
from ringmill.shape import Shape
from ringmill.trace import Encrypted, refuse
from ringmill.types import Type


def traced(
    name: str,
    types: Mapping[str, tuple[Type, bool]],
    line: Line,
    call: Callable[[Graph, Mapping[str, Any]], Any],
    scheme: str,
    slots: int | None,
    work: int = choose.WORK,
    batch: int | bool | None = None,
) -> tuple[MacroProgram, Interface, choose.Choice]:
    """Traces a function of arrays. Returns the macro program, the slots of its arrays, and the choice of layouts.

    `types` has each argument's type, and whether it is encrypted. `call` calls the function with its arguments.
    `work` bounds the search for layouts. With a `batch`, encrypted arguments and results have a leading axis of that
    length. If it is True, the length is that of the most inputs that share a ciphertext of the slots.
    """
    graph = Graph(name, any(kind.whole for kind, _ in types.values()), line)
    arguments: dict[str, Any] = {}
    for argument, (kind, arrives_encrypted) in types.items():
        size = int(np.prod(kind.shape, dtype=np.int64))
        index = np.arange(size).reshape(kind.shape)
        if arrives_encrypted:
            node = Node("input", kind.shape, kind.element, (), line, (argument,))
            graph.inputs[argument] = node
            arguments[argument] = Array(graph, node, index, 1)
        else:
            arguments[argument] = PlainArray(graph, argument, index, kind.element)
    tree, values, outputs = trees.of_result(call(graph, arguments), line)
    kind: Any = {"leaf": "one", "dict": "dict", "object": "dict"}.get(tree.kind, "tuple")
    shape = Shape(kind, tuple(outputs))
    arrays = [_result(name, output, value, graph, line) for output, value in zip(outputs, values, strict=True)]
    shared = batch is True
    if batch is True:
        slots, batch = most_inputs([array._node for array in arrays], graph, slots)
    if batch is not None:
        graph, arrays = batched(graph, arrays, batch)
        types = {
            name: (kind.element[(batch, *kind.shape)] if arrives_encrypted else kind, arrives_encrypted)
            for name, (kind, arrives_encrypted) in types.items()
        }
    roots = [array._node for array in arrays]
    choice = choose.choose(graph, roots, slots, work)
    program, interface = Emitter(name, scheme, choice, types).program(shape, arrays, line)
    return program, replace(interface, batch=batch if shared else None, tree=tree), choice


def _result(name: str, output: str, value: Any, graph: Graph, line: Line) -> Array:
    if not isinstance(value, Array) or value._graph is not graph:
        found = "a plain array" if isinstance(value, PlainArray) else type(value).__name__
        cure = "; compile with slots= for a program of slots" if isinstance(value, Encrypted) else ""
        refuse(f"output {output} of {name} must be an encrypted array of this program, and is {found}{cure}", line)
    if value.size == 0:
        refuse(f"output {output} of {name} has shape {value.shape}, which holds no value", line)
    return encrypted(value)
