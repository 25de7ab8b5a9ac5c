# SPDX-License-Identifier: Apache-2.0
"""A compiled program: what the compiler decided, keys for its clients, and runs on devices."""

from __future__ import annotations

import functools
import logging
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, BinaryIO, TypeVar, overload

import numpy as np

from ringmill._ringmill import Ciphertext, CompiledProgram, EvaluationKeys, Keys, Params, PublicKey
from ringmill.arrays.interface import Interface
from ringmill.check import (
    Path,
    arguments,
    content,
    flag,
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
from ringmill.client import Client
from ringmill.encryption import Encryption
from ringmill.errors import DataError, DeviceError, FileError, Interrupted, KeysError, ParameterError
from ringmill.explanation import Explanation
from ringmill.files import put, target
from ringmill.frames import public
from ringmill.inputs import Given
from ringmill.log import LOGGER, say_plans, timed
from ringmill.messages import KEYS, Inputs, Named, Run
from ringmill.messages import ciphertexts as ciphertexts_by_name
from ringmill.notebook import shown as shown_in_notebook
from ringmill.parameters import TABLES, device_name
from ringmill.report import Report
from ringmill.schemes import Choice, Signature, choose_for_text, named
from ringmill.shape import Shape
from ringmill.values import as_vectors

F = TypeVar("F", bound=Callable[..., Any])


def _with_key(method: F) -> F:
    """Decorates the method that takes a public key and then inputs by name."""

    @public
    @functools.wraps(method)
    def checked(self: Compiled, /, *args: Any, **inputs: Any) -> Any:
        if len(args) != 1 or not isinstance(args[0], PublicKey):
            came = "none came" if not args else f"{', '.join(map(shown, args))} came"
            raise KeysError(
                f"compiled.encrypt takes one public key, and {came}; with a key of client.public_key() write "
                f"{replace(self._given, key='public_key').encrypt}, and with the keys of client = compiled.keygen() "
                f"write {self._given.encrypt}"
            )
        return method(self, *args, **inputs)

    return checked  # type: ignore[return-value]


class Compiled:
    """A program ready to run. :meth:`Program.compile` makes it."""

    @arguments("rm.Compiled", inner=instance(CompiledProgram, "a compiled program: Program.compile makes them"))
    def __init__(
        self,
        inner: CompiledProgram,
        shape: Shape,
        signature: Signature | None = None,
        choice: Choice | None = None,
        arrays: Interface | None = None,
    ) -> None:
        self._arrays = arrays
        self._inner = inner
        self._shape = shape
        self._signature = signature or Signature()
        self._choice = choice or choose_for_text(None, inner.scheme)
        self._given = Given.of(inner.inputs) if arrays is None else arrays.given
        scheme = named(inner.scheme)
        self._exact = scheme is not None and scheme.exact

    @property
    def scheme(self) -> str:
        """The name of the scheme that the program is compiled for."""
        return self._choice.name

    @property
    def scheme_reason(self) -> str:
        """Why the program is compiled for this scheme: the caller named it, or the compiler chose it by the types of
        the arguments.
        """
        return self._choice.why

    @property
    def params(self) -> Params:
        return self._inner.params

    @property
    def predicted_bits(self) -> dict[str, float]:
        """The bits after the binary point that are right in every slot of each output, except with probability 2^-40.

        They hold for all inputs that :meth:`Client.encrypt` takes, with a sample too.
        """
        bits = self._inner.predicted_bits
        if bits is None:
            raise DataError(
                f"results of {self.scheme} are exact; predicted_budget says how much noise they can still take"
            )
        return self._by_result(bits)

    def _by_result(self, of_vectors: Iterable[tuple[str, Any]]) -> Named:
        found = dict(of_vectors)
        return Named(found if self._arrays is None else self._arrays.by_result(found))

    @property
    def predicted_bits_like_sample(self) -> dict[str, float] | None:
        """The bits after the binary point that are right in every slot of each output, for inputs like the sample that
        the program was compiled with. It is None without a sample, and for exact results.

        Inputs are like the sample if no value inside the program is larger than the margin times its largest on the
        sample. Nobody can check that for encrypted inputs, so you must know it.
        """
        bits = self._inner.predicted_bits_like_sample
        return None if bits is None else self._by_result(bits)

    @property
    def predicted_digits(self) -> dict[str, float]:
        """The decimal digits of each output that are right, relative to a magnitude of the output.

        With a sample they are for inputs like the sample, relative to the output's largest absolute value there.
        Without one they are for all inputs, relative to the bound of the output's absolute values. The report of a run
        says which.
        """
        digits = self._inner.predicted_digits
        if digits is None:
            raise DataError(f"results of {self.scheme} are exact, and all their digits are right")
        return self._by_result(digits)

    @property
    def predicted_budget(self) -> dict[str, float]:
        """The least noise budget in bits of each output of exact values, except with probability 2^-40."""
        budget = self._inner.predicted_budget
        if budget is None:
            raise DataError(f"results of {self.scheme} are approximate; predicted_bits says how many bits are right")
        return self._by_result(budget)

    @property
    def assumptions(self) -> list[str]:
        """The program's statements about its own values (:func:`ringmill.bounded`), as sentences. Predictions rest on
        them.
        """
        return list(self._inner.assumptions)

    @property
    def ranges(self) -> dict[str, float | tuple[float, float] | tuple[int, int]]:
        """The range of each input's values: ``(lowest, highest)``, or the largest absolute value."""
        found = {name: ends[0] if len(ends) == 1 else (ends[0], ends[1]) for name, ends in self._inner.ranges}
        return found if self._arrays is None else self._arrays.by_argument(found)

    @property
    def batch(self) -> int | None:
        """How many inputs share ciphertexts in a program that is compiled with ``batch=True``, and None for others.

        More inputs take further ciphertexts and runs.
        """
        return None if self._arrays is None else self._arrays.batch

    @property
    def layouts(self) -> dict[str, str]:
        """How the values of each argument and each result stand in slots. Only a program of arrays has layouts.

        A layout says how many ciphertexts hold the array, at which stride each axis stands where it has one, and what
        the other slots hold.
        """
        return Named({} if self._arrays is None else self._arrays.layouts)

    @arguments()
    def explain(self) -> Explanation:
        """Returns what the compiler decided: levels and the lines that take them, digits, keys, and what each decision
        costs.

        ``print`` it for the text that ``ringmill compile --explain`` prints. Its `advice` has changes that make the
        program cheaper. Each was compiled before it is named, so a call may take as long as a few compilations.
        """
        with timed(logging.DEBUG, "explained %s", self._inner.name):
            return Explanation._of(*self._inner.explained())

    @arguments(level=text(), machine=text(DeviceError))
    def text(self, level: str = "macro", machine: str = "ring") -> str:
        """Returns the program as text: ``"macro"`` (ciphertexts), ``"mid"`` (limbs), ``"micro"`` (machine words)."""
        return self._inner.text(level, machine)

    @arguments()
    def counts(self) -> tuple[dict[str, int], dict[str, int]]:
        """Counts how often a run executes each macro and each mid-level instruction. What repeats is multiplied."""
        return self._inner.counts()

    @arguments()
    def unrolled_counts(self) -> dict[str, int]:
        """Counts the mid-level instructions one by one, in the program written out. Raises :class:`CompileError` for a
        program of more than 2^20 calls of procedures.
        """
        return self._inner.unrolled_counts()

    @arguments(path=target, with_sample=flag())
    def save(self, path: Path | BinaryIO, *, with_sample: bool = False) -> None:
        """Writes the traced program with its parameters and options, for :func:`load`. It takes a path or an open
        binary file.

        The file is macro text, which the command line reads as a program, below a comment line with the options. It
        holds the program's constants and no values of its inputs. Of a `sample` it has only the ranges of the inputs,
        whose ends are powers of two. It names source files without their folders.

        ``with_sample=True`` keeps every value of the sample, too, so that the program can be compiled with it again.
        Only its owner may read that file (mode 0600), and it is not for the server. Raises :class:`DataError` if the
        program was compiled without a sample.
        """
        if isinstance(path, (str, bytes, os.PathLike)):
            self._inner.save(path, *self._described(), with_sample)
            return
        if with_sample:
            raise FileError("a file with the sample is for its owner alone, so save it by its path")
        put(path, self.to_bytes())

    @arguments("Compiled.to_bytes")
    def to_bytes(self) -> bytes:
        """Returns what :meth:`save` writes without a sample: text in UTF-8."""
        return self._inner.saved(*self._described()).encode()

    @staticmethod
    @arguments(
        "Compiled.from_bytes",
        data=content,
        tables=TABLES,
        allow_insecure_parameters_for_tests_only=flag(ParameterError),
    )
    def from_bytes(
        data: bytes, *, tables: list[str] | None = None, allow_insecure_parameters_for_tests_only: bool = False
    ) -> Compiled:
        """Reads a program from what :meth:`to_bytes` returned. :func:`load` describes the arguments."""
        from ringmill.loading import of_bytes

        return of_bytes(data, tables, allow_insecure_parameters_for_tests_only)

    def _described(self) -> tuple[str, dict[str, int], list[int | None], str]:
        """Returns what a saved program says of the function: the kind of its result, the lengths of its arguments and
        results, and the comment on arrays.
        """
        if self._arrays is not None:
            return self._shape.kind, {}, [], self._arrays.line()
        lengths = self._signature.lengths(self._inner.slots)
        return self._shape.kind, lengths, list(self._shape.lengths), ""

    @property
    def key_bytes(self) -> int:
        """The bytes of memory of the evaluation keys that :meth:`keygen` makes, known before it makes them.

        Their file is smaller, since a residue there takes the bits of its prime and not 8 bytes.
        """
        return self._inner.key_bytes

    @arguments()
    def keygen(self) -> Client:
        """Makes new keys from the system's randomness: the secret key and the evaluation keys that the program needs.

        They take :attr:`key_bytes`. Raises ``MemoryError`` if that is more than :func:`limits` allow.
        """
        with timed(logging.INFO, "made keys of %s", self._inner.name):
            keys = self._inner.keygen()
        return self._client(keys)

    @arguments(path=path)
    def load_secret_key(self, path: Path) -> Client:
        """Makes a client from a saved secret key, with new evaluation keys."""
        with timed(logging.INFO, "made evaluation keys of %s for a saved secret key", self._inner.name):
            keys = self._inner.load_secret_key(path)
        return self._client(keys)

    @_with_key
    def encrypt(self, public_key: PublicKey, /, **inputs: Any) -> Inputs:
        """Encrypts encrypted inputs of the program under a client's public key, for the client alone to decrypt.

        It takes what :meth:`Client.encrypt` takes, by name. A party that has some of the inputs gives these alone, and
        :meth:`Inputs.together` joins what several parties encrypt. Precision and noise are as predicted. The
        ciphertexts take twice the bytes of those that the client itself encrypts, and no evaluation keys come along.

        Raises the errors of :meth:`Client.encrypt`, and :class:`KeysError` for anything but a public key of the
        program's parameters.
        """
        given = replace(self._given, key="public_key")
        encryption = Encryption(given, self._signature, self._arrays, self._inner.slots, partial=True)
        return encryption.inputs(inputs, functools.partial(self._inner.encrypt, public_key), None)

    def _client(self, keys: Keys) -> Client:
        return Client(keys, self._shape, self._signature, self._exact, self._given, self._arrays)

    @overload
    def run(
        self,
        inputs: Inputs | Mapping[str, Ciphertext],
        *,
        plain: Mapping[str, Any] | None = ...,
        device: str = ...,
        keys: EvaluationKeys | None = ...,
        trace: Path | None = ...,
        timeline: bool = ...,
        progress: bool = ...,
        spill: bool = ...,
        checkpoint: Path | None = ...,
        every: float = ...,
        resume: Path | None = ...,
        expanded_bytes: int | None = ...,
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
        timeline: bool = ...,
        progress: bool = ...,
        spill: bool = ...,
        checkpoint: Path | None = ...,
        every: float = ...,
        resume: Path | None = ...,
        expanded_bytes: int | None = ...,
    ) -> list[Run]: ...

    @arguments(
        plain=optional(names("values", DataError)),
        keys=KEYS,
        trace=optional(path),
        timeline=flag(),
        progress=flag(),
        spill=flag(),
        checkpoint=optional(path),
        every=number(),
        resume=optional(path),
        expanded_bytes=optional(integer(1, 2**64 - 1)),
    )
    def run(
        self,
        inputs: Inputs | Mapping[str, Ciphertext],
        *,
        plain: Mapping[str, Any] | None = None,
        device: str | Sequence[str] = "cpu",
        keys: EvaluationKeys | None = None,
        trace: Path | None = None,
        timeline: bool = False,
        progress: bool = True,
        spill: bool = True,
        checkpoint: Path | None = None,
        every: float = 30.0,
        resume: Path | None = None,
        expanded_bytes: int | None = None,
    ) -> Run | list[Run]:
        """Runs the program on a device (see :func:`devices`), or on each of several.

        `plain` holds the ``rm.Plain`` inputs. Inputs from :meth:`Client.encrypt` bring the keys along; for others give
        `keys`. `trace` names a file for a trace of the last device, which opens in Perfetto's viewer. With
        ``timeline=True`` each report has the activity of units and memories over time, for :meth:`Report.save_html`. A
        machine's cycle model then steps through every call, so it takes longer.

        Inputs must come from a client's encryption. The output of a run has more noise than any prediction allows for
        an input, so put further steps into the same program.

        A run of more than a second shows its progress, on a terminal and in a notebook, unless `progress` is false.
        Values that do not fit a simulated machine's memory wait in the host's, and the report states the cost. With
        ``spill=False`` such a program raises :class:`DeviceError` instead.

        `checkpoint` names a file in which the run is saved between two calls, at most once every `every` seconds, and
        when it is interrupted. The exception of Ctrl-C is raised after the save, that of a second Ctrl-C at once.
        ``resume=`` that file, with the same program, inputs and keys, continues the run to the same bits. Both take one
        device, the CPU or a simulated machine.

        Keys and constants are expanded when the run reads them. With `expanded_bytes` at most so many bytes of them are
        kept. Dropped ones are expanded again, to the same bits, and the report says how often. A budget below the
        largest of them raises :class:`DeviceError` with the least budget that works. So does a budget for a machine
        that runs only some of the instructions (``sim:polymul``).

        Ctrl-C raises :class:`Interrupted`, a ``KeyboardInterrupt`` whose `runs` are the complete ones. A run that would
        take more memory than :func:`limits` allow raises ``MemoryError``, in most cases before it begins.
        """
        more = inputs.more if isinstance(inputs, Inputs) else ()
        if more and not (checkpoint is None and resume is None and trace is None):
            raise DeviceError(
                f"a checkpoint and a trace are of one run, and these inputs take {len(more) + 1}; run parts, as "
                "compiled.run(inputs.more[0], ...)"
            )
        if isinstance(inputs, Inputs):
            ciphertexts, keys = inputs.ciphertexts, keys or inputs.evaluation_keys
        else:
            ciphertexts = ciphertexts_by_name("inputs", inputs, f"; {self._given.run_of_encrypted}")
        if keys is None:
            raise KeysError("the evaluation keys are missing; pass keys=client.evaluation_keys")
        vectors = self._vectors(ciphertexts, plain)
        devices = _devices(device)
        if len(devices) > 1 and (checkpoint is not None or resume is not None):
            raise DeviceError(f"a checkpoint is of one run, and {len(devices)} devices are named; name one")
        runs = []
        try:
            for place, name in enumerate(devices):
                file = trace if place == len(devices) - 1 else None
                of = (self._inner.name, name)
                if resume is not None:
                    LOGGER.info("%s on %s: going on from the checkpoint %s", *of, resume)
                if checkpoint is not None:
                    LOGGER.info("%s on %s: saved in %s every %g s at most", *of, checkpoint, every)
                with shown_in_notebook(progress) as how, timed(logging.INFO, "ran %s on %s", *of):
                    outputs, texts, page = self._inner.run(
                        ciphertexts,
                        vectors,
                        keys,
                        name,
                        file,
                        timeline,
                        how,
                        spill,
                        self._choice.why,
                        None if checkpoint is None else (checkpoint, every),
                        resume,
                        expanded_bytes,
                    )
                say_plans()
                batch = inputs.batch if isinstance(inputs, Inputs) else None
                runs.append(Run(outputs, Report._of_run(*texts, page), batch))
        except KeyboardInterrupt as error:
            if checkpoint is not None and os.path.exists(checkpoint):
                LOGGER.info("%s: interrupted; its checkpoint is %s", self._inner.name, checkpoint)
            done = ", ".join(devices[: len(runs)]) or "none"
            raise Interrupted(f"interrupted on {devices[len(runs)]}; complete, in .runs: {done}", runs) from error
        for part in more:
            others = self.run(
                part,
                plain=plain,
                device=devices,
                keys=keys,
                timeline=timeline,
                progress=progress,
                spill=spill,
                expanded_bytes=expanded_bytes,
            )
            runs = [replace(one, more=(*one.more, other)) for one, other in zip(runs, others, strict=True)]
        return runs[0] if isinstance(device, str) else runs

    def _repr_html_(self) -> str:
        return self._inner.fragment([])

    def _vectors(
        self, ciphertexts: Mapping[str, Ciphertext], plain: Mapping[str, Any] | None
    ) -> dict[str, np.ndarray[Any, Any]]:
        """Returns the plain inputs of a run on these ciphertexts. Inputs that do not fit the program are refused."""
        if self._arrays is not None:
            return self._packed(ciphertexts, plain or {})
        said = self._given.refused_by_run(ciphertexts, plain or {})
        if said is not None:
            raise DataError(said)
        return as_vectors(plain or {}, self._inner.slots, self._signature.of)

    def _packed(
        self, ciphertexts: Mapping[str, Ciphertext], plain: Mapping[str, Any]
    ) -> dict[str, np.ndarray[Any, Any]]:
        """Returns the plain inputs of a run of an array program."""
        assert self._arrays is not None
        plain = self._arrays.completed(plain, False)
        given = self._arrays.encrypted_in(ciphertexts)
        packed = self._arrays.pack(plain)
        said = self._given.refused_by_run(given, plain)
        for name in plain:
            if said is None and name in self._given.encrypted:
                said = f"input `{name}` is encrypted; give it to the client, {self._given.encrypt}"
        if said is not None:
            raise DataError(said)
        return as_vectors(packed, self._inner.slots, self._signature.of)

    def __repr__(self) -> str:
        keys = f"evaluation keys of {_mebibytes(self.key_bytes)}"
        return f"<ringmill compiled program {self._inner.name}, {self._choice}, {keys}, {self._inner.params!r}>"


def _mebibytes(count: int) -> str:
    return f"{count / 2**20:.1f} MiB"


def _devices(device: Any) -> list[str]:
    """Returns the names of the devices of a run."""
    if isinstance(device, str):
        return [device_name("device", device)]
    devices = items(device_name, "the name of a device, as rm.devices() lists them, or a list of names", DeviceError)(
        "device", device
    )
    if not devices:
        raise DeviceError("device is an empty list; name at least one, as rm.devices() lists them")
    return devices
