# SPDX-License-Identifier: Apache-2.0
"""Compiled circuits and their use: the client with the secret key, its data for a server, and runs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from ringmill import _ringmill
from ringmill._ringmill import (
    CircuitEvaluationKeys,
    CircuitKeys,
    CircuitNetlist,
    CircuitParams,
    EncryptedIntegers,
    LoweredCircuit,
    circuit_params,
    circuit_sets,
)
from ringmill.check import (
    Path,
    arguments,
    closest,
    content,
    flag,
    guarded,
    instance,
    integer,
    names,
    number,
    optional,
    path,
    shown,
    text,
)
from ringmill.circuit_ports import Argument, Declared, by_name, declared, of_declared, of_netlist
from ringmill.errors import DataError, DeviceError, FileError, KeysError, ParameterError
from ringmill.files import put, source, take, target, with_files
from ringmill.notebook import shown as shown_in_notebook
from ringmill.parameters import device_name
from ringmill.shape import Shape

PARAMS = instance(CircuitParams, "parameters of circuits, as rm.circuit_params makes them", ParameterError)
# The contents of a file in memory. `content` makes bytes of them.
Bytes = bytes | bytearray | memoryview

_READ = {"path": path, "data": content, "params": PARAMS}
guarded("clients and files make encrypted integers", FileError, **_READ)(EncryptedIntegers)
guarded("clients and files make evaluation keys", FileError, **_READ)(CircuitEvaluationKeys)
for _kind in (EncryptedIntegers, CircuitEvaluationKeys):
    with_files(_kind)
guarded(
    "rm.circuit_params and files make parameters",
    FileError,
    path=path,
    data=content,
    allow_insecure_parameters_for_tests_only=flag(ParameterError),
)(CircuitParams)

_KEYS = optional(instance(CircuitEvaluationKeys, "evaluation keys, as client.evaluation_keys", KeysError))


@dataclass(frozen=True)
class Estimate:
    """The cost of a circuit with one parameter set."""

    set: str | None
    """The name of the set, or None for parameters of your own."""
    bootstraps: int
    depth: int
    """The number of bootstraps of the longest chain."""
    work: int
    """The bytes that the operations of all bootstraps touch. They are counted from sizes, so they are the same on every
    computer.
    """
    failure: float
    """log2 of the probability that any bootstrap fails."""

    def __str__(self) -> str:
        wrong = f"wrong with probability 2^{self.failure:.0f}" if self.bootstraps else "nothing can fail"
        return (
            f"  {self.set or 'own parameters'}: {self.bootstraps} bootstraps, {self.depth} in a row; "
            f"{self.work / 1e9:.3g} GB of operations; {wrong}"
        )


@dataclass(frozen=True)
class CircuitInputs:
    """The message of a client to a server: encrypted inputs by name, and the evaluation keys."""

    ciphertexts: dict[str, EncryptedIntegers]
    evaluation_keys: CircuitEvaluationKeys | None = None

    @arguments()
    def to_bytes(self) -> bytes:
        """Returns the ciphertexts with their names, for :meth:`from_bytes`.

        The bytes hold no evaluation keys. Keys are large and serve for many inputs, so they travel once, by themselves:
        ``inputs.evaluation_keys.to_bytes()``. Raises :class:`DataError` if there is no ciphertext.
        """
        return _ringmill.named_to_bytes(list(self.ciphertexts.items()), None)

    @staticmethod
    @arguments("CircuitInputs.from_bytes", data=content, params=PARAMS, evaluation_keys=_KEYS)
    def from_bytes(
        data: Bytes, params: CircuitParams, evaluation_keys: CircuitEvaluationKeys | None = None
    ) -> CircuitInputs:
        """Reads the bytes of :meth:`to_bytes`, which must belong to these parameters, and adds evaluation keys.

        Raises :class:`FileError`.
        """
        found, cost = _ringmill.named_from_bytes(bytes(data), params)
        if cost is not None:
            raise FileError("the bytes are those of a run, expected inputs; read them by rm.CircuitRun.from_bytes")
        return CircuitInputs(dict(found), evaluation_keys)


@dataclass(frozen=True)
class MachineTime:
    """The time of a machine for all bootstraps of a run."""

    machine: str
    how: str
    """The source of the cycles: `model`, or `RTL` from its simulation."""
    clock_mhz: float
    """The clock of the description, which is the paper's. No open tool can confirm a clock for ours."""
    bootstraps: int
    each: int
    """The cycles of one bootstrap alone, from the load of its ciphertext to its last output word, with key switch."""
    places: int
    """The number of ciphertexts that the machine interleaves."""
    interleaved: int
    """An upper bound on the cycles of all bootstraps, if `places` bootstraps of each level of a circuit run at once."""

    @property
    def cycles(self) -> int:
        """The cycles of all bootstraps, one after the other."""
        return self.bootstraps * self.each

    def __str__(self) -> str:
        def seconds(cycles: int) -> str:
            return f"{cycles / self.clock_mhz / 1e6:.3g} s"

        text = (
            f"on {self.machine}: {self.bootstraps} bootstraps of {self.each:,} cycles ({self.how}), "
            f"{seconds(self.cycles)} at {self.clock_mhz:g} MHz, the paper's clock"
        )
        if self.places > 1:
            text += f"; {self.places} interleaved, at most {self.interleaved:,} cycles, {seconds(self.interleaved)}"
        return text


