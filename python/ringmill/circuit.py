# SPDX-License-Identifier: Apache-2.0
"""Circuits: programs on encrypted bits and integers that compare, choose and look up. TFHE runs them.

A function with parameters annotated ``rm.Encrypted[rm.uint(16)]``, or for an array ``rm.Encrypted[rm.uint(16)[8]]``, is
traced once on stand-ins. Integers wrap around at their width, as a processor's do. Operations take bootstraps. The
result of :meth:`Circuit.compile` says how many, before a run.

>>> import ringmill as rm
>>> @rm.circuit
... def larger(x: rm.Encrypted[rm.uint(8)], y: rm.Encrypted[rm.uint(8)]):
...     return rm.select(x < y, y, x)
>>> larger(3, 200)  # in the clear, to try it out
200
>>> compiled = larger.compile()
>>> compiled.bootstraps
6
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Mapping
from typing import Any

from ringmill._ringmill import CircuitNetlist, CircuitParams, CircuitProgram
from ringmill.check import Path, arguments, guarded, instance, number, optional, path, shown, text
from ringmill.circuit_integers import Integer, Trace, constant, is_list, kind_of, scalar
from ringmill.circuit_ports import Argument, by_name, of_netlist
from ringmill.circuit_run import CompiledCircuit, parameters
from ringmill.errors import FileError, ParameterError
from ringmill.program import bind, function_for
from ringmill.shape import Shape
from ringmill.trace import Annotation, Encrypted, Line, annotation_of, compile_error, refuse

guarded("rm.netlist reads netlists", FileError, path=path)(CircuitNetlist)

_PARAMS = instance(CircuitParams, "rm.circuit_params(name), or the name of a set", ParameterError)


def _set(name: str, value: Any) -> CircuitParams:
    """Returns parameters, given as such or by the name of a set."""
    return parameters(value) if isinstance(value, str) else _PARAMS(name, value)


# A program with compile and evaluate, its arguments and results, and the structure of the function's result.
_Traced = tuple[CircuitProgram | CircuitNetlist, list[Argument], list[Argument], Shape]


class _Compilable:
    """The common part of circuits and netlists, which compile to lookups or gates."""

    name: str

    def _traced(self) -> _Traced:
        raise NotImplementedError

    @arguments("compile", params=optional(_set), failure=number(ParameterError))
    def compile(self, params: CircuitParams | str | None = None, *, failure: float = -64.0) -> CompiledCircuit:
        """Compiles for parameters, or for a named set: look-ups on digits with ``"circuits"``, gates on
        bits with ``"circuit_bits"``, ``"boolean_p64"`` or ``"boolean_p165"``.

        Without parameters the set is ``"circuits"`` or ``"circuit_bits"``, whichever takes less work. The work is
        counted, not measured, and is printed with the compiled circuit.

        `failure` is log2 of the largest probability with which one bootstrap may fail, -40 or less. A sum that would be
        too noisy for a bootstrap is refreshed first.

        Raises :class:`CompileError` with the line of the program, :class:`ParameterError` for parameters that fail more
        often, and for a `failure` above -40.
        """
        program, inputs, outputs, shape = self._traced()
        compiled = program.compile(params, failure)
        return CompiledCircuit(self.name, compiled, inputs, outputs, shape)

    def _in_the_clear(self, values: Mapping[str, Any]) -> Any:
        program, inputs, outputs, shape = self._traced()
        given = [x for argument, value in by_name("input", values, inputs) for x in argument.values(value)]
        found = program.evaluate(given)
        return shape.build([o.array(found[o.first : o.first + o.count]) for o in outputs])


@arguments("rm.circuit", function=function_for("@rm.circuit"))
def circuit(function: Callable[..., Any]) -> Circuit:
    """Makes a circuit of a function whose parameters are annotated with types of integers.

    Arrays arrive as lists. The function returns an integer, a list of integers, or a tuple or dict of either. Loops and
    ``if`` on ordinary Python values are unrolled. A circuit that is called with numbers computes in the clear. A
    circuit that is called with integers of another circuit becomes part of that circuit; the types and lengths must be
    those of its parameters.
    """
    return Circuit(function)


class Circuit(_Compilable):
    """A function on encrypted integers. :func:`circuit` makes it."""

    @arguments("rm.Circuit", function=function_for("@rm.circuit"))
    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        code = function.__code__
        self._function = function
        self._line: Line = (code.co_filename.encode(errors="backslashreplace").decode(), code.co_firstlineno)

        self.name = str(function.__name__)

    def _arguments(self) -> list[Argument]:
        try:
            signature = inspect.signature(self._function, eval_str=True)
        except Exception as error:
            refuse(f"an annotation of {self.name} cannot be read: {error}", self._line)
        found: list[Argument] = []
        for name, parameter in signature.parameters.items():
            annotation = annotation_of(parameter.annotation)
            kind = annotation.type if isinstance(annotation, Annotation) and annotation.vector is Encrypted else None
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or kind is None:
                refuse(
                    f"parameter {name} of {self.name} must be annotated with its type, as rm.Encrypted[rm.uint(16)]; "
                    "what is known is written as a number",
                    self._line,
                )
            scalar(f"the type of {name}", kind.element, functools.partial(compile_error, line=self._line))
            if len(kind.shape) > 1:
                refuse(
                    f"parameter {name} of {self.name} is of type {kind}, and circuits take arrays of one dimension; "
                    f"declare {kind.element[kind.length]!r}",
                    self._line,
                )
            first = found[-1].first + found[-1].count if found else 0
            found.append(Argument(name, kind, first))
        if not found:
            refuse(f"{self.name} has no parameter; annotate one as rm.Encrypted[rm.uint(16)]", self._line)
        return found

    def _traced(self) -> _Traced:
        trace = Trace()
        inputs = self._arguments()
        values = {}
        for argument in inputs:
            kind = kind_of(argument.type.element)
            of = [
                Integer(
                    trace, trace.record("input", argument.name if n is None else f"{argument.name}[{n}]", kind), kind
                )
                for n in ([None] if argument.type.length is None else range(argument.count))
            ]
            values[argument.name] = of[0] if argument.type.length is None else of
        shape, results = self._inside(trace, values)[1:]
        outputs: list[Argument] = []
        for name, items in zip(shape.names, results, strict=True):
            for item in items if isinstance(items, list) else [items]:
                trace.builder.output(name, item._number)
            kind = (items[0] if isinstance(items, list) else items).type
            first = outputs[-1].first + outputs[-1].count if outputs else 0
            outputs.append(Argument(name, kind[len(items)] if isinstance(items, list) else kind, first))
        return trace.builder.finish(), inputs, outputs, shape

    def _inside(self, trace: Trace, values: Mapping[str, Any]) -> tuple[Any, Shape, list[Any]]:
        """Calls the function with integers of a trace. Returns its result, the result's structure, and its integers and
        lists of integers.
        """
        if self in trace.inside:
            refuse(f"circuit {self.name} calls itself, and nothing could end that; write a loop")
        trace.inside.append(self)
        try:
            returned = self._function(**values)
        except RecursionError:
            message = f"circuit {self.name} calls functions that call each other without an end; write a loop"
            raise compile_error(message, self._line) from None
        finally:
            trace.inside.pop()
        if isinstance(returned, list) and all(isinstance(item, Integer) for item in returned) and returned:
            shape, results = Shape("one", ("out",)), [returned]
        else:
            shape, results = Shape.of(returned, self._line, f"circuit {self.name}")
        for name, value in zip(shape.names, results, strict=True):
            items = value if isinstance(value, list) else [value]
            for item in items:
                if not isinstance(item, Integer) or item._trace is not trace:
                    refuse(
                        f"output {name} of {self.name} must be encrypted integers of it, and is {shown(item)}",
                        self._line,
                    )
            kinds = list(dict.fromkeys(repr(item.type) for item in items))
            if len(kinds) != 1:
                refuse(
                    f"output {name} of {self.name} must be a list of integers of one type, and has "
                    f"{' and '.join(kinds) or 'none'}; return a tuple, or convert them by x.to(type)",
                    self._line,
                )
        return returned, shape, results

    def _placed(self, trace: Trace, argument: Argument, value: Any) -> Any:
        """Returns the value that another circuit passes for a parameter, encrypted or known, with the parameter's type
        and length.
        """
        kind = kind_of(argument.type.element)

        def placed(name: str, item: Any) -> Integer:
            if not isinstance(item, Integer):
                return Integer(trace, constant(trace, name, item, kind), kind)
            if item._trace is not trace:
                refuse(f"{name} is of another circuit than the other arguments; give it to this one as an argument")
            if item._kind != kind:
                wanted = argument.type.element
                refuse(f"{name} is {item.type!r}, expected {wanted!r}; convert it, as {self.name}(x.to({wanted!r}))")
            return item

        of = f"of {self.name}"
        name = f"argument {argument.name} {of}"
        if argument.type.length is None:
            return placed(name, value)
        try:
            items = None if isinstance(value, Integer) else list(value)
        except Exception:
            items = None
        if items is None or len(items) != argument.count:
            got = f"{len(items)} of them" if items is not None else shown(value)
            refuse(f"{name} must be a list of {argument.count} integers of {argument.type.element!r}, and is {got}")
        return [placed(f"argument {argument.name}[{i}] {of}", item) for i, item in enumerate(items)]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Computes in the clear on numbers. On integers of another circuit, it becomes part of that circuit."""
        values = arguments(self.name)(bind(self._function))(*args, **kwargs)
        flat = [x for value in values.values() for x in (value if is_list(value) else [value])]
        trace = next((x._trace for x in flat if isinstance(x, Integer)), None)
        if trace is None:
            return self._in_the_clear(values)
        placed = {a.name: self._placed(trace, a, values[a.name]) for a in self._arguments()}
        return self._inside(trace, placed)[0]

    def __repr__(self) -> str:
        return f"<ringmill circuit {self.name}>"


