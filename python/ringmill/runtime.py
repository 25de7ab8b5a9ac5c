"""Running compiled programs: keys, encryption, devices, decryption."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from ringmill._ringmill import Ciphertext, CompiledProgram, EvaluationKeys, Keys, MacroProgram, Params
from ringmill.errors import DataError, KeysError
from ringmill.report import Report
from ringmill.shape import Shape

Path = str | os.PathLike[str]


@dataclass(frozen=True)
class Inputs:
    """What a client sends: encrypted inputs by name, and the evaluation keys to compute on them."""

    ciphertexts: dict[str, Ciphertext]
    evaluation_keys: EvaluationKeys | None = None


@dataclass(frozen=True)
class Run:
    """What a device gave: encrypted outputs by name, and the report."""

    ciphertexts: dict[str, Ciphertext]
    report: Report


@dataclass(frozen=True)
class Precision:
    """Bits of the worst slot, -log2 of its error: what the noise model guarantees, and what was measured."""

    predicted_bits: float
    measured_bits: float | None


class Client:
    """Holds the secret key: encrypts inputs and decrypts outputs. Made by :meth:`Compiled.keygen`."""

    def __init__(self, keys: Keys, shape: Shape) -> None:
        self._keys = keys
        self._shape = shape
        self._complex = keys.complex

    @property
    def evaluation_keys(self) -> EvaluationKeys:
        """What a server needs to run the program, and no more: no secret is in it."""
        return self._keys.evaluation_keys

    def encrypt(self, **inputs: Any) -> Inputs:
        """Encrypts the program's encrypted inputs, each an array of as many numbers as the program has slots.

        Raises :class:`DataError` for a missing input, a wrong length, NaN, infinity, or values too large for the scale.
        """
        arrays = {name: as_vector(name, value) for name, value in inputs.items()}
        self._complex = self._complex or any(np.iscomplexobj(value) for value in inputs.values())
        return Inputs(self._keys.encrypt(arrays), self._keys.evaluation_keys)

    def decrypt(self, outputs: Run | Mapping[str, Ciphertext], *, complex: bool | None = None) -> Any:
        """The outputs in the structure the program's function returned them in: one array, a tuple or a dict.

        Arrays are complex if `complex` says so; if it is left out, when the program has complex constants or this
        client encrypted complex inputs. Otherwise the imaginary parts, which hold noise, are dropped.
        """
        ciphertexts = outputs.ciphertexts if isinstance(outputs, Run) else outputs
        missing = [name for name in self._shape.names if name not in ciphertexts]
        if missing:
            raise DataError(f"output {missing[0]} is missing; the program has outputs {', '.join(self._shape.names)}")
        whole = self._complex if complex is None else complex
        values = [self._keys.decrypt(ciphertexts[name]) for name in self._shape.names]
        return self._shape.build([v if whole else np.ascontiguousarray(v.real) for v in values])

    def measure(self, run: Run, **inputs: Any) -> dict[str, Precision]:
        """The precision of each output against the program computed in the clear on all its inputs, plain ones too."""
        arrays = {name: as_vector(name, value) for name, value in inputs.items()}
        rows = self._keys.measure(arrays, run.ciphertexts)
        return {name: Precision(predicted, measured) for name, predicted, measured in rows}

    def save_secret_key(self, path: Path) -> None:
        """Writes the secret key. Whoever has the file can read everything encrypted under it."""
        self._keys.save_secret_key(os.fspath(path))

    def __repr__(self) -> str:
        return "<ringmill client>"


class Compiled:
    """A program ready to run; made by :meth:`Program.compile`."""

    def __init__(self, inner: CompiledProgram, shape: Shape) -> None:
        self._inner = inner
        self._shape = shape

    @property
    def params(self) -> Params:
        return self._inner.params

    @property
    def predicted_bits(self) -> dict[str, float]:
        """Bits after the binary point that are right in every slot of each output, by the noise model."""
        return dict(self._inner.predicted_bits)

    def text(self, level: str = "macro", machine: str = "ring") -> str:
        """The program as text: ``"macro"`` (ciphertexts), ``"mid"`` (limbs) or ``"micro"`` (a machine's words)."""
        return self._inner.text(level, machine)

    def save(self, path: Path) -> None:
        """Writes the traced program as macro text, which :func:`load` and the command line read."""
        self._inner.save(os.fspath(path))

    def keygen(self) -> Client:
        """Fresh keys from the system's randomness: the secret key and the evaluation keys the program needs."""
        return Client(self._inner.keygen(), self._shape)

    def load_secret_key(self, path: Path) -> Client:
        """The client whose secret key was saved, with fresh evaluation keys."""
        return Client(self._inner.load_secret_key(os.fspath(path)), self._shape)

    @overload
    def run(
        self,
        inputs: Inputs | Mapping[str, Ciphertext],
        *,
        plain: Mapping[str, Any] | None = ...,
        device: str = ...,
        keys: EvaluationKeys | None = ...,
        trace: Path | None = ...,
        progress: bool = ...,
    ) -> Run: ...

    @overload
    def run(
        self,
        inputs: Inputs | Mapping[str, Ciphertext],
        *,
        plain: Mapping[str, Any] | None = ...,
        device: Sequence[str],
        keys: EvaluationKeys | None = ...,
        trace: Path | None = ...,
        progress: bool = ...,
    ) -> list[Run]: ...

    def run(
        self,
        inputs: Inputs | Mapping[str, Ciphertext],
        *,
        plain: Mapping[str, Any] | None = None,
        device: str | Sequence[str] = "cpu",
        keys: EvaluationKeys | None = None,
        trace: Path | None = None,
        progress: bool = True,
    ) -> Run | list[Run]:
        """Runs the program on a device (see :func:`devices`), or on each of several.

        `plain` holds the ``rm.Plain`` inputs. The keys come with the inputs when :meth:`Client.encrypt` made them;
        give `keys` otherwise. `trace` names a file for a trace that opens in Perfetto's viewer (of the last device).
        A run of more than a second shows how far it is, where standard error is a terminal and `progress` is not false.
        """
        if isinstance(inputs, Inputs):
            ciphertexts, keys = inputs.ciphertexts, keys or inputs.evaluation_keys
        else:
            ciphertexts = dict(inputs)
        if keys is None:
            raise KeysError("the evaluation keys are missing; pass keys=client.evaluation_keys")
        vectors = {name: as_vector(name, value) for name, value in (plain or {}).items()}
        names = [device] if isinstance(device, str) else list(device)
        runs = []
        for number, name in enumerate(names):
            file = os.fspath(trace) if trace is not None and number == len(names) - 1 else None
            outputs, text, json = self._inner.run(ciphertexts, vectors, keys, name, file, progress)
            runs.append(Run(outputs, Report(text, json)))
        return runs[0] if isinstance(device, str) else runs

    def __repr__(self) -> str:
        return f"<ringmill compiled program {self._inner.name}, {self._inner.params!r}>"


def as_vector(name: str, value: Any) -> np.ndarray:
    """A one-dimensional complex array of an input."""
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise DataError(f"input {name} must hold numbers, and has dtype {array.dtype}")
    if array.ndim != 1:
        raise DataError(f"input {name} must be one-dimensional, and has shape {array.shape}; ravel it first")
    return np.ascontiguousarray(array, dtype=np.complex128)


def load(path: Path, params: Params | None = None, **options: Any) -> Compiled:
    """Compiles a program saved with :meth:`Compiled.save` or written by hand as macro text (.rmac).

    `options` are those of :meth:`Program.compile`. Raises :class:`FileError` or :class:`CompileError`.
    """
    from ringmill.program import compile_traced

    program = MacroProgram.load(os.fspath(path))
    return compile_traced(program, Shape.of_names(program.outputs), params, **options)