@dataclass(frozen=True)
class CircuitRun:
    """The result of a run: encrypted outputs by name, and the cost of the run."""

    ciphertexts: dict[str, EncryptedIntegers]
    seconds: float
    bootstraps: int
    threads: int
    machine: MachineTime | None = None
    """The time on the run's device, if it is a machine."""

    @arguments()
    def to_bytes(self) -> bytes:
        """Returns the ciphertexts with their names, the seconds, the bootstraps and the threads, for
        :meth:`from_bytes`. The time of a machine is left out.

        Raises :class:`DataError` if there is no ciphertext.
        """
        if self.bootstraps >= 1 << 64 or self.threads >= 1 << 32:
            raise DataError("bytes of a run hold less than 2^64 bootstraps and 2^32 threads")
        cost = (self.seconds, self.bootstraps, self.threads)
        return _ringmill.named_to_bytes(list(self.ciphertexts.items()), cost)

    @staticmethod
    @arguments("CircuitRun.from_bytes", data=content, params=PARAMS)
    def from_bytes(data: Bytes, params: CircuitParams) -> CircuitRun:
        """Reads the bytes of :meth:`to_bytes`, which must belong to these parameters. The time of a machine is None.

        Raises :class:`FileError`.
        """
        found, cost = _ringmill.named_from_bytes(bytes(data), params)
        if cost is None:
            raise FileError("the bytes are those of inputs, expected a run; read them by rm.CircuitInputs.from_bytes")
        return CircuitRun(dict(found), *cost)

    def __str__(self) -> str:
        each = 1000 * self.seconds * self.threads / max(self.bootstraps, 1)
        text = (
            f"{self.bootstraps} bootstraps in {self.seconds:.2f} s on {self.threads} threads, measured: "
            f"{each:.1f} ms each a thread"
        )
        return text if self.machine is None else f"{text}\n{self.machine}"


def encrypted(name: str, value: Any) -> dict[str, EncryptedIntegers]:
    found = names("encrypted integers", DataError)(name, value)
    item = instance(EncryptedIntegers, "encrypted integers, as client.encrypt makes them", DataError)
    return {key: item(f"{name}[{key!r}]", cipher) for key, cipher in found.items()}


# The constructors of both are public, and their parameters are their fields.
CircuitInputs.__init__ = arguments(  # type: ignore[method-assign]
    "rm.CircuitInputs", ciphertexts=encrypted, evaluation_keys=_KEYS
)(CircuitInputs.__init__)
CircuitRun.__init__ = arguments(  # type: ignore[method-assign]
    "rm.CircuitRun",
    ciphertexts=encrypted,
    seconds=number(DataError),
    bootstraps=integer(0, None, DataError),
    threads=integer(1, None, DataError),
    machine=optional(instance(MachineTime, "what a run says of its machine", DataError)),
)(CircuitRun.__init__)


class CircuitClient:
    """Holds the secret key: encrypts inputs and decrypts outputs. :meth:`CompiledCircuit.keygen` makes it."""

    @arguments("rm.CircuitClient", keys=instance(CircuitKeys, "those of CompiledCircuit.keygen"))
    def __init__(
        self, keys: CircuitKeys, inputs: Sequence[Argument], outputs: Sequence[Argument], shape: Shape
    ) -> None:
        self._keys, self._inputs, self._outputs, self._shape = keys, inputs, outputs, shape

    @property
    def evaluation_keys(self) -> CircuitEvaluationKeys:
        """The keys that a server needs to run the circuit. They hold no secret."""
        return self._keys.evaluation_keys

    @property
    def key_id(self) -> str | None:
        """The identity of the secret key in hexadecimal. Ciphertexts and keys made with it carry it."""
        return self._keys.key_id

    @arguments()
    def encrypt(self, /, **inputs: Any) -> CircuitInputs:
        """Encrypts the inputs. Each is a whole number of its type, or an array of as many numbers as the type says.

        Raises :class:`DataError` for a missing input, a wrong length, or a value that the type does not have.
        """
        encrypted = {
            argument.name: self._keys.encrypt(argument.first, argument.values(value))
            for argument, value in by_name("input", inputs, self._inputs)
        }
        return CircuitInputs(encrypted, self.evaluation_keys)

    @arguments()
    def decrypt(self, outputs: CircuitRun | Mapping[str, EncryptedIntegers]) -> Any:
        """Decrypts the outputs to exact numbers and arrays, in the structure that the function returned.

        Raises :class:`KeysError` for ciphertexts of another key, :class:`DataError` for integers of other types.
        """
        found = outputs.ciphertexts if isinstance(outputs, CircuitRun) else encrypted("outputs", outputs)
        values = [
            output.array(self._keys.decrypt(output.first, output.count, cipher))
            for output, cipher in by_name("output", found, self._outputs)
        ]
        return self._shape.build(values)

    @arguments(path=path)
    def save_secret_key(self, path: Path) -> None:
        """Writes the secret key, to a file that only its owner may read (mode 0600). Whoever has the file can read
        everything encrypted under the key.
        """
        self._keys.save_secret_key(path)

    def __repr__(self) -> str:
        return "<ringmill client of a circuit>"