class Netlist(_Compilable):
    """A netlist of gates. :func:`netlist` makes it."""

    @arguments("rm.Netlist", name=text(), inner=instance(CircuitNetlist, "what rm.netlist reads"))
    def __init__(self, name: str, inner: CircuitNetlist) -> None:
        self.name, self._inner = name, inner

    def _traced(self) -> _Traced:
        inputs, outputs = map(of_netlist, self._inner.ports)
        return self._inner, inputs, outputs, Shape("dict", tuple(output.name for output in outputs))

    def __call__(self, /, **inputs: Any) -> Any:
        """Computes the outputs of the netlist without encryption."""
        return self._in_the_clear(inputs)

    def __repr__(self) -> str:
        return f"<ringmill netlist {self.name}>"


@arguments("rm.netlist", path=path)
def netlist(path: Path) -> Netlist:
    """Reads a netlist from a file in BLIF, or in the JSON that Yosys writes. It must be combinational and flat, of
    simple gates or tables.

    Its inputs and outputs are unsigned integers with as many bits as the ports. Ports ``x[0]``, ``x[1]`` of a BLIF file
    are one integer. A port of more than 64 bits is an array of words, the lowest first. An input that no output depends
    on, such as an unused clock, may be left out. A netlist compiles and runs as a circuit does.

    Raises :class:`FileError` with the line of the error.
    """
    return Netlist(os.path.basename(os.fspath(path)), CircuitNetlist.load(path))
