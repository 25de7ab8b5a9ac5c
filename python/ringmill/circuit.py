"""Circuits: programs on encrypted bits and integers that compare, choose and look up, run by TFHE.

A function with parameters annotated ``rm.Encrypted[rm.uint(16)]``, or for an array ``rm.Encrypted[rm.uint(16)[8]]``,
is traced once on stand-ins. Integers wrap around at their width, as a processor's do. Operations take bootstraps, and
what :meth:`Circuit.compile` gives says how many before anything runs.

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
import operator
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from ringmill._ringmill import (
    CircuitBuilder,
    CircuitEvaluationKeys,
    CircuitKeys,
    CircuitNetlist,
    CircuitParams,
    CircuitProgram,
    EncryptedIntegers,
    LoweredCircuit,
    circuit_params,
    circuit_sets,
)
from ringmill.check import (
    arguments,
    closest,
    flag,
    guarded,
    instance,
    integer,
    items,
    names,
    number,
    optional,
    path,
    shown,
    text,
)
from ringmill.errors import ArgumentError, CompileError, DataError, FileError, KeysError, ParameterError, UnknownName
from ringmill.program import bind, function_for
from ringmill.runtime import Path
from ringmill.shape import Shape
from ringmill.trace import Annotation, Encrypted, Line, compile_error, refuse
from ringmill.types import Type, bit, sint, uint

_PARAMS = instance(CircuitParams, "parameters of circuits, as rm.circuit_params makes them", ParameterError)
guarded("clients and files make encrypted integers", FileError, path=path, params=_PARAMS)(EncryptedIntegers)
guarded("clients and files make evaluation keys", FileError, path=path, params=_PARAMS)(CircuitEvaluationKeys)
guarded("rm.netlist reads netlists", FileError, path=path)(CircuitNetlist)
guarded(
    "rm.circuit_params and files make parameters",
    FileError,
    path=path,
    allow_insecure_parameters_for_tests_only=flag(ParameterError),
)(CircuitParams)

_KEYS = optional(instance(CircuitEvaluationKeys, "evaluation keys, as client.evaluation_keys", KeysError))
_KINDS = frozenset({bit.kind, uint(1).kind, sint(1).kind})


def _kind(of: Type) -> tuple[int, bool]:
    """Bits of a type, and whether it is signed."""
    return (1, False) if of.kind == bit.kind else (of.bits or 0, of.kind == sint(1).kind)


def _type(kind: tuple[int, bool]) -> Type:
    bits, signed = kind
    if signed:
        return sint(bits)
    return bit if bits == 1 else uint(bits)


class _Trace:
    """Collects the program of one run of a function."""

    def __init__(self) -> None:
        self.builder = CircuitBuilder()

    def record(self, operation: str, *operands: Any) -> int:
        """One call of the builder, whose refusals point at the user's line."""
        try:
            return int(getattr(self.builder, operation)(*operands))
        except CompileError as error:
            raise compile_error(str(error)) from None
        except (TypeError, OverflowError) as error:
            raise compile_error(f"{operation}: {error}") from None