class CompiledCircuit:
    """A circuit ready to run. :meth:`Circuit.compile` makes it."""

    @arguments(
        "rm.CompiledCircuit",
        name=text(),
        inner=instance(LoweredCircuit, "a compiled circuit: Circuit.compile makes them"),
    )
    def __init__(
        self,
        name: str,
        inner: LoweredCircuit,
        inputs: Sequence[Argument],
        outputs: Sequence[Argument],
        shape: Shape,
    ) -> None:
        self._name, self._inner, self._inputs, self._outputs, self._shape = name, inner, inputs, outputs, shape
        self._cost = Estimate(*inner.cost)
        self.bootstraps, self.depth, self.failure = self._cost.bootstraps, self._cost.depth, self._cost.failure

    bootstraps: int
    """The number of bootstraps of a run, which take nearly all of its time."""
    depth: int
    """The number of bootstraps of the longest chain. More threads do not shorten it."""
    failure: float
    """log2 of the probability, by the noise model, that any bootstrap fails. Results are wrong then."""

    @property
    def params(self) -> CircuitParams:
        return self._inner.params

    @property
    def estimates(self) -> list[Estimate]:
        """The costs with each of the sets that were compared, or with the given parameters alone."""
        return [Estimate(*estimate) for estimate in self._inner.estimates]

    @property
    def key_bytes(self) -> int:
        """The bytes of the evaluation keys that :meth:`keygen` makes, known before it makes them."""
        return self._inner.key_bytes

    @arguments(path=target)
    def save(self, path: Path | BinaryIO) -> None:
        """Writes the circuit with its parameters, for :func:`load_circuit`, to a path or an open binary file.

        The file is JSON text. It holds the operations of the traced program, or the gates of the netlist, and no source
        line and no folder. Loading compiles them again, to the same circuit.
        """
        if isinstance(path, (str, bytes, os.PathLike)):
            self._inner.save(path, *self._declared())
        else:
            put(path, self.to_bytes())

    @arguments()
    def to_bytes(self) -> bytes:
        """Returns the bytes of the file that :meth:`save` writes."""
        return self._inner.to_bytes(*self._declared())

    @staticmethod
    @arguments(
        "CompiledCircuit.from_bytes", data=content, allow_insecure_parameters_for_tests_only=flag(ParameterError)
    )
    def from_bytes(data: Bytes, *, allow_insecure_parameters_for_tests_only: bool = False) -> CompiledCircuit:
        """Reads the bytes of a file as :func:`load_circuit` reads the file."""
        return _loaded(*_ringmill.circuit_from_bytes(bytes(data), allow_insecure_parameters_for_tests_only))

    def _declared(self) -> tuple[str, list[Declared], list[Declared], str]:
        return self._name, declared(self._inputs), declared(self._outputs), self._shape.kind

    @arguments()
    def keygen(self) -> CircuitClient:
        """Makes new keys from the system's randomness.

        They take :attr:`key_bytes`. Raises ``MemoryError`` if that is more than :func:`limits` allow.
        """
        return CircuitClient(self._inner.keygen(), self._inputs, self._outputs, self._shape)

    @arguments(path=path)
    def load_secret_key(self, path: Path) -> CircuitClient:
        """Makes a client from a saved secret key, with new evaluation keys."""
        return CircuitClient(self._inner.load_secret_key(path), self._inputs, self._outputs, self._shape)

    @arguments(
        keys=_KEYS,
        device=device_name,
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
        device: str = "cpu",
        threads: int | None = None,
        progress: bool = True,
        checkpoint: Path | None = None,
        every: float = 30.0,
        resume: Path | None = None,
    ) -> CircuitRun:
        """Runs the circuit on the CPU, on all its cores or on `threads` threads. The ciphertexts do not depend on the
        threads.

        On another `device`, such as ``"sim:torus"``, each bootstrap is a program of its own. Bootstraps run one after
        the other unless `threads` says otherwise, and the run reports the machine's time. The parameters must be for
        the machine: ``rm.circuit_params(..., target="torus")``.

        Inputs must come from a client's encryption, since outputs of a run may be noisier than a circuit allows. An
        encrypted integer keeps its type. Raises :class:`DataError` if the circuit's input has another type.

        Inputs from :meth:`CircuitClient.encrypt` bring the keys along; for others give `keys`. A run of more than a
        second shows its progress, on a terminal and in a notebook, unless `progress` is false.

        `checkpoint` names a file in which the run is saved, at most once every `every` seconds, and when it is
        interrupted. The exception of Ctrl-C is raised after the save, that of a second Ctrl-C at once. ``resume=`` that
        file, with the same circuit and inputs, continues the run.
        """
        if isinstance(inputs, CircuitInputs):
            found, keys = inputs.ciphertexts, keys or inputs.evaluation_keys
        else:
            found = encrypted("inputs", inputs)
        if keys is None:
            raise KeysError("the evaluation keys are missing; pass keys=client.evaluation_keys")
        given = by_name("input", found, self._inputs)
        saving = None if checkpoint is None else (checkpoint, every)
        groups = ([argument.count for argument, _ in given], [output.count for output in self._outputs])
        on, threads = (None, threads or 0) if device == "cpu" else (device, threads or 1)
        with shown_in_notebook(progress) as how:
            outputs, seconds, used, _, machine = self._inner.run(
                [cipher for _, cipher in given], keys, groups, on, threads, how, saving, resume
            )
        results = {output.name: cipher for output, cipher in zip(self._outputs, outputs, strict=True)}
        time = None if machine is None else MachineTime(*machine)
        return CircuitRun(results, seconds, self.bootstraps, used, time)

    def __repr__(self) -> str:
        return (
            f"<ringmill compiled circuit {self._name}: {self.bootstraps} bootstraps, {self.depth} in a row, "
            f"wrong with probability 2^{self.failure:.0f}>"
        )

    def __str__(self) -> str:
        estimates = self.estimates
        least = "" if len(estimates) == 1 else "  <- taken: least work"
        lines = [f"{e}{least if e == self._cost else ''}" for e in estimates]
        return "\n".join([f"{self._name}, before anything runs:", *lines])


