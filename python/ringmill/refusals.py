# SPDX-License-Identifier: Apache-2.0
"""Refusals of operations that the package's objects lack, such as operators, pickling and attributes. Each message says
what to write instead.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from ringmill import _ringmill, pickles
from ringmill.bootstrapping import Bootstrapping
from ringmill.check import closest
from ringmill.circuit import Circuit, Netlist
from ringmill.circuit_run import CircuitClient, CircuitInputs, CircuitRun, CompiledCircuit
from ringmill.client import Client
from ringmill.compiled import Compiled
from ringmill.errors import ArgumentError, RingmillError, UnknownAttribute
from ringmill.frames import public
from ringmill.messages import Inputs, Run
from ringmill.procedure import Procedure
from ringmill.program import Program

_OPERATORS = (
    *(f"{side}{name}" for side in ("", "r") for name in ("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod")),
    *(f"{side}{name}" for side in ("", "r") for name in ("divmod", "pow", "lshift", "rshift", "and", "or", "xor")),
    *("neg", "pos", "abs", "invert", "lt", "le", "gt", "ge", "getitem", "iter", "float", "int", "complex", "round"),
)

_PROGRAM = "an @rm.program function computes on its arguments, as a + b, and compiled.run(inputs) runs it"
_CIRCUIT = "an @rm.circuit function computes on its arguments, as a + b, and compiled.run(inputs) runs it"
_OUTPUTS = "its ciphertexts are run.ciphertexts[{name!r}] and so on, and client.decrypt(run) has the values"
_INPUTS = "the ciphertexts are inputs.ciphertexts[{name!r}] and so on, and compiled.run(inputs) computes on them"
# The message of each class that is no number and no sequence. `name` is the name of its first ciphertext.
_NO_OPERANDS: dict[type, str] = {
    _ringmill.Ciphertext: f"a ciphertext is no number: {_PROGRAM}; client.decrypt of a run has the values",
    _ringmill.EncryptedIntegers: f"encrypted integers are no numbers: {_CIRCUIT}; client.decrypt of it has them",
    Inputs: f"encrypted inputs are no numbers and no sequence: {_INPUTS}",
    Run: f"a run is no number and no sequence: {_OUTPUTS}; {_PROGRAM}",
    CircuitInputs: f"encrypted inputs are no numbers and no sequence: {_INPUTS}",
    CircuitRun: f"a run is no number and no sequence: {_OUTPUTS}; {_CIRCUIT}",
}

# The message of each class that cannot be pickled, with another way to send it.
_SECRET = (
    "a client cannot be pickled; write client.save_secret_key(path), and compiled.load_secret_key(path) to read it"
)
_NO_PICKLES: dict[type, str] = {
    Client: _SECRET,
    _ringmill.MacroProgram: (
        "a traced program cannot be pickled; keep .to_text(), and write rm.MacroProgram.from_text(text)"
    ),
    CircuitClient: _SECRET,
    _ringmill.CircuitKeys: _SECRET,
    Bootstrapping: "parameters that bootstrap cannot be pickled; make them again by rm.bootstrapping of their name",
    Netlist: "a netlist cannot be pickled; read its file again by rm.netlist(path)",
}

_COMPILED = "compiled = {name}.compile(slots={slots}, input_bound=1)"
_COMPILED_CIRCUIT = "compiled = {name}.compile()"
# For each class, the classes of later objects in order, and how to get each from an object of the class.
_NEXT: dict[type, list[tuple[type, str]]] = {
    Program: [
        (Client, "compile the program first: " + _COMPILED + ", then client = compiled.keygen(), client.{attribute}"),
        (Compiled, "compile the program first: " + _COMPILED + ", then compiled.{attribute}"),
    ],
    Compiled: [
        (Client, "the holder of the keys has it: client = compiled.keygen(), then client.{attribute}"),
        (Run, "a run has it: run = compiled.run(inputs), then run.{attribute}"),
    ],
    Client: [
        (Compiled, "the compiled program has it: compiled.{attribute}"),
        (Run, "a run has it: run = compiled.run(inputs), then run.{attribute}"),
    ],
    Inputs: [
        (Compiled, "the compiled program has it: compiled.{attribute}"),
        (Client, "the client has it: client.{attribute}"),
        (dict, "ciphertexts are by name in inputs.ciphertexts, which has it: inputs.ciphertexts.{attribute}"),
    ],
    Run: [
        (Client, "the client has it: client.{attribute}(run)"),
        (Compiled, "the compiled program has it: compiled.{attribute}"),
        (dict, "ciphertexts are by name in run.ciphertexts, which has it: run.ciphertexts.{attribute}"),
    ],
    _ringmill.Ciphertext: [
        (Client, "the client has it, as client.decrypt of a run or of ciphertexts by name: client.{attribute}"),
    ],
    Circuit: [
        (CompiledCircuit, "compile the circuit first: " + _COMPILED_CIRCUIT + ", then compiled.{attribute}"),
        (
            CircuitClient,
            "compile the circuit first: " + _COMPILED_CIRCUIT + ", then client = compiled.keygen(), client.{attribute}",
        ),
    ],
    CompiledCircuit: [
        (CircuitClient, "the holder of the keys has it: client = compiled.keygen(), then client.{attribute}"),
    ],
    CircuitClient: [
        (CompiledCircuit, "the compiled circuit has it: compiled.{attribute}"),
    ],
    CircuitInputs: [
        (CompiledCircuit, "the compiled circuit has it: compiled.{attribute}"),
        (dict, "ciphertexts are by name in inputs.ciphertexts, which has it: inputs.ciphertexts.{attribute}"),
    ],
    CircuitRun: [
        (CircuitClient, "the client has it: client.{attribute}(run)"),
        (dict, "ciphertexts are by name in run.ciphertexts, which has it: run.ciphertexts.{attribute}"),
    ],
}


def install(classes: Iterable[type]) -> None:
    """Installs the refusals, and makes dir() of objects of the public `classes` show public names only."""
    for cls, message in _NO_OPERANDS.items():
        for name in _OPERATORS:
            setattr(cls, f"__{name}__", _no_operand(message))
    for cls, message in _NO_PICKLES.items():
        cls.__reduce_ex__ = _no_pickle(message)
        cls.__copy__ = _itself
        cls.__deepcopy__ = _itself
    pickles.install()
    for cls in (Program, Procedure, Circuit):
        cls.__reduce_ex__ = _by_name
    for cls in _NEXT:
        cls.__getattr__ = _no_attribute
    for cls in classes:
        cls.__dir__ = _public_names


def _no_operand(message: str) -> Callable[..., NoReturn]:
    @public
    def refused(self: Any, *_operands: Any) -> NoReturn:
        name = next(iter(getattr(self, "ciphertexts", ())), "out")
        raise ArgumentError(message.format(name=name))

    return refused


def _no_pickle(message: str) -> Callable[..., NoReturn]:
    @public
    def refused(_self: Any, _protocol: Any) -> NoReturn:
        raise ArgumentError(message)

    return refused


@public
def _by_name(self: Any, _protocol: Any) -> str:
    """Pickles a function by its name in its module, as any function of Python."""
    found: Any = sys.modules.get(self.__module__)
    for name in self.__qualname__.split("."):
        found = getattr(found, name, None)
    if found is not self:
        raise ArgumentError(
            f"{self.__qualname__} cannot be pickled, since it is at no name of the module {self.__module__} to import "
            "it by; define it there, or save what it compiles to"
        )
    return self.__qualname__


def _itself(self: Any, *_memo: Any) -> Any:
    """Returns the object itself as its copy, since it does not change."""
    return self


def _public_names(self: Any) -> list[str]:
    return [name for name in object.__dir__(self) if not name.startswith("_")]


@public
def _no_attribute(self: Any, name: str) -> NoReturn:
    cls = type(self)
    if name.startswith("_"):
        raise AttributeError(f"{cls.__name__!r} object has no attribute {name!r}")
    own = str(vars(self).get("__name__", cls.__name__)) if cls in (Program, Circuit) else cls.__name__
    for other, how in next(_NEXT[base] for base in cls.__mro__ if base in _NEXT):
        if name in dir(other):
            slots = _slots(self) if cls is Program else None
            cure = how.format(name=own, attribute=f"{name}{_brackets(getattr(other, name))}", slots=slots)
            break
    else:
        cure = closest(name, _public_names(self))
    raise UnknownAttribute(f"{own} has no attribute `{name}`; {cure}")


def _slots(program: Program) -> int:
    """Returns slots that a program can be compiled with."""
    try:
        return program._slots_for(1024)
    except RingmillError:  # in its annotations; compile reports it
        return 1024


def _brackets(attribute: Any) -> str:
    """Returns how an attribute is called, or an empty text if it is no method."""
    if not callable(attribute):
        return ""
    try:
        return "()" if len(inspect.signature(attribute).parameters) == 1 else "(...)"
    except ValueError:  # some methods of C have no signature
        return "(...)"


def missing_from_module(name: str, known: Iterable[str]) -> UnknownAttribute | AttributeError:
    """Returns the exception for a name that the package does not have."""
    if name.startswith("_"):
        return AttributeError(f"module 'ringmill' has no attribute {name!r}")
    if name == "seal":
        return UnknownAttribute("rm.seal is a module of its own; write import ringmill.seal")
    ways = [(Program, "program"), (Client, "client"), (Compiled, "compiled"), (Run, "run")]
    has = next((f"{how}.{name} is a method of {cls.__name__} objects" for cls, how in ways if name in dir(cls)), None)
    return UnknownAttribute(f"ringmill has no `{name}`; {has or closest(name, known)}")
