# SPDX-License-Identifier: Apache-2.0
"""The parts of a program that are traced once: bodies of repeats, and procedures that are called many times."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ringmill.arrays.value import Array, Traced
from ringmill.check import arguments, integer, shown
from ringmill.errors import ArgumentError
from ringmill.fill import Fill
from ringmill.frames import public, user_line
from ringmill.program import bind, function_for
from ringmill.shape import Shape
from ringmill.trace import Encrypted, Plain, Tracer, Vector, compile_error, mixed, refuse
from ringmill.types import Type

_MOST = 1 << 32
_MOST_TURNS = 1000
_NAME = 40  # the characters of a name that are kept


def _callable(name: str, value: Any) -> Any:
    if not callable(value):
        refuse(f"{name} must be a function of the carried values, and is {shown(value)}")
    return value


def _carried(name: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    if values and all(isinstance(value, Array) for value in values):
        return values
    for place, value in enumerate(values):
        if not isinstance(value, Encrypted):
            refuse(
                f"{name}[{place}] must be an encrypted vector of a program, and is {shown(value)}; a repeat carries "
                "encrypted vectors (of a constant c, x * 0 + c is one)"
            )
    if any(value._tracer is not values[0]._tracer for value in values):
        refuse("the vectors that rm.repeat carries belong to different programs; carry those of one")
    return values


@arguments("rm.repeat", compile_error, count=integer(1, _MOST, compile_error), body=_callable, carried=_carried)
def repeat(count: int, body: Callable[..., Any], *carried: Encrypted) -> Any:
    """Runs `body` `count` times, each time on the vectors that it returned before, and returns the last ones.

    `body` is traced once, however large the count. It takes the carried vectors and returns as many, as one vector or a
    tuple. It may use other vectors of the program, which are the same each time, and may contain repeats. The result is
    that of a Python loop, but the program that is traced and saved is shorter.

    In a program of arrays the body is written out instead, `count` times and at most 1000 times. It then returns
    arrays of the shapes that it takes.

    Raises :class:`CompileError` for a count outside of 1 to 2^32, for a body that does not return as many encrypted
    vectors, and for a body that calls itself.

    >>> import ringmill as rm
    >>> @rm.program
    ... def powers(x: rm.Encrypted):
    ...     return rm.repeat(3, lambda y, total: (y * x, total + y), x, x * 0)
    >>> powers(x=[1.0, 2.0])  # x^4, and x + x^2 + x^3
    (array([ 1., 16.]), array([ 3., 14.]))
    """
    if not carried:
        refuse("rm.repeat carries nothing; call it as rm.repeat(count, body, *carried)")
    if isinstance(carried[0], Array):
        return _unrolled(count, body, carried)
    tracer = carried[0]._tracer
    label = "the body of rm.repeat"
    try:
        signature = inspect.signature(body)
    except (TypeError, ValueError):  # some functions of C have no signature
        signature = None
    if signature is not None:
        try:
            signature.bind(*carried)
        except TypeError:
            refuse(f"{label} must take the {len(carried)} carried vectors, and takes {signature}")
    with _Part(tracer, body, label, "begin_body", _name(body), len(carried)) as part:
        inner = [
            Encrypted(tracer, number, value._kind, value._fill.unsure)
            for number, value in zip(part.begun, carried, strict=True)
        ]
        returned = body(*inner)
        values = list(returned) if isinstance(returned, (tuple, list)) else [returned]
        if len(values) != len(carried):
            refuse(f"{label} takes {len(carried)} vectors and returns {len(values)}; return as many as it takes")
        part.end(values)
        kinds = [mixed(value._kind, returned._kind) for value, returned in zip(carried, values, strict=True)]
        fills = [_repeated(value._fill, returned._fill) for value, returned in zip(carried, values, strict=True)]
    numbers = tracer.record("repeat", count, part.number, [value._id for value in carried])
    results = tuple(Encrypted(tracer, *made) for made in zip(numbers, kinds, fills, strict=True))
    return results[0] if len(results) == 1 else results


def _unrolled(count: int, body: Callable[..., Any], carried: Sequence[Any]) -> Any:
    """Runs the body on arrays, turn by turn: their layouts may differ from turn to turn."""
    if count > _MOST_TURNS:
        refuse(f"rm.repeat of arrays is written out, at most {_MOST_TURNS} times; vectors of slots repeat more often")
    for _ in range(count):
        returned = body(*carried)
        values = tuple(returned) if isinstance(returned, (tuple, list)) else (returned,)
        if len(values) != len(carried):
            refuse(
                f"the body of rm.repeat takes {len(carried)} arrays and returns {len(values)}; return as many as it "
                "takes"
            )
        for place, (before, after) in enumerate(zip(carried, values, strict=True)):
            if not isinstance(after, Array) or after.shape != before.shape:
                refuse(
                    f"the body of rm.repeat must return encrypted arrays of the same shapes, and value {place} is "
                    f"{shown(after)}"
                )
        carried = values
    return carried[0] if len(carried) == 1 else tuple(carried)


def _repeated(carried: Fill, returned: Fill) -> Fill:
    """Returns the fill of a carried vector, which must be the same in every turn."""
    if returned.padded and carried.length != returned.length:
        refuse(
            f"the body of rm.repeat returns an array of {returned.length} values for a vector of "
            f"{carried.length or 'every slot'}; carry one of the same length"
        )
    return carried.unsure


@arguments("rm.procedure", function=function_for("@rm.procedure"))
def procedure(function: Callable[..., Any]) -> Procedure:
    """Makes a procedure of a function. A program traces it once, and each call of it is one instruction.

    Encrypted and plain vectors and numpy arrays are arguments that differ from call to call. Numbers, strings, None and
    tuples of them are fixed in the trace, so for other values the function is traced once more. So it is for vectors of
    other types. The function returns one encrypted vector, or a tuple or dict of them. It must not use vectors other
    than its arguments.

    In a program of arrays each call is written out instead.

    >>> import ringmill as rm
    >>> @rm.procedure
    ... def smooth(x, width):
    ...     return rm.sum(x, width) / width
    >>> @rm.program
    ... def twice(x: rm.Encrypted):
    ...     return smooth(smooth(x, 2), 2)
    >>> twice(x=[4.0, 0.0, 0.0, 0.0])
    array([1., 0., 1., 2.])
    """
    return Procedure(function)


class Procedure:
    """A function that programs trace once. :func:`procedure` makes it."""

    @arguments("rm.Procedure", function=function_for("@rm.procedure"))
    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self._function = function

    @property
    def name(self) -> str:
        return _name(self._function)

    def __repr__(self) -> str:
        return f"<ringmill procedure {self.name}>"

    @public
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the procedure in the program that is being traced. At least one argument must be a vector or an array
        of that program.
        """
        if any(isinstance(value, Traced) for value in (*args, *kwargs.values())):
            return self._function(*args, **kwargs)  # its layouts may differ from call to call
        tracers = [value._tracer for value in (*args, *kwargs.values()) if isinstance(value, Vector)]
        if not tracers:
            raise ArgumentError(f"{self.name} is a procedure: call it inside an @rm.program function, on its vectors")
        tracer = tracers[0]
        for name, parameter in inspect.signature(self._function).parameters.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                refuse(f"{self.name} takes *{name}: a procedure has a fixed list of parameters")
        values = arguments(self.name, compile_error)(bind(self._function))(*args, **kwargs)
        # Arrays among the arguments have the type of the first vector.
        first = next((value._kind, value._fill) for value in values.values() if isinstance(value, Vector))
        vectors: dict[str, Vector] = {}
        static: dict[str, Any] = {}
        for name, value in values.items():
            if _is_static(value):
                static[name] = _key(value)
            elif isinstance(value, Vector):
                if value._tracer is not tracer:
                    refuse(
                        f"argument {name} of {self.name} belongs to another program; give it to this one as an argument"
                    )
                vectors[name] = value
            else:
                vectors[name] = tracer.constant(value, f"argument {name} of {self.name}", *first)
        kinds = tuple((name, isinstance(value, Encrypted), value._kind, value._fill) for name, value in vectors.items())
        traced = (self, kinds, tuple(static.items()))
        if traced not in tracer.procedures:
            tracer.procedures[traced] = self._traced(tracer, values, kinds)
        number, shape, types = tracer.procedures[traced]
        results = tracer.record("call", number, [value._id for value in vectors.values()])
        return shape.build([Encrypted(tracer, result, *kind) for result, kind in zip(results, types, strict=True)])

    def _traced(
        self, tracer: Tracer, values: dict[str, Any], kinds: Sequence[tuple[str, bool, Type, Fill]]
    ) -> tuple[int, Shape, list[tuple[Type, Fill]]]:
        """Returns the procedure's number in the trace, and the shape, element types and fills of its results."""
        encrypted = [one for _, one, _, _ in kinds]
        with _Part(tracer, self, self.name, "begin_procedure", self.name, encrypted) as part:
            inner = {
                name: (Encrypted if one else Plain)(tracer, number, kind, fill)
                for (name, one, kind, fill), number in zip(kinds, part.begun, strict=True)
            }
            bound = inspect.BoundArguments(inspect.signature(self._function), values | inner)  # type: ignore[arg-type]
            returned = self._function(*bound.args, **bound.kwargs)
            shape, results = Shape.of(returned, user_line(), self.name)
            part.end(results)
        return part.number, shape, [(value._kind, value._fill) for value in results]


