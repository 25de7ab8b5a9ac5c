# SPDX-License-Identifier: Apache-2.0
"""Programs on encrypted data: the decorator, and the methods of a decorated function."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import logging
import math
import numbers
import time
import types
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ringmill import arrays as shaped
from ringmill._ringmill import MAX_SLOTS, CompiledProgram, MacroProgram, Params, compile_program, evaluate_program
from ringmill.arrays import trees
from ringmill.bootstrapping import Bootstrapping, setup_or_flag
from ringmill.check import (
    Check,
    arguments,
    by_hand,
    closest,
    integer,
    names,
    number,
    optional,
    shown,
    text,
    whole_or_real,
)
from ringmill.compiled import Compiled
from ringmill.errors import (
    ArgumentError,
    CompileError,
    DataError,
    DefaultBoundWarning,
    DeviceError,
    ParameterError,
    UnknownName,
)
from ringmill.fill import Fill
from ringmill.frames import public, user_line
from ringmill.limits import memory_size
from ringmill.log import LOGGER, timed
from ringmill.parameters import params_made
from ringmill.ranges import Sizes, whole_ranges
from ringmill.schemes import Choice, Scheme, Signature, choose, name_in_text, named, of_text
from ringmill.shape import Shape
from ringmill.trace import Annotation, Encrypted, Tracer, Vector, compile_error, mixed, refuse
from ringmill.types import SLOTS, Type, real
from ringmill.values import Tiled, as_vector, as_vectors, numeric, spread, typed, whole_slots
from ringmill.waiting import waiting

_WHOLE = integer(0, 2**32 - 1, ParameterError)
_PREFERENCES = ("speed", "keys")


def _preference(name: str, value: Any) -> str:
    """The check of a `prefer` argument."""
    word = text(ParameterError)(name, value)
    if word not in _PREFERENCES:
        raise ParameterError(f"{name}: there is no preference {shown(word)}; {closest(word, _PREFERENCES)}")
    return word


def _batch(name: str, value: Any) -> Any:
    """The check of a `batch` argument: a number of inputs, or True for as many as fit."""
    return True if value is True else integer(1, 1 << 20, CompileError)(name, value)


def _params(name: str, value: Any) -> Params:
    """Checks parameters. If the value is a number, the message advises to give it as the slots."""
    if isinstance(value, int):
        raise ParameterError(
            f"{name} must be parameters, as rm.params makes them, and is {shown(value)}; the length of vectors is "
            f"slots={shown(value)}"
        )
    return params_made(name, value)


def function_for(decorator: str) -> Check:
    """Checks for a function written in Python, for a decorator."""

    def check(_name: str, value: Any) -> Any:
        if not hasattr(value, "__code__"):
            by_hand(f"{decorator} takes a Python function, and got {shown(value)}")()
        return value

    return check


@arguments("rm.program", function=function_for("@rm.program"))
def program(function: Callable[..., Any]) -> Program:
    """Makes a program of a function whose parameters are annotated ``rm.Encrypted`` or ``rm.Plain``.

    A type in brackets says what a parameter holds, as in ``rm.Encrypted[rm.real[64]]``. Without a type the parameter is
    a vector of real or complex numbers, one for each slot of the program, which only CKKS computes on.

    The function computes on whole vectors of slots. If all types are declared and :meth:`Program.compile` gets no
    `slots`, it computes on arrays. It returns one encrypted value, or a tuple or dict of them. Each compilation runs it
    once, on stand-ins, so loops and ``if`` on ordinary Python values are unrolled. A program that is called with
    vectors of another program becomes part of it.

    >>> import ringmill as rm
    >>> @rm.program
    ... def norm(x: rm.Encrypted, y: rm.Encrypted):
    ...     return x * x + y * y
    >>> norm(x=[3.0, 5.0], y=[4.0, 12.0])  # in the clear, to try it out
    array([ 25., 169.])
    """
    return Program(function)


class Program:
    """A traced function. :func:`program` makes it."""

    @arguments("rm.Program", function=function_for("@rm.program"))
    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        code = function.__code__
        self._function = function
        self._line = (code.co_filename.encode(errors="backslashreplace").decode(), code.co_firstlineno)
        self._arguments: dict[str, Annotation] | None = None
        self._trees: dict[str, trees.Tree] = {}
        self._defaults: dict[str, Any] = {}

    def __get__(self, instance: Any, _owner: Any = None) -> Program:
        """Returns the program of a method: its function with the object that it belongs to.

        The first parameter of a method has no type. A program without such a parameter is an attribute like any other.
        """
        first = next(iter(inspect.signature(self._function).parameters.values()), None)
        if instance is None or first is None or first.annotation is not first.empty:
            return self
        return Program(types.MethodType(self._function, instance))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Program) and self._function == other._function

    def __hash__(self) -> int:
        return hash(self._function)

    @property
    def name(self) -> str:
        return str(self._function.__name__)

    @property
    def parameters(self) -> dict[str, bool]:
        """The parameters in order, each with whether it arrives encrypted."""
        return {name: argument.vector is Encrypted for name, argument in self._annotations.items()}

    @property
    def signature(self) -> Signature:
        """The types of the parameters, and the line of the program."""
        return Signature({name: argument.type for name, argument in self._annotations.items()}, self._line)

    @property
    def _annotations(self) -> dict[str, Annotation]:
        if self._arguments is None:
            self._arguments = self._read_parameters()
        return self._arguments

    def _read_parameters(self) -> dict[str, Annotation]:
        try:
            signature = inspect.signature(self._function, eval_str=True)
        except Exception as error:
            refuse(f"an annotation of {self.name} cannot be read: {error}", self._line)
        parameters = {}
        for name, parameter in signature.parameters.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                refuse(f"{self.name} takes *{name}: a program has a fixed list of parameters", self._line)
            has_default = parameter.default is not parameter.empty
            if has_default and parameter.annotation is parameter.empty:
                self._defaults[name] = parameter.default  # a constant of the program
                continue
            found = trees.of_annotation(parameter.annotation)
            if found is None:
                refuse(
                    f"parameter {name} of {self.name} must be annotated rm.Encrypted or rm.Plain, with its type in "
                    "brackets or without, or a structure of these, as [rm.Plain[rm.real[3]], rm.Plain[rm.real[2]]] or "
                    "a dataclass",
                    self._line,
                )
            tree, leaves = found
            if len({leaf.vector for leaf in leaves}) > 1:
                refuse(
                    f"parameter {name} of {self.name} has encrypted and plain arrays; split it, since a client "
                    "encrypts the ones and a server encodes the others",
                    self._line,
                )
            if tree.kind != "leaf":
                self._trees[name] = tree
            if has_default and parameter.default is not None:
                self._defaults[name] = parameter.default
            parameters |= zip(tree.paths(name), leaves, strict=True)
        if not any(annotation.vector is Encrypted for annotation in parameters.values()):
            refuse(f"{self.name} has no encrypted parameter; annotate one rm.Encrypted", self._line)
        return parameters

    @arguments("trace", scheme=optional(text(CompileError)))
    def trace(self, slots: int, *, scheme: str | None = None) -> tuple[MacroProgram, Shape]:
        """Traces the function for vectors of `slots` values. Returns the macro program and the shape of the function's
        result.
        """
        text = name_in_text(scheme, self.signature)
        if self._of_arrays(slots):
            traced, interface, _ = self._trace_arrays(self._checked(slots), text)
            return traced, interface.shape
        return self._trace(slots, text)

    def _trace(self, slots: int, scheme: str) -> tuple[MacroProgram, Shape]:
        slots = self._checked(slots)
        tracer = Tracer(self.name, slots, scheme)
        arguments = {}
        for name, argument in self._annotations.items():
            if (argument.type.length or 0) > slots:
                refuse(
                    f"argument {name} of type {argument.type} does not fit the program's {slots} slots; compile with "
                    f"slots={self._slots_for(slots)}",
                    self._line,
                )
            number = tracer.builder.input(name, argument.vector is Encrypted, *self._line)
            fill = Fill.of(argument.type, slots)
            arguments[name] = argument.vector(tracer, number, argument.type.element, fill)
        shape, values = Shape.of(self._traced(tracer, arguments), self._line, "the program")
        for name, value in zip(shape.names, values, strict=True):
            if not isinstance(value, Encrypted) or value._tracer is not tracer:
                found = "a plain vector" if isinstance(value, Vector) else type(value).__name__
                cure = "; return its .vector" if isinstance(getattr(value, "vector", None), Encrypted) else ""
                refuse(
                    f"output {name} of {self.name} must be an encrypted vector of this program, and is {found}{cure}",
                    self._line,
                )
            tracer.builder.output(name, value._id, *self._line)
        return tracer.builder.finish(), shape.of_lengths([value._fill.length for value in values])

    def _checked(self, slots: Any) -> int:
        """Returns the slots of a program if they are a power of two."""

        def at_our_line(said: str) -> CompileError:
            return compile_error(f"{said}{self._declared_length(slots)}", self._line)

        return int(integer(1, MAX_SLOTS, at_our_line, power_of_two=True)("slots", slots))

    def _of_arrays(self, slots: int | None) -> bool:
        """Returns whether the program computes on arrays. Otherwise it computes on vectors of `slots`.

        Arrays of several dimensions need that. Other programs of declared types take it unless slots are given.
        """
        kinds = [argument.type for argument in self._annotations.values()]
        several = any(len(kind.shape) > 1 for kind in kinds) or bool(self._trees)
        return several or (slots is None and SLOTS not in kinds)

    def _trace_arrays(
        self, slots: int | None, scheme: str, **search: Any
    ) -> tuple[MacroProgram, shaped.Interface, Any]:
        """Traces the function of arrays. Returns the macro program, how arrays stand in its slots, and the layouts."""
        for name, argument in self._annotations.items():
            if argument.type == SLOTS:
                refuse(
                    f"argument {name} is a vector of slots, and others are arrays; declare its shape, as in "
                    f"rm.{argument.vector.__name__}[rm.real[100, 30]]",
                    self._line,
                )
        kinds = {name: (argument.type, argument.vector is Encrypted) for name, argument in self._annotations.items()}
        program, interface, choice = shaped.traced(
            self.name, kinds, self._line, self._with_arrays, scheme, slots, **search
        )
        constants = self._constants
        defaults = {name: value for name, value in self._defaults.items() if name not in constants}
        return program, dataclasses.replace(interface, structures=self._trees, defaults=defaults), choice

    @property
    def _constants(self) -> set[str]:
        """The parameters that are no arguments of the program, since they have a value and no type."""
        declared = {*self._annotations, *self._trees}
        return {name for name in self._defaults if name not in declared}

    def _with_arrays(self, graph: Any, arguments: Mapping[str, Any]) -> Any:
        """Calls the function with arrays of a trace, which stand in its structures."""
        built = {
            name: tree.build(iter([arguments[path] for path in tree.paths(name)])) for name, tree in self._trees.items()
        }
        return self._called(graph.inside, {**arguments, **built})

    def _flat(self, values: Mapping[str, Any], refused: Any) -> dict[str, Any]:
        """Returns the arrays of structures by name."""
        flat = {name: value for name, value in values.items() if name not in self._trees}
        for name, tree in self._trees.items():
            what = f"{self.name}: argument {name}"
            flat |= zip(tree.paths(name), tree.leaves(what, values[name], refused), strict=True)
        return flat

    def _bound(self, args: Any, kwargs: Any, refusal: Any) -> dict[str, Any]:
        """Returns the values of a call by parameter, without the constants."""
        values: dict[str, Any] = arguments(self.name, refusal)(bind(self._function))(*args, **kwargs)
        for name in self._constants:
            if values.pop(name) is not self._defaults[name]:
                raise refusal(
                    f"parameter {name} of {self.name} has no type, so it is a constant of the program; annotate it "
                    "rm.Plain[...], or write a program for each value"
                )
        return values

    def _slots_for(self, usual: int) -> int:
        """Returns slots that hold all declared lengths, or the usual number if no length is declared."""
        kinds = [argument.type for argument in self._annotations.values()]
        return _room(kinds) if any(kind.length for kind in kinds) else usual

    def _declared_length(self, length: Any) -> str:
        """Returns advice to declare vectors whose length is no number of slots."""
        if not isinstance(length, int) or not 1 < length <= MAX_SLOTS:
            return ""
        name, argument = next(iter(self._annotations.items()))
        element = "rm.real" if argument.type == SLOTS else repr(argument.type.element)
        return (
            f"; for {length} values annotate {name}: rm.{argument.vector.__name__}[{element}[{length}]], and compile "
            f"with slots={1 << (length - 1).bit_length()}"
        )

    def _traced(self, tracer: Tracer, arguments: Mapping[str, Any]) -> Any:
        """Calls the function with vectors of a trace."""
        return self._called(tracer.inside, arguments)

    def _called(self, inside: list[Any], arguments: Mapping[str, Any]) -> Any:
        """Calls the function. `inside` has the programs whose functions run."""
        if self in inside:
            refuse(f"{self.name} calls itself, and nothing could end that; write a loop")
        signature = inspect.signature(self._function)
        bound = inspect.BoundArguments(signature, dict(arguments))  # type: ignore[arg-type]
        inside.append(self)
        try:
            return self._function(*bound.args, **bound.kwargs)
        finally:
            inside.pop()

    @arguments(
        "compile",
        params=optional(_params),
        scheme=optional(text(CompileError)),
        batch=optional(_batch),
    )
    def compile(
        self,
        params: Params | None = None,
        *,
        slots: int | None = None,
        scheme: str | None = None,
        batch: int | bool | None = None,
        **options: Any,
    ) -> Compiled:
        """Compiles the program. `options` are those of :func:`compile_traced`.

        A program of arrays needs no `slots`. With `batch`, it takes that many inputs at once: encrypted arguments and
        results have a leading axis of that length, and plain arguments are the same for all. With ``batch=True`` that
        axis has any length, and :attr:`Compiled.batch` inputs share a ciphertext. Other programs are compiled for
        vectors of `slots` values.

        Without `params` the compiler chooses secure parameters, of the smallest ring degree that holds the program or
        the next one. Otherwise it checks that `params` hold it. `slots` is a power of two, at most half the ring
        degree. With `params` it may be left out, and then is half the ring degree.

        `scheme` names the scheme, as in ``scheme="ckks"``. The default is the first scheme that takes the types of all
        arguments. :attr:`Compiled.scheme_reason` and the reports of runs give the reason for the choice.

        The most useful `options` are `ranges`, the ranges of each input's values, or `sample`, typical inputs by name.
        From either the compiler derives how large values become. `precision` asks for bits after the binary point.

        Raises :class:`CompileError` with the line of the program at fault, or :class:`ParameterError`.
        """
        check_options("compile", params, options)
        setup = options.get("bootstrapping")
        if isinstance(setup, Bootstrapping):
            params = setup.params if params is None else params
            scheme = setup.params.scheme if scheme is None else scheme
            known = named(setup.params.scheme)
            if slots is None and not (known is not None and not known.exact and self._of_arrays(None)):
                slots = setup.slots
        with waiting(f'compiling "{self.name}"'):
            return self._compile(params, slots, scheme, batch, options)

    def _compile(
        self, params: Params | None, slots: int | None, scheme: str | None, batch: Any, options: dict[str, Any]
    ) -> Compiled:
        if self._of_arrays(slots):
            return self._compile_arrays(params, slots, scheme, batch, options)
        if batch is not None:
            refuse(
                f"batch={batch} is about arrays, and {self.name} is of vectors of slots; leave slots= out", self._line
            )
        if slots is None:
            if params is None:
                refuse(
                    f"{self.name}.compile needs slots=, how many values its vectors have, a power of two, unless "
                    f"params= are given; write {self.name}.compile(slots={self._slots_for(1024)})"
                )
            slots = params.slots
        # Faults of single lines are reported before those of the whole program.
        given = None if params is None else params.scheme
        with timed(logging.DEBUG, "traced %s", self.name):
            traced, shape = self._trace(slots, name_in_text(scheme, self.signature, given))
        choice = choose(scheme, self.signature, given)
        return compile_traced(traced, shape, params, signature=self.signature, choice=choice, **options)

    def _compile_arrays(
        self,
        params: Params | None,
        slots: int | None,
        scheme: str | None,
        batch: Any,
        options: dict[str, Any],
    ) -> Compiled:
        given = None if params is None else params.scheme
        if slots is None and params is not None:
            slots = params.slots
        if slots is not None:
            slots = self._checked(slots)
        with timed(logging.DEBUG, "traced %s", self.name):
            traced, interface, _ = self._trace_arrays(slots, name_in_text(scheme, self.signature, given), batch=batch)
        choice = choose(scheme, self.signature, given)
        compiled = compile_arrays(traced, interface, params, choice, options)
        if batch is True and slots is None and compiled.params.slots > interface.slots:
            # The ring that the depth takes has room for more inputs.
            return self._compile_arrays(None, compiled.params.slots, scheme, batch, options)
        return compiled

    @public
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the program in the clear, on numpy arrays of one power-of-two length, or of the declared types.

        If all types are declared, the slots are the least power of two that holds the longest array.

        On vectors of another program it becomes part of that program, and returns vectors of it.
        """
        if trees.first_of([*args, *kwargs.values()], shaped.Traced) is not None:
            return self._with_arrays(*self._inlined_arrays(args, kwargs))
        tracers = [value._tracer for value in (*args, *kwargs.values()) if isinstance(value, Vector)]
        if tracers and self._trees:
            refuse(f"{self.name} takes structures of arrays, and this program is of vectors of slots")
        values = self._bound(args, kwargs, compile_error if tracers else ArgumentError)
        return self._inlined(tracers[0], values) if tracers else self._in_the_clear(values)

    def _inlined(self, tracer: Tracer, values: Mapping[str, Any]) -> Any:
        """Calls the function as a part of another program."""
        placed = {}
        for name, encrypted in self.parameters.items():
            value, argument = values[name], f"argument {name} of {self.name}"
            kind = self.signature.of(name)
            if len(kind.shape) > 1:
                refuse(f"{argument} is of type {kind}, and this program is of vectors of slots; declare shapes in both")
            if isinstance(value, Vector):
                if value._tracer is not tracer:
                    refuse(f"{argument} belongs to another program; give it to this one as an argument")
                mixed(kind.element, value._kind)
                fill = Fill.of(kind, tracer.slots)
                if kind.length is not None and value._fill.length != fill.length:
                    refuse(
                        f"{argument} is of type {kind}, and gets {value._fill.length or tracer.slots} values; declare "
                        "both of one length"
                    )
            if encrypted and not isinstance(value, Encrypted):
                refuse(f"{argument} must be an encrypted vector, and is {shown(value)}")
            if isinstance(value, Vector):
                continue
            if kind != SLOTS:
                placed[name] = tracer.argument(argument, value, kind)
            elif not isinstance(value, Tiled):
                numeric(argument, value, compile_error)
        return self._traced(tracer, {**values, **placed})

    def _inlined_arrays(self, args: Any, kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """Checks arrays of another program that become this one's arguments. Returns their graph and the arguments."""
        values = self._flat(self._bound(args, kwargs, compile_error), compile_error)
        traced = next((value for value in values.values() if isinstance(value, shaped.Traced)), None)
        if traced is None:
            refuse(f"{self.name} takes arrays, and gets a traced array within one of them; np.stack puts them together")
        graph = traced._graph
        for name, argument in self._annotations.items():
            value, what = values[name], f"argument {name} of {self.name}"
            if isinstance(value, shaped.Traced):
                if argument.type != SLOTS:
                    mixed(argument.type.element, value._kind)
                    if value.shape != argument.type.shape:
                        refuse(f"{what} is of type {argument.type}, and gets shape {value.shape}; declare both alike")
            elif argument.vector is not Encrypted and argument.type != SLOTS:
                values[name] = typed(what, value, argument.type, compile_error)
            if argument.vector is Encrypted and not isinstance(value, shaped.Array):
                refuse(f"{what} must be an encrypted array, and is {shown(value)}")
        return graph, values

    def _arrays_in_the_clear(self, values: Mapping[str, Any]) -> Any:
        kinds = self.signature.types
        values = self._flat(values, DataError)
        for name, kind in kinds.items():
            typed(f"argument {name} of {self.name}", values[name], kind)
        choose(None, self.signature)
        traced, interface, _ = self._trace_arrays(None, name_in_text(None, self.signature), work=0)
        signature = interface.signature
        packed = dataclasses.replace(interface, structures={}).pack(values)
        vectors = as_vectors(packed, interface.slots, signature.of)
        outputs = evaluate_program(traced, [vectors[name] for name, _ in traced.inputs])
        return interface.shape.arrays([as_real(outputs[name]) for name in interface.shape.names])

    def _in_the_clear(self, values: Mapping[str, Any]) -> Any:
        if self._of_arrays(0):
            return self._arrays_in_the_clear(values)
        if not self._of_arrays(None):
            return self._slots_in_the_clear(values)
        try:
            return self._slots_in_the_clear(values)
        except CompileError as refusal:
            try:
                return self._arrays_in_the_clear(values)
            except CompileError:
                raise refusal from None

    def _slots_in_the_clear(self, values: Mapping[str, Any]) -> Any:
        kinds = self.signature.types
        declared = {
            name: typed(f"argument {name} of {self.name}", value, kinds[name])
            for name, value in values.items()
            if kinds[name] != SLOTS
        }
        choose(None, self.signature)  # no clear evaluator computes what no scheme computes
        tiled = {name: value for name, value in values.items() if name not in declared and isinstance(value, Tiled)}
        arrays = {
            name: np.atleast_1d(numeric(f"argument {name} of {self.name}", value))
            for name, value in values.items()
            if name not in declared and name not in tiled
        }
        lengths = {array.size for array in arrays.values()}
        if declared and not arrays:
            lengths = {_room(kinds[name] for name in declared)}
        if len(lengths) != 1 or any(array.ndim != 1 for array in arrays.values()):
            shapes = ", ".join(f"{name} of shape {array.shape}" for name, array in arrays.items())
            raise DataError(f"{self.name} computes on vectors of one length, and got {shapes or 'tiled values alone'}")
        length = lengths.pop()

        def refused(said: str) -> DataError:
            return DataError(f"{said}{self._declared_length(length)}")

        slots = integer(1, MAX_SLOTS, refused, power_of_two=True)(f"{self.name}: the vectors' length", length)
        arrays |= {name: as_vector(name, value, slots) for name, value in tiled.items()}
        traced, shape = self.trace(slots)  # refuses arrays longer than the slots
        arrays |= {
            name: whole_slots(f"argument {name}", value, slots) if kinds[name].whole else spread(value, slots)
            for name, value in declared.items()
        }
        outputs = evaluate_program(traced, [arrays[name] for name, _ in traced.inputs])
        return shape.arrays([as_real(outputs[name]) for name in shape.names])

    def __repr__(self) -> str:
        parameters = inspect.signature(self._function).parameters.values()
        kinds = ", ".join(f"{p.name}: {getattr(p.annotation, '__name__', p.annotation)}" for p in parameters)
        return f"<ringmill program {self.name}({kinds})>"


def _room(kinds: Iterable[Type]) -> int:
    """Returns the least power of two of slots that holds values of these types."""
    return 1 << (max(kind.length or 1 for kind in kinds) - 1).bit_length()


def bind(function: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    """Returns a function of the same parameters that returns its arguments by name."""

    def bound(*args: Any, **kwargs: Any) -> dict[str, Any]:
        values = bound.__signature__.bind(*args, **kwargs)  # type: ignore[attr-defined]
        values.apply_defaults()
        return values.arguments

    bound.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return bound


# The options that decide parameters which the compiler chooses.
_FOR_CHOSEN = ("digits", "precision", "integer_bits", "table", "security", "prefer", "keys")


def check_options(label: str, params: Params | None, options: Mapping[str, Any]) -> None:
    """Refuses options that :func:`compile_traced` does not have, or that have no effect if parameters are given."""
    decided = ("traced", "shape", "signature", "choice", "params")
    known = ["scheme", *(name for name in inspect.signature(compile_traced).parameters if name not in decided)]
    for name in options:
        if name not in known:
            raise ArgumentError(f"{label} has no argument `{name}`; {closest(name, known)}")
        if params is not None and name in _FOR_CHOSEN:
            raise ParameterError(
                f"{name}= decides parameters that are chosen, and params= is given; leave one of them out"
            )


@arguments(
    "compile",
    params=optional(params_made),
    digits=optional(_WHOLE),
    precision=optional(_WHOLE),
    integer_bits=optional(_WHOLE),
    input_bound=optional(whole_or_real(DataError)),
    ranges=optional(names("ranges", DataError)),
    sample=optional(names("typical values", DataError)),
    margin=optional(number(DataError)),
    table=text(ParameterError),
    security=_WHOLE,
    target=optional(text(DeviceError)),
    bootstrapping=optional(setup_or_flag),
    prefer=_preference,
    keys=optional(memory_size),
)
def compile_traced(
    traced: MacroProgram,
    shape: Shape,
    params: Params | None = None,
    *,
    signature: Signature | None = None,
    choice: Choice | None = None,
    digits: int | None = None,
    precision: int | None = None,
    integer_bits: int | None = None,
    input_bound: float | None = None,
    ranges: Mapping[str, Any] | None = None,
    sample: Mapping[str, Any] | None = None,
    margin: float | None = None,
    table: str = "guidelines_2024",
    security: int = 128,
    target: str | None = None,
    bootstrapping: Bootstrapping | bool | None = None,
    prefer: str = "speed",
    keys: int | str | None = None,
) -> Compiled:
    """Compiles a traced program.

    Without `params`, parameters are chosen for `security` bits under `table`. Outputs then have `digits` right decimal
    digits (6 by default), relative to the output's largest absolute value on `sample`, or to its bound without a
    sample. `precision` asks for bits after the binary point in place of digits. No value outgrows its level, and
    outputs hold all absolute values below 2^`integer_bits` at least. Results of a program of whole numbers are exact,
    so none of these options applies to one.

    The ranges of the inputs limit all values. No value wraps around for inputs within their ranges, and other inputs
    are refused when they are encrypted or encoded. The range of each input comes from one of these:

    * `ranges`, by name: ``(lowest, highest)`` for real numbers, or one number as the largest absolute value;
    * `sample`, typical values of every input by name, encrypted and plain. The range goes from the least to the largest
      real number, or up to the largest absolute value of complex ones. Each end is multiplied by `margin` (2 by
      default) and rounded up to a power of two. Zero is an end if all values have one sign. For whole numbers the range
      is as wide on both sides of 0;
    * `input_bound`, the largest absolute value. The default is 1, with a :class:`DefaultBoundWarning`.

    A largest absolute value allows complex numbers too, except for inputs of type ``rm.real``.

    Ranges of whole numbers have whole ends. Inputs of type ``rm.uint(bits)`` and ``rm.bit`` have the range of the type,
    unless `ranges` has a narrower one. An input of type ``rm.integer`` without a range is refused.

    `target` names the machine that the program is compiled for (``"ring"``, or a description file). Chosen parameters
    keep to its word size, ring degrees and moduli. If none can, or if the given ones do not, the refusal names the
    field of its description.

    `prefer` decides among the numbers of key-switching digits that the ring degree has room for: ``"speed"`` takes the
    least time, ``"keys"`` the smallest evaluation keys. `keys` is the most that evaluation keys may take, a number of
    bytes or text such as ``"2GiB"``.

    `bootstrapping` is a set of parameters that bootstraps (:func:`ringmill.bootstrapping`). The program may then have
    any depth. With a set for whole numbers its procedures and repeats stay as they are. It computes on whole numbers
    modulo the set's p^r, and inputs may be any of these numbers. A program of approximate numbers bootstraps by itself
    where no other parameters have enough levels; ``bootstrapping=False`` refuses it then.

    :attr:`Compiled.predicted_bits` is a bound for all inputs within their ranges, wherever these come from. It fails
    with a probability of at most 2^-40 (docs/assumptions.md). With `sample`, `digits` or `precision` holds for inputs
    like the sample alone (:attr:`Compiled.predicted_bits_like_sample`). For them no value in the program is larger than
    `margin` times its largest on the sample. Files keep nothing of a sample except the ranges, in powers of two, and
    the chosen parameters, unless :meth:`Compiled.save` is told to keep it. A report names the largest absolute value of
    an output on the sample, rounded down to a power of two.

    Raises :class:`CompileError` with the line of a value that no parameters hold, or that the given ones do not hold,
    and :class:`DataError` for ranges or a sample that do not fit the program.

    >>> import numpy as np
    >>> import ringmill as rm
    >>> @rm.program
    ... def total(x: rm.Encrypted):
    ...     return rm.sum(x, 1024)
    >>> salaries = total.compile(slots=1024, ranges={"x": (0, 200_000)}, precision=10)
    >>> salaries.ranges
    {'x': (0.0, 200000.0)}
    >>> by_sample = total.compile(slots=1024, sample={"x": np.linspace(-1, 1, 1024)})
    >>> by_sample.ranges
    {'x': (-2.0, 2.0)}
    """
    if sample is not None and input_bound is not None:
        raise DataError("sample= and input_bound= both say how large inputs are; give one of them")
    if digits is not None and precision is not None:
        raise ParameterError("digits= and precision= both say how exact outputs are; give one of them")
    bound = 1.0 if input_bound is None else float(input_bound)
    if not (math.isfinite(bound) and bound > 0):
        raise DataError(f"input_bound is the largest absolute value of an input slot, a positive number, not {bound}")
    if margin is not None and sample is None:
        raise DataError("margin= is about a sample, and sample= is not given; give it, or leave margin= out")
    if params is not None and params.scheme != traced.scheme:
        raise ParameterError(
            f"the program is for the scheme {traced.scheme} and the parameters are for {params.scheme}; use parameters "
            "of the program's scheme"
        )
    setup = bootstrapping.inner if isinstance(bootstrapping, Bootstrapping) else None
    signature = signature or of_text(traced.scheme)
    scheme = named(traced.scheme)
    if scheme is not None and scheme.exact:
        _no_precision(scheme, digits=digits, precision=precision, integer_bits=integer_bits)
        if isinstance(bootstrapping, Bootstrapping) and input_bound is None and sample is None:
            input_bound = bootstrapping.modulus // 2
        sizes = Sizes(ranges or {}, sample, input_bound, 2.0 if margin is None else margin)
        whole = whole_ranges(traced, signature, sizes)
        inner = _compiled(
            traced,
            params,
            None,
            None,
            0,
            1.0,
            whole,
            None,
            2.0,
            table,
            security,
            target,
            setup,
            bootstrapping is not False,
            prefer == "keys",
            keys,
        )
        return Compiled(inner, shape, signature, choice)
    declared = _ranges(traced, ranges or {}, signature, bound if sample is None else None)
    vectors = None if sample is None else _sample(traced, sample, signature)
    if sample is None and input_bound is None:
        _say_default([name for name, _ in traced.inputs if name not in (ranges or {})])
    inner = _compiled(
        traced,
        params,
        precision,
        digits,
        integer_bits or 0,
        bound,
        declared,
        vectors,
        2.0 if margin is None else margin,
        table,
        security,
        target,
        setup,
        bootstrapping is not False,
        prefer == "keys",
        keys,
    )
    return Compiled(inner, shape, signature, choice)


def compile_arrays(
    traced: MacroProgram,
    interface: shaped.Interface,
    params: Params | None,
    choice: Choice,
    options: Mapping[str, Any],
) -> Compiled:
    """Compiles a traced program of arrays. `options` are those of :func:`compile_traced`, by argument."""
    options = dict(options)
    for name, change in (("ranges", interface.ranges), ("sample", interface.sample)):
        if isinstance(options.get(name), Mapping):
            options[name] = change(options[name])
    bare = compile_traced(traced, interface.shape, params, signature=interface.signature, choice=choice, **options)
    return Compiled(bare._inner, interface.shape, interface.signature, choice, interface)


def _compiled(traced: MacroProgram, params: Params | None, *how: Any) -> CompiledProgram:
    """Calls the compiler. The log has its time and the parameters."""
    begin = time.perf_counter()
    inner = compile_program(traced, params, *how)
    LOGGER.debug("compiled %s in %.3f s", inner.name, time.perf_counter() - begin)
    by = "chosen" if params is None else "given"
    mebibytes = inner.key_bytes / 2**20
    LOGGER.info("%s: parameters %s, %r, evaluation keys of %.1f MiB", inner.name, by, inner.params, mebibytes)
    return inner


def _no_precision(scheme: Scheme, **wishes: int | None) -> None:
    for name, value in wishes.items():
        if value is not None:
            raise ParameterError(
                f"{name}= is about approximate results, and those of {scheme.name} are exact; leave it out"
            )


# The lines that were warned about the default bound. One warning for each line is enough.
_SAID: dict[Any, Any] = {}


def _say_default(inputs: Sequence[str]) -> None:
    if inputs:
        which = f"input {inputs[0]} is" if len(inputs) == 1 else f"inputs {', '.join(inputs)} are"
        message = (
            f"{which} taken to be at most 1 in absolute value; say how large with ranges=, sample= or input_bound="
        )
        file, line = user_line()
        warnings.warn_explicit(message, DefaultBoundWarning, file, line, registry=_SAID)


def _ranges(
    traced: MacroProgram, ranges: Mapping[str, Any], signature: Signature, bound: float | None
) -> list[list[float] | None]:
    """Returns the ranges in the order of the program's inputs: a radius, or two ends. None leaves the range to `bound`
    or the sample.

    Inputs of type real have two ends, also with `bound`. An array that is shorter than the slots is followed by zeros,
    so its range is widened to hold 0.
    """
    known = [name for name, _ in traced.inputs]
    for name in ranges:
        if name not in known:
            raise UnknownName(f"ranges: the program has no input {name}; its inputs are {', '.join(known)}")
    declared: list[list[float] | None] = []
    for name in known:
        is_real = signature.of(name).element == real
        if name not in ranges:
            declared.append([-bound, bound] if is_real and bound is not None else None)
            continue
        given = ranges[name]
        ends = np.asarray(given) if isinstance(given, (numbers.Real, tuple, list, np.ndarray)) else None
        if ends is None or ends.dtype.kind not in "iuf" or ends.shape not in ((), (2,)) or not np.isfinite(ends).all():
            raise DataError(
                f"ranges: input {name} takes (lowest, highest), or one number for the largest absolute value, "
                f"and got {shown(given)}"
            )
        ends = np.atleast_1d(ends.astype(float))
        if (ends.size == 2 and ends[0] > ends[1]) or (ends.size == 1 and ends[0] < 0):
            raise DataError(f"ranges: input {name} has no value between {shown(given)}; the lowest comes first")
        if ends.size == 1 and is_real:
            ends = np.array([-ends[0], ends[0]])
        if ends.size == 2 and (signature.of(name).length or traced.slots) < traced.slots:
            ends = np.array([min(ends[0], 0.0), max(ends[1], 0.0)])
        declared.append(ends.tolist())
    return declared


def _sample(traced: MacroProgram, sample: Mapping[str, Any], signature: Signature) -> list[np.ndarray]:
    """Returns the sample's vectors in the order of the program's inputs."""
    known = [name for name, _ in traced.inputs]
    for name in sample:
        if name not in known:
            raise UnknownName(f"sample: the program has no input {name}; its inputs are {', '.join(known)}")
    vectors = []
    for name in known:
        if name not in sample:
            raise DataError(f"sample: input {name} is missing; give typical values of every input, plain ones too")
        vector = as_vector(name, sample[name], traced.slots, signature.of(name))
        if not np.isfinite(vector).all():
            slot = int(np.argmin(np.isfinite(vector)))
            raise DataError(f"sample: value {slot} of input {name} is {vector[slot]}; only finite numbers are typical")
        vectors.append(vector)
    return vectors


def as_real(values: np.ndarray) -> np.ndarray:
    """Drops the imaginary parts if all are exactly zero."""
    return values if np.any(values.imag) else np.ascontiguousarray(values.real)