@arguments("rm.load_circuit", path=source, allow_insecure_parameters_for_tests_only=flag(ParameterError))
def load_circuit(path: Path | BinaryIO, *, allow_insecure_parameters_for_tests_only: bool = False) -> CompiledCircuit:
    """Loads a circuit that :meth:`CompiledCircuit.save` wrote, from a path or an open binary file, and compiles it
    again for its parameters.

    The circuit is the same, with the same bootstraps, and runs give the same ciphertexts. Its estimates are for its own
    parameters alone. Parameters in a file that are not secure are refused unless they are allowed.

    Raises :class:`FileError`.
    """
    if isinstance(path, (str, bytes, os.PathLike)):
        return _loaded(*_ringmill.load_circuit(path, allow_insecure_parameters_for_tests_only))
    return _loaded(*_ringmill.circuit_from_bytes(take(path), allow_insecure_parameters_for_tests_only))


def _loaded(
    name: str,
    inner: LoweredCircuit,
    program: tuple[list[Declared], list[Declared], str] | None,
    netlist: CircuitNetlist | None,
) -> CompiledCircuit:
    """Makes the circuit of what the extension read: the parts of a program, or a netlist."""
    if program is not None:
        inputs, outputs = map(of_declared, program[:2])
        kind = program[2]
    else:
        inputs, outputs = map(of_netlist, netlist.ports if netlist is not None else ([], []))
        kind = "dict"
    shape = Shape("one" if kind == "one" else "tuple" if kind == "tuple" else "dict", tuple(of.name for of in outputs))
    return CompiledCircuit(name, inner, inputs, outputs, shape)


@arguments(
    "rm.circuit_params",
    name=text(ParameterError),
    toy_for_tests_only=flag(ParameterError),
    target=optional(text(DeviceError)),
)
def parameters(name: str = "circuits", *, toy_for_tests_only: bool = False, target: str | None = None) -> CircuitParams:
    """Returns the parameters of a named set for circuits, for digits or for bits. docs/tfhe.md lists the sets with
    their security.

    `toy_for_tests_only` returns small parameters for the same messages, which keep nothing secret. `target`, the name
    of a machine or of its description file, adapts the parameters to the machine. Toy ones then have the machine's
    sizes.
    """
    known = circuit_sets()
    if name not in known:
        raise ParameterError(f"there is no set {shown(name)} for circuits; {closest(name, known)}")
    return circuit_params(name, toy_for_tests_only, target)