class Integer:
    """A traced integer or bit. Made by tracing, never by hand."""

    __array_ufunc__ = None  # numpy leaves operators to this class
    __hash__ = None  # type: ignore[assignment]
    __slots__ = ("_kind", "_number", "_trace")

    def __init__(self, trace: _Trace, number: int, kind: tuple[int, bool]) -> None:
        if not isinstance(trace, _Trace):
            raise ArgumentError(
                "rm.Integer has no constructor to call; annotate a parameter of an @rm.circuit function"
            )
        self._trace, self._number, self._kind = trace, number, kind

    @property
    def type(self) -> Type:
        """Its type, as ``rm.uint(8)``; what compares is ``rm.bit``."""
        return _type(self._kind)

    def _of(self, number: int, kind: tuple[int, bool] | None = None) -> Integer:
        return Integer(self._trace, number, kind or self._kind)

    def _beside(self, other: Any) -> Integer | None:
        """The other operand of this one's type; None for what is no integer."""
        if isinstance(other, Integer):
            if other._trace is not self._trace:
                refuse("the two integers are of different circuits")
            return other
        try:
            value = operator.index(other)
        except Exception:
            return None
        return self._of(self._trace.record("constant", value, self._kind))

    def _two(self, name: str, other: Any, swapped: bool = False, kind: tuple[int, bool] | None = None) -> Any:
        beside = self._beside(other)
        if beside is None:
            return NotImplemented
        if beside._kind != self._kind:
            refuse(f"{self.type!r} and {beside.type!r} do not mix; convert one, as x.to({self.type!r})")
        a, b = (beside, self) if swapped else (self, beside)
        return self._of(self._trace.record("binary", name, a._number, b._number), kind)

    def __add__(self, other: Any) -> Integer:
        return self._two("add", other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Integer:
        return self._two("sub", other)

    def __rsub__(self, other: Any) -> Integer:
        return self._two("sub", other, swapped=True)

    def __mul__(self, other: Any) -> Integer:
        return self._two("mul", other)

    __rmul__ = __mul__

    def __neg__(self) -> Integer:
        return self._two("sub", 0, swapped=True)

    def __pos__(self) -> Integer:
        return self

    def __and__(self, other: Any) -> Integer:
        return self._two("and", other)

    __rand__ = __and__

    def __or__(self, other: Any) -> Integer:
        return self._two("or", other)

    __ror__ = __or__

    def __xor__(self, other: Any) -> Integer:
        return self._two("xor", other)

    __rxor__ = __xor__

    def __invert__(self) -> Integer:
        return self._of(self._trace.record("invert", self._number))

    def _floor(self) -> None:
        if self._kind[1]:
            refuse(
                "// and % of signed integers round down in Python; here x.quotient(y) rounds towards 0, and "
                "x.remainder(y) has the sign of x"
            )

    def __floordiv__(self, other: Any) -> Integer:
        self._floor()
        return self._two("div", other)

    def __rfloordiv__(self, other: Any) -> Integer:
        self._floor()
        return self._two("div", other, swapped=True)

    def __mod__(self, other: Any) -> Integer:
        self._floor()
        return self._two("rem", other)

    def __rmod__(self, other: Any) -> Integer:
        self._floor()
        return self._two("rem", other, swapped=True)

    @arguments("quotient", compile_error)
    def quotient(self, other: Integer | int) -> Integer:
        """self / other, rounded towards 0; by 0 all its bits are 1."""
        return _made("other", self._two("div", other), other)

    @arguments("remainder", compile_error)
    def remainder(self, other: Integer | int) -> Integer:
        """What :meth:`quotient` leaves, with the sign of self; by 0 it is self."""
        return _made("other", self._two("rem", other), other)

    def __lt__(self, other: Any) -> Integer:
        return self._two("lt", other, kind=(1, False))

    def __le__(self, other: Any) -> Integer:
        return self._two("le", other, kind=(1, False))

    def __gt__(self, other: Any) -> Integer:
        return self._two("lt", other, swapped=True, kind=(1, False))

    def __ge__(self, other: Any) -> Integer:
        return self._two("le", other, swapped=True, kind=(1, False))

    def __eq__(self, other: object) -> Integer:  # type: ignore[override]
        return _made("what == compares with", self._two("eq", other, kind=(1, False)), other)

    def __ne__(self, other: object) -> Integer:  # type: ignore[override]
        return _made("what != compares with", self._two("ne", other, kind=(1, False)), other)

    def _shifted(self, name: str, by: Any) -> Any:
        if isinstance(by, Integer):
            self._beside(by)
            return self._of(self._trace.record("shift", name, self._number, by._number))
        by = integer(0, 2**32 - 1, compile_error)("what to shift by", by)
        return self._of(self._trace.record("shift_by", name, self._number, by))

    def __lshift__(self, by: Any) -> Integer:
        """Zeros come in below; by the width and more all bits leave."""
        return self._shifted("left", by)

    def __rshift__(self, by: Any) -> Integer:
        """Zeros come in above, of a signed integer its sign."""
        return self._shifted("right_signed" if self._kind[1] else "right", by)

    def __rlshift__(self, _: Any) -> NoReturn:
        refuse("a constant cannot be shifted by an encrypted amount; make it encrypted: x * 0 + constant")

    __rrshift__ = __rlshift__

    @arguments("rotate_left", compile_error)
    def rotate_left(self, by: Integer | int) -> Integer:
        """Bits that leave above come in below; an encrypted `by` needs a width that is a power of two."""
        return self._shifted("rotate_left", by)

    @arguments("to", compile_error)
    def to(self, kind: Type) -> Integer:
        """The lowest bits of it as another type, or more of them: zeros, or the sign of a signed integer."""
        wanted = _kind(_scalar("the kind to convert to", kind, compile_error))
        return self._of(self._trace.record("convert", self._number, wanted), wanted)

    def __bool__(self) -> NoReturn:
        refuse("what is encrypted cannot steer Python's if, while, and, or, not; use rm.select(bit, a, b), & | and ~")

    def __index__(self) -> NoReturn:
        refuse("what is encrypted is no index; use rm.lookup(index, entries, type)")

    __int__ = __float__ = __index__

    def __iter__(self) -> NoReturn:
        refuse("an encrypted integer has no elements; shift and mask its bits")

    def __repr__(self) -> str:
        return f"<encrypted {self.type}>"


def _made(name: str, value: Any, other: object) -> Integer:
    if value is NotImplemented:
        refuse(f"{name} must be an integer, encrypted or known, and is {shown(other)}")
    return value  # type: ignore[no-any-return]


def _scalar(name: str, kind: Any, refusal: Callable[[str], Exception]) -> Type:
    if not isinstance(kind, Type) or kind.length is not None or kind.kind not in _KINDS:
        raise refusal(f"{name} must be rm.uint(bits), rm.sint(bits) or rm.bit, and is {shown(kind)}")
    return kind


def _operands(what: str, given: Mapping[str, Any]) -> tuple[Integer, list[int]]:
    """One of the operands that is encrypted, and the numbers of all, which are of one type."""
    of = next((value for value in given.values() if isinstance(value, Integer)), None)
    if of is None:
        refuse(f"{what}: one of {', '.join(given)} must be an encrypted integer, and none is")
    numbers = []
    for name, value in given.items():
        beside = of._beside(value)
        if beside is None:
            refuse(f"{what}: {name} must be an integer, encrypted or known, and is {shown(value)}")
        if beside._kind != of._kind:
            refuse(f"{what}: {name} is {beside.type!r} beside {of.type!r}; convert one, as x.to({of.type!r})")
        numbers.append(beside._number)
    return of, numbers


@arguments("rm.select", compile_error)
def select(bit: Integer, when_true: Integer | int, when_false: Integer | int) -> Integer:
    """One of two integers, by an encrypted bit: inside circuits what ``if`` is outside."""
    if not isinstance(bit, Integer) or bit._kind != (1, False):
        refuse(f"rm.select: bit must be an encrypted bit, as x < y gives one, and is {shown(bit)}")
    of, numbers = _operands("rm.select", {"when_true": when_true, "when_false": when_false})
    bit._beside(of)
    return of._of(of._trace.record("select", bit._number, *numbers))


@arguments("rm.minimum", compile_error)
def minimum(a: Integer | int, b: Integer | int) -> Integer:
    """The smaller of two integers; with :func:`maximum` of the same two it costs no more than one of them."""
    of, numbers = _operands("rm.minimum", {"a": a, "b": b})
    return of._of(of._trace.record("binary", "min", *numbers))


@arguments("rm.maximum", compile_error)
def maximum(a: Integer | int, b: Integer | int) -> Integer:
    """The larger of two integers."""
    of, numbers = _operands("rm.maximum", {"a": a, "b": b})
    return of._of(of._trace.record("binary", "max", *numbers))


def _anything(_name: str, value: Any) -> Any:
    return value


@arguments("rm.add_all", compile_error, values=items(_anything, "a list of encrypted integers", compile_error))
def add_all(values: Sequence[Integer | int]) -> Integer:
    """The sum of many integers, which carries less often than one addition after another."""
    of, numbers = _operands("rm.add_all", {f"values[{place}]": value for place, value in enumerate(values)})
    return of._of(of._trace.record("sum", numbers))


@arguments(
    "rm.lookup",
    compile_error,
    entries=items(integer(None, None, compile_error), "a list of whole numbers", compile_error),
)
def lookup(index: Integer, entries: Sequence[int], type: Type) -> Integer:
    """Entry `index` of a public table, of a type; 0 behind its end. The index is unsigned, of at most eight bits."""
    if not isinstance(index, Integer):
        refuse(f"rm.lookup: index must be encrypted, and is {shown(index)}; index the table itself by a known one")
    kind = _kind(_scalar("rm.lookup: type", type, compile_error))
    return index._of(index._trace.record("table", index._number, list(entries), kind), kind)


@dataclass(frozen=True)
class _Argument:
    """An argument or a result: its type, and which ports it is."""

    name: str
    type: Type
    first: int

    @property
    def count(self) -> int:
        return self.type.length or 1

    @property
    def ports(self) -> list[str]:
        """What its integers are called."""
        return [self.name] if self.type.length is None else [f"{self.name}[{i}]" for i in range(self.count)]

    def values(self, value: Any) -> list[int]:
        """What is given for it, as Python's integers."""
        if self.type.length is None:
            return [_value(self.name, value, self.type)]
        try:
            items = list(value)
        except Exception:
            items = []
        if len(items) != self.count:
            raise DataError(f"{self.name} must be {self.count} values of {self.type.element}, and is {shown(value)}")
        return [_value(f"{self.name}[{i}]", item, self.type.element) for i, item in enumerate(items)]

    def array(self, values: Sequence[int]) -> Any:
        """Its values for Python: a number, or an array."""
        if self.type.length is None:
            return values[0]
        signed = self.type.element.kind == sint(1).kind
        return np.array(values, dtype=np.int64 if signed else np.uint64)


def _value(name: str, value: Any, kind: Type) -> int:
    low, high = kind.ends or (0, 0)
    if isinstance(value, (bool, np.bool_)):
        number = int(value) if kind == bit else None
    else:
        try:
            number = operator.index(value)
        except Exception:
            number = None
    if number is None or not low <= number <= high:
        raise DataError(f"{name} must be a value of {kind}, a whole number from {low} to {high}, and is {shown(value)}")
    return int(number)


# A program with compile and evaluate, its arguments and results, and the structure of what it returns.
_Traced = tuple[CircuitProgram | CircuitNetlist, list[_Argument], list[_Argument], Shape]


class _Compilable:
    """What becomes lookups: circuits and netlists."""

    name: str

    def _traced(self) -> _Traced:
        raise NotImplementedError

    @arguments(
        "compile",
        params=optional(instance(CircuitParams, "rm.circuit_params(name)", ParameterError)),
        failure=number(ParameterError),
    )
    def compile(self, params: CircuitParams | None = None, *, failure: float = -64.0) -> CompiledCircuit:
        """The circuit for parameters, by default ``rm.circuit_params("circuits")``.

        `failure` is log2 of the probability that one bootstrap may fail with; where sums in front of it would be too
        noisy for that, they are refreshed first.

        Raises :class:`CompileError` with the line of the program, :class:`ParameterError` for parameters that fail more
        often.
        """
        program, inputs, outputs, shape = self._traced()
        compiled = program.compile(params or circuit_params("circuits", False), failure)
        return CompiledCircuit(self.name, compiled, inputs, outputs, shape)

    def _in_the_clear(self, values: Mapping[str, Any]) -> Any:
        program, inputs, outputs, shape = self._traced()
        given = [x for argument in inputs for x in argument.values(values[argument.name])]
        found = program.evaluate(given)
        return shape.build([o.array(found[o.first : o.first + o.count]) for o in outputs])


@arguments("rm.circuit", function=function_for("@rm.circuit"))
def circuit(function: Callable[..., Any]) -> Circuit:
    """Makes a circuit of a function whose parameters are annotated with types of integers.

    Arrays arrive as lists. The function returns an integer, a list of some, or a tuple or dict of either; loops and
    ``if`` on ordinary Python values are unrolled. Called with numbers, a circuit computes in the clear; called with
    integers of another circuit, it becomes part of that.
    """
    return Circuit(function)


class Circuit(_Compilable):
    """A function on encrypted integers; made by :func:`circuit`."""

    @arguments("rm.Circuit", function=function_for("@rm.circuit"))
    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        code = function.__code__
        self._function = function
        self._line: Line = (code.co_filename.encode(errors="backslashreplace").decode(), code.co_firstlineno)

        self.name = str(function.__name__)

    def _arguments(self) -> list[_Argument]:
        try:
            signature = inspect.signature(self._function, eval_str=True)
        except Exception as error:
            refuse(f"an annotation of {self.name} cannot be read: {error}", self._line)
        found: list[_Argument] = []
        for name, parameter in signature.parameters.items():
            annotation = parameter.annotation
            kind = annotation.type if isinstance(annotation, Annotation) and annotation.vector is Encrypted else None
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or kind is None:
                refuse(
                    f"parameter {name} of {self.name} must be annotated with its type, as rm.Encrypted[rm.uint(16)]; "
                    "what is known is written as a number",
                    self._line,
                )
            _scalar(f"the type of {name}", kind.element, functools.partial(compile_error, line=self._line))
            first = found[-1].first + found[-1].count if found else 0
            found.append(_Argument(name, kind, first))
        if not found:
            refuse(f"{self.name} has no parameter; annotate one as rm.Encrypted[rm.uint(16)]", self._line)
        return found

    def _traced(self) -> _Traced:
        trace = _Trace()
        inputs = self._arguments()
        values = {}
        for argument in inputs:
            kind = _kind(argument.type.element)
            of = [
                Integer(
                    trace, trace.record("input", argument.name if n is None else f"{argument.name}[{n}]", kind), kind
                )
                for n in ([None] if argument.type.length is None else range(argument.count))
            ]
            values[argument.name] = of[0] if argument.type.length is None else of
        returned = self._function(**values)
        if isinstance(returned, list) and all(isinstance(item, Integer) for item in returned) and returned:
            shape, results = Shape("one", ("out",)), [returned]
        else:
            shape, results = Shape.of(returned, self._line, f"circuit {self.name}")
        outputs: list[_Argument] = []
        for name, value in zip(shape.names, results, strict=True):
            items = value if isinstance(value, list) else [value]
            for item in items:
                if not isinstance(item, Integer) or item._trace is not trace:
                    refuse(
                        f"output {name} of {self.name} must be encrypted integers of it, and is {shown(item)}",
                        self._line,
                    )
                trace.builder.output(name, item._number)
            if not items or any(item._kind != items[0]._kind for item in items):
                refuse(f"output {name} of {self.name} must be a list of integers of one type", self._line)
            kind = items[0].type
            first = outputs[-1].first + outputs[-1].count if outputs else 0
            outputs.append(_Argument(name, kind[len(items)] if isinstance(value, list) else kind, first))
        return trace.builder.finish(), inputs, outputs, shape

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """In the clear on numbers; on integers of another circuit as a part of that."""
        values = arguments(self.name)(bind(self._function))(*args, **kwargs)
        flat = [x for value in values.values() for x in (value if isinstance(value, (list, tuple)) else [value])]
        if any(isinstance(x, Integer) for x in flat):
            return self._function(**values)
        return self._in_the_clear(values)

    def __repr__(self) -> str:
        return f"<ringmill circuit {self.name}>"


class Netlist(_Compilable):
    """A netlist of gates; made by :func:`netlist`."""

    @arguments("rm.Netlist", name=text(), inner=instance(CircuitNetlist, "what rm.netlist reads"))
    def __init__(self, name: str, inner: CircuitNetlist) -> None:
        self.name, self._inner = name, inner

    def _traced(self) -> _Traced:
        both: list[list[_Argument]] = []
        for ports in self._inner.ports:
            kinds = [(name, bit if bits == 1 else uint(bits)) for name, bits in ports]
            both.append([_Argument(name, kind, first) for first, (name, kind) in enumerate(kinds)])
        inputs, outputs = both
        return self._inner, inputs, outputs, Shape("dict", tuple(output.name for output in outputs))

    def __call__(self, /, **inputs: Any) -> Any:
        """In the clear."""
        _by_name("input", inputs, self._traced()[1])
        return self._in_the_clear(inputs)

    def __repr__(self) -> str:
        return f"<ringmill netlist {self.name}>"


@arguments("rm.netlist", path=path)
def netlist(path: Path) -> Netlist:
    """The netlist of a file, in BLIF or in the JSON that Yosys writes: combinational, flat, of simple gates or tables.

    Its inputs and outputs are unsigned integers of as many bits as the ports have: ports ``x[0]``, ``x[1]`` of a BLIF
    file are one. It compiles and runs as a circuit does.

    Raises :class:`FileError` with the line of what is wrong.
    """
    return Netlist(os.path.basename(os.fspath(path)), CircuitNetlist.load(path))


@dataclass(frozen=True)
class CircuitInputs:
    """What a client sends: encrypted inputs by name, and the evaluation keys."""

    ciphertexts: dict[str, EncryptedIntegers]
    evaluation_keys: CircuitEvaluationKeys | None = None


@dataclass(frozen=True)
class CircuitRun:
    """What a run gave: encrypted outputs by name, and what it took."""

    ciphertexts: dict[str, EncryptedIntegers]
    seconds: float
    bootstraps: int
    threads: int

    def __str__(self) -> str:
        each = 1000 * self.seconds * self.threads / max(self.bootstraps, 1)
        return (
            f"{self.bootstraps} bootstraps in {self.seconds:.2f} s on {self.threads} threads, measured: "
            f"{each:.1f} ms each a thread"
        )


def _encrypted(name: str, value: Any) -> dict[str, EncryptedIntegers]:
    found = names("encrypted integers", DataError)(name, value)
    item = instance(EncryptedIntegers, "encrypted integers, as client.encrypt makes them", DataError)
    return {key: item(f"{name}[{key!r}]", cipher) for key, cipher in found.items()}


def _by_name(what: str, given: Mapping[str, Any], known: Sequence[_Argument]) -> list[Any]:
    """What is given for each, in order; one that is missing or unknown is refused."""
    for name in given:
        if name not in {argument.name for argument in known}:
            raise UnknownName(f"the circuit has no {what} `{name}`; {closest(name, [a.name for a in known])}")
    missing = [argument.name for argument in known if argument.name not in given]
    if missing:
        raise DataError(f"{what} {missing[0]} is missing; the circuit has {', '.join(a.name for a in known)}")
    return [given[argument.name] for argument in known]


# The constructors of both are public, their parameters are their fields.
CircuitInputs.__init__ = arguments(  # type: ignore[method-assign]
    "rm.CircuitInputs", ciphertexts=_encrypted, evaluation_keys=_KEYS
)(CircuitInputs.__init__)
CircuitRun.__init__ = arguments(  # type: ignore[method-assign]
    "rm.CircuitRun",
    ciphertexts=_encrypted,
    seconds=number(DataError),
    bootstraps=integer(0, None, DataError),
    threads=integer(1, None, DataError),
)(CircuitRun.__init__)


class CircuitClient:
    """Holds the secret key: encrypts inputs and decrypts outputs. Made by :meth:`CompiledCircuit.keygen`."""

    @arguments("rm.CircuitClient", keys=instance(CircuitKeys, "those of CompiledCircuit.keygen"))
    def __init__(
        self, keys: CircuitKeys, inputs: Sequence[_Argument], outputs: Sequence[_Argument], shape: Shape
    ) -> None:
        self._keys, self._inputs, self._outputs, self._shape = keys, inputs, outputs, shape

    @property
    def evaluation_keys(self) -> CircuitEvaluationKeys:
        """What a server needs to run the circuit, and no more: no secret is in it."""
        return self._keys.evaluation_keys

    @property
    def key_id(self) -> str | None:
        """The identity of the secret key, which ciphertexts and keys made with it carry, in hexadecimal."""
        return self._keys.key_id

    @arguments()
    def encrypt(self, /, **inputs: Any) -> CircuitInputs:
        """Encrypts the inputs, each a whole number of its type or an array of as many as it says.

        Raises :class:`DataError` for a missing input, a wrong length, or a value that the type does not have.
        """
        given = _by_name("input", inputs, self._inputs)
        encrypted = {
            argument.name: self._keys.encrypt(argument.first, argument.values(value))
            for argument, value in zip(self._inputs, given, strict=True)
        }
        return CircuitInputs(encrypted, self.evaluation_keys)

    @arguments()
    def decrypt(self, outputs: CircuitRun | Mapping[str, EncryptedIntegers]) -> Any:
        """The outputs in the structure that the function returned them in: exact, numbers and arrays.

        Raises :class:`KeysError` for ciphertexts of another key.
        """
        found = outputs.ciphertexts if isinstance(outputs, CircuitRun) else _encrypted("outputs", outputs)
        ciphers = _by_name("output", found, self._outputs)
        values = [
            output.array(self._keys.decrypt(output.first, output.count, cipher))
            for output, cipher in zip(self._outputs, ciphers, strict=True)
        ]
        return self._shape.build(values)

    @arguments(path=path)
    def save_secret_key(self, path: Path) -> None:
        """Writes the secret key. Whoever has the file can read everything encrypted under it (mode 0600)."""
        self._keys.save_secret_key(path)

    def __repr__(self) -> str:
        return "<ringmill client of a circuit>"


class CompiledCircuit:
    """A circuit ready to run; made by :meth:`Circuit.compile`."""

    @arguments("rm.CompiledCircuit", inner=instance(LoweredCircuit, "a compiled circuit: Circuit.compile makes them"))
    def __init__(
        self,
        name: str,
        inner: LoweredCircuit,
        inputs: Sequence[_Argument],
        outputs: Sequence[_Argument],
        shape: Shape,
    ) -> None:
        self._name, self._inner, self._inputs, self._outputs, self._shape = name, inner, inputs, outputs, shape
        self.bootstraps, self.depth, self.failure = inner.cost

    bootstraps: int
    """How many bootstraps a run takes: nearly all of its time."""
    depth: int
    """Bootstraps of the longest chain, which no number of threads shortens."""
    failure: float
    """log2 of the probability that any of them fails, by the noise model: then results are wrong."""

    @property
    def params(self) -> CircuitParams:
        return self._inner.params

    @arguments()
    def keygen(self) -> CircuitClient:
        """Fresh keys from the system's randomness."""
        return CircuitClient(self._inner.keygen(), self._inputs, self._outputs, self._shape)

    @arguments(path=path)
    def load_secret_key(self, path: Path) -> CircuitClient:
        """The client whose secret key was saved, with fresh evaluation keys."""
        return CircuitClient(self._inner.load_secret_key(path), self._inputs, self._outputs, self._shape)

    @arguments(
        keys=_KEYS,
        threads=optional(integer(1, 1024)),
        progress=flag(),
        checkpoint=optional(path),
        every=number(),
        resume=optional(path),
    )
    def run(
        self,
        inputs: CircuitInputs | Mapping[str, EncryptedIntegers],
        *,
        keys: CircuitEvaluationKeys | None = None,
        threads: int | None = None,
        progress: bool = True,
        checkpoint: Path | None = None,
        every: float = 30.0,
        resume: Path | None = None,
    ) -> CircuitRun:
        """Runs the circuit on the CPU, on all its cores or so many threads; the same ciphertexts come out.

        The keys come with the inputs when :meth:`CircuitClient.encrypt` made them; give `keys` otherwise. A run of more
        than a second shows how far it is, where standard error is a terminal and `progress` is not false.

        `checkpoint` names a file in which the run is saved, not before `every` seconds have passed since the last time,
        and when it is interrupted. ``resume=`` that file, with the same circuit and inputs, goes on from there.
        """
        if isinstance(inputs, CircuitInputs):
            found, keys = inputs.ciphertexts, keys or inputs.evaluation_keys
        else:
            found = _encrypted("inputs", inputs)
        if keys is None:
            raise KeysError("the evaluation keys are missing; pass keys=client.evaluation_keys")
        ciphers = _by_name("input", found, self._inputs)
        saving = None if checkpoint is None else (checkpoint, every)
        groups = ([a.count for a in self._inputs], [a.count for a in self._outputs])
        outputs, seconds, used, _ = self._inner.run(ciphers, keys, groups, threads or 0, progress, saving, resume)
        results = {output.name: cipher for output, cipher in zip(self._outputs, outputs, strict=True)}
        return CircuitRun(results, seconds, self.bootstraps, used)

    def __repr__(self) -> str:
        return (
            f"<ringmill compiled circuit {self._name}: {self.bootstraps} bootstraps, {self.depth} in a row, "
            f"wrong with probability 2^{self.failure:.0f}>"
        )


@arguments("rm.circuit_params", name=text(ParameterError), toy_for_tests_only=flag(ParameterError))
def parameters(name: str = "circuits", *, toy_for_tests_only: bool = False) -> CircuitParams:
    """The parameters of a named set for circuits; docs/tfhe.md lists them with their security.

    `toy_for_tests_only` gives small ones in their place, which keep nothing secret.
    """
    known = circuit_sets()
    if name not in known:
        raise ParameterError(f"there is no set {shown(name)} for circuits; {closest(name, known)}")
    return circuit_params(name, toy_for_tests_only)