class _Part:
    """A body or procedure while it is traced. If it is not ended, it is left out of the program."""

    def __init__(self, tracer: Tracer, what: object, label: str, begin: str, *operands: Any) -> None:
        self._tracer, self._label = tracer, label
        # A program may be the body of a repeat, and is then inside of both.
        self._what = (begin, id(what))
        if self._what in tracer.inside:
            refuse(f"{label} calls itself, and nothing could end that; rm.repeat repeats")
        self.begun: list[int] = tracer.record(begin, *operands)
        self.number = -1

    def __enter__(self) -> _Part:
        self._tracer.inside.append(self._what)
        return self

    def end(self, values: Sequence[Any]) -> None:
        """Ends the part with the values that it returns."""
        for place, value in enumerate(values):
            if not isinstance(value, Encrypted) or value._tracer is not self._tracer:
                found = "a plain vector" if isinstance(value, Plain) else shown(value)
                refuse(f"{self._label} must return encrypted vectors of the program, and value {place} is {found}")
        self.number = self._tracer.record("end", [value._id for value in values])

    def __exit__(self, kind: object, *_rest: object) -> None:
        self._tracer.inside.pop()
        if self.number < 0:
            self._tracer.builder.abandon()


def _name(function: Any) -> str:
    name = getattr(function, "__name__", None)
    name = name if isinstance(name, str) else "body"
    return name[:_NAME].encode(errors="backslashreplace").decode()


def _is_static(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_static, value))
    return value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.generic))


def _key(value: Any) -> Any:
    """Returns a key that differs for values that a function may treat differently, as 1 and 1.0, or 0.0 and -0.0."""
    if isinstance(value, tuple):
        return tuple(map(_key, value))
    if isinstance(value, np.generic):
        return (type(value), value.tobytes())
    if isinstance(value, complex):
        return (complex, value.real.hex(), value.imag.hex())
    return (type(value), value.hex() if isinstance(value, float) else value)
