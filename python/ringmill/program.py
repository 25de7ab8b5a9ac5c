"""Programs on encrypted data: the decorator, and what a decorated function can do."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ringmill._ringmill import MacroProgram, Params, compile_program, evaluate_program
from ringmill.errors import DataError
from ringmill.runtime import Compiled, as_vector
from ringmill.shape import Shape
from ringmill.trace import Encrypted, Plain, Tracer, Vector, refuse


def program(function: Callable[..., Any]) -> Program:
    """Makes a program of a function whose parameters are annotated ``rm.Encrypted`` or ``rm.Plain``.

    The function computes on whole vectors of slots and returns one encrypted vector, or a tuple or dict of them. It is
    run once, on stand-ins, each time the program is compiled; loops and ``if`` on ordinary Python values are unrolled.

    >>> import ringmill as rm
    >>> @rm.program
    ... def norm(x: rm.Encrypted, y: rm.Encrypted):
    ...     return x * x + y * y
    >>> norm(x=[3.0, 5.0], y=[4.0, 12.0])  # in the clear, to try it out
    array([ 25., 169.])
    """
    return Program(function)


class Program:
    """A traced function; made by :func:`program`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        code = getattr(function, "__code__", None)
        if code is None:
            raise TypeError(f"@rm.program takes a Python function, and got {type(function).__name__}")
        self._function = function
        self._line = (code.co_filename, code.co_firstlineno)
        self._parameters: dict[str, bool] | None = None

    @property
    def name(self) -> str:
        return self._function.__name__

    @property
    def parameters(self) -> dict[str, bool]:
        """The parameters in order, each with whether it arrives encrypted."""
        if self._parameters is None:
            self._parameters = self._read_parameters()
        return self._parameters

    def _read_parameters(self) -> dict[str, bool]:
        try:
            signature = inspect.signature(self._function, eval_str=True)
        except NameError as error:
            refuse(f"an annotation of {self.name} cannot be read: {error}", self._line)
        parameters = {}
        for name, parameter in signature.parameters.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                refuse(f"{self.name} takes *{name}: a program has a fixed list of parameters", self._line)
            if parameter.annotation not in (Encrypted, Plain):
                refuse(f"parameter {name} of {self.name} must be annotated rm.Encrypted or rm.Plain", self._line)
            parameters[name] = parameter.annotation is Encrypted
        if not any(parameters.values()):
            refuse(f"{self.name} has no encrypted parameter; annotate one rm.Encrypted", self._line)
        return parameters

    def trace(self, slots: int) -> tuple[MacroProgram, Shape]:
        """The macro program of this function for vectors of `slots` values, and the shape of what it returns."""
        if not isinstance(slots, int) or slots < 1 or slots & (slots - 1):
            refuse(f"slots must be a power of two, and is {slots!r}", self._line)
        tracer = Tracer(self.name, slots)
        arguments = {
            name: (Encrypted if encrypted else Plain)(tracer, tracer.builder.input(name, encrypted, *self._line))
            for name, encrypted in self.parameters.items()
        }
        shape, values = Shape.of(self._function(**arguments), self._line)
        for name, value in zip(shape.names, values, strict=True):
            if not isinstance(value, Encrypted) or value._tracer is not tracer:
                found = "a plain vector" if isinstance(value, Vector) else type(value).__name__
                refuse(
                    f"output {name} of {self.name} must be an encrypted vector of this program, and is {found}",
                    self._line,
                )
            tracer.builder.output(name, value._id, *self._line)
        return tracer.builder.finish(), shape

    def compile(self, params: Params | None = None, *, slots: int | None = None, **options: Any) -> Compiled:
        """Compiles for vectors of `slots` values; `options` are those of :func:`compile_traced`.

        Without `params`, the smallest secure parameters that hold the program; with them, a check that they do. `slots`
        is a power of two of at most half the ring degree and may be left out when `params` are given: then it is half
        the ring degree.

        `options` of most use: `precision`, bits after the binary point; `sample`, typical inputs by name, which makes
        the predicted precision and the choice of parameters far sharper than a bound does.

        Raises :class:`CompileError` with the line of the program at fault, or :class:`ParameterError`.
        """
        if slots is None:
            if params is None:
                refuse(f"{self.name}.compile needs slots=, the length of its vectors, unless params= are given")
            slots = params.slots
        traced, shape = self.trace(slots)
        return compile_traced(traced, shape, params, **options)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the program in the clear, on numpy arrays of one power-of-two length."""
        bound = inspect.signature(self._function).bind(*args, **kwargs).arguments
        arrays = {name: np.atleast_1d(np.asarray(value, dtype=np.complex128)) for name, value in bound.items()}
        lengths = {array.size for array in arrays.values()}
        if len(lengths) != 1 or any(array.ndim != 1 for array in arrays.values()):
            raise DataError(f"{self.name} computes on vectors of one length, and got lengths {sorted(lengths)}")
        traced, shape = self.trace(lengths.pop())
        outputs = evaluate_program(traced, [arrays[name] for name, _ in traced.inputs])
        return shape.build([as_real(outputs[name]) for name in shape.names])

    def __repr__(self) -> str:
        kinds = ", ".join(f"{n}: {'Encrypted' if e else 'Plain'}" for n, e in self.parameters.items())
        return f"<ringmill program {self.name}({kinds})>"


def compile_traced(
    traced: MacroProgram,
    shape: Shape,
    params: Params | None = None,
    *,
    precision: int = 20,
    integer_bits: int = 5,
    input_bound: float | None = None,
    sample: Mapping[str, Any] | None = None,
    table: str = "guidelines_2024",
    security: int = 128,
) -> Compiled:
    """Compiles a traced program.

    Parameters that are not given are chosen for `security` bits under `table`, so that outputs have `precision` bits
    after the binary point and absolute values below 2^`integer_bits`. A value that outgrows what its level holds wraps
    around, and what comes out is wrong: the report warns where the sizes assumed allow that.

    What sizes are assumed: `sample` holds typical values of every input, encrypted and plain, by name, and values are
    taken to be at most twice as large as on them. Without it, input slots are at most `input_bound` (1 if left out) in
    absolute value and the rest follows by the triangle inequality, which overstates sums of many terms by far. The
    sample must not be a secret from whoever sees the compiled program when parameters are chosen by it; data of the
    same kind, such as what a model was trained on, serves best.

    Raises :class:`DataError` for a sample that does not fit the program.

    >>> import numpy as np
    >>> import ringmill as rm
    >>> @rm.program
    ... def total(x: rm.Encrypted):
    ...     return rm.sum(x, 1024)
    >>> by_bound = total.compile(slots=1024)
    >>> by_sample = total.compile(slots=1024, sample={"x": np.linspace(-1, 1, 1024)})
    >>> bool(by_sample.predicted_bits["out"] >= by_bound.predicted_bits["out"])
    True
    """
    if sample is not None and input_bound is not None:
        raise DataError("sample= and input_bound= both say how large inputs are; give one of them")
    bound = 1.0 if input_bound is None else float(input_bound)
    if not (math.isfinite(bound) and bound > 0):
        raise DataError(f"input_bound is the largest absolute value of an input slot, a positive number, not {bound}")
    vectors = None if sample is None else _sample(traced, sample)
    inner = compile_program(traced, params, precision, integer_bits, bound, vectors, table, security)
    return Compiled(inner, shape)


def _sample(traced: MacroProgram, sample: Mapping[str, Any]) -> list[np.ndarray]:
    """The sample's vectors in the order of the program's inputs."""
    names = [name for name, _ in traced.inputs]
    for name in sample:
        if name not in names:
            raise DataError(f"sample: the program has no input {name}; its inputs are {', '.join(names)}")
    vectors = []
    for name in names:
        if name not in sample:
            raise DataError(f"sample: input {name} is missing; give typical values of every input, plain ones too")
        vector = as_vector(name, sample[name])
        if not np.isfinite(vector).all():
            slot = int(np.argmin(np.isfinite(vector)))
            raise DataError(f"sample: value {slot} of input {name} is {vector[slot]}; only finite numbers are typical")
        vectors.append(vector)
    return vectors


def as_real(values: np.ndarray) -> np.ndarray:
    """Drops imaginary parts that are all exactly zero."""
    return values if np.any(values.imag) else np.ascontiguousarray(values.real)
