# SPDX-License-Identifier: Apache-2.0
"""Running compiled programs: keys, encryption, devices, decryption."""

from __future__ import annotations

import functools
import logging
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, overload

import numpy as np

from ringmill._ringmill import (
    Ciphertext,
    CompiledProgram,
    EvaluationKeys,
    Keys,
    MacroProgram,
    Params,
    load_compiled,
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
from ringmill.errors import (
    ArgumentError,
    CompileError,
    DataError,
    DeviceError,
    FileError,
    Interrupted,
    KeysError,
    KeysWarning,
    ParameterError,
    UnknownName,
)
from ringmill.frames import public
from ringmill.inputs import Given
from ringmill.log import LOGGER, say_plans, timed
from ringmill.notebook import shown as shown_in_notebook
from ringmill.parameters import device_name, params_made
from ringmill.report import Report
from ringmill.schemes import Choice, Signature, choose_for_text, named, of_text
from ringmill.shape import Shape
from ringmill.values import as_vectors

F = TypeVar("F", bound=Callable[..., Any])
Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]

guarded("programs, clients and files make ciphertexts", FileError, path=path, params=params_made)(Ciphertext)
guarded("clients and files make evaluation keys", FileError, path=path, params=params_made)(EvaluationKeys)
guarded("@rm.program functions and files make programs", FileError, path=path, text=text(FileError))(MacroProgram)
guarded("rm.params makes parameters")(Params)


class Named(dict[str, Any]):
    """Results by name; a name that is not there is refused with the closest that is."""

    def __missing__(self, name: object) -> Any:
        raise UnknownName(f"there is nothing named {shown(name)} here; {closest(name, self)}")


def _ciphertexts(name: str, value: Any, cure: str = "") -> Named:
    """Ciphertexts by name; what else is given is refused with the `cure`."""

    def refused(said: str) -> DataError:
        return DataError(f"{said}{cure}")

    found = names("ciphertexts", refused)(name, value)
    cipher = instance(Ciphertext, "a ciphertext", refused)
    return Named({key: cipher(f"{name}[{key!r}]", item) for key, item in found.items()})


_KEYS = optional(instance(EvaluationKeys, "evaluation keys, as client.evaluation_keys", KeysError))


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
    """Bits of the worst slot, -log2 of its error: predicted (under what docs/assumptions.md names), and measured."""

    predicted_bits: float
    measured_bits: float | None


@dataclass(frozen=True)
class Share:
    """How much noise hides the error of a decryption that others will see; docs/security.md says why and what it costs.

    What all of at most `decryptions` decryptions under one secret key show is within 2^-`statistical_bits`, in
    statistical distance, of what they would show if none had an error of its own. Each output is one decryption. They
    are counted with the key, over all programs, and what would be above `decryptions` is refused.

    A key that was saved by an earlier version, or in a file that cannot be written, does not know its count:
    `decrypted_so_far` says how many decryptions were shared before, at least. It never lowers a count that the key has.

    Raises :class:`ParameterError` for what are no whole numbers of that kind.
    """

    statistical_bits: int
    decryptions: int = 1
    decrypted_so_far: int | None = None


# The constructors of these four are public, their parameters are their fields.
for _class, _checks in (
    (Inputs, {"ciphertexts": _ciphertexts, "evaluation_keys": _KEYS}),
    (Run, {"ciphertexts": _ciphertexts, "report": instance(Report, "the report of a run")}),
    (Precision, {"predicted_bits": number(DataError), "measured_bits": optional(number(DataError))}),
    (
        Share,
        {
            **dict.fromkeys(("statistical_bits", "decryptions"), integer(1, 2**32 - 1, ParameterError)),
            "decrypted_so_far": optional(integer(0, 2**64 - 1, ParameterError)),
        },
    ),
):
    _class.__init__ = arguments(f"rm.{_class.__name__}", **_checks)(_class.__init__)  # type: ignore[misc]


def _by_name(positional: int, call: Callable[[Given], str]) -> Callable[[F], F]:
    """Decorates a client's method that takes a program's inputs by name, after so many arguments by position."""

    def decorate(method: F) -> F:
        @public
        @functools.wraps(method)
        def checked(self: Client, /, *args: Any, **inputs: Any) -> Any:
            if len(args) > positional:
                raise ArgumentError(
                    f"{method.__name__} takes the program's inputs by name, and {shown(args[positional])} came without "
                    f"one; write {call(self._given)}"
                )
            return method(self, *args, **inputs)

        return checked  # type: ignore[return-value]

    return decorate


_SHARE = instance(Share, "how much noise to add, as rm.Share(statistical_bits=20)", ParameterError)


class Client:
    """Holds the secret key: encrypts inputs and decrypts outputs. Made by :meth:`Compiled.keygen`.

    It holds no randomness: every encryption and every key draws its own from the operating system, so that a client may
    be used in forked processes and in threads.
    """

    @arguments("rm.Client", keys=instance(Keys, "those of a program: Compiled.keygen makes clients"))
    def __init__(
        self,
        keys: Keys,
        shape: Shape,
        signature: Signature | None = None,
        exact: bool = False,
        given: Given | None = None,
    ) -> None:
        self._given = given or Given()
        self._keys = keys
        self._shape = shape
        self._signature = signature or Signature()
        self._complex = keys.complex
        self._exact = exact

    @property
    def evaluation_keys(self) -> EvaluationKeys:
        """What a server needs to run the program, and no more: no secret is in it."""
        return self._keys.evaluation_keys

    @property
    def key_id(self) -> str | None:
        """The identity of the secret key, which the ciphertexts and keys made with it carry, in hexadecimal.

        None where the secret key came from a file that has none (version 1 of the format); then what belongs to it
        cannot be checked.
        """
        return self._keys.key_id

    @_by_name(0, lambda given: given.encrypt)
    def encrypt(self, /, **inputs: Any) -> Inputs:
        """Encrypts the program's encrypted inputs, each an array of as many numbers as the program has slots.

        Inputs of a declared type are one number, or exactly as many as the type says. Whole numbers are Python's or
        numpy's integers and are taken exactly; floats are refused, even whole ones.

        Raises :class:`DataError` for a missing input, a wrong length, NaN, infinity, or values too large for the scale.
        """
        known = self._signature.types
        for name in inputs:
            if known and name not in known:
                raise UnknownName(f"the program has no input `{name}`; {closest(name, known)}")
        arrays = as_vectors(inputs, self._keys.slots, self._signature.of)
        self._complex = self._complex or any(array.imag.any() for array in arrays.values())
        try:
            with timed(logging.DEBUG, "encrypted %s", ", ".join(arrays)):
                ciphertexts = self._keys.encrypt(arrays)
        except DataError as error:
            said = self._given.refused_by_encrypt(inputs)
            raise error if said is None else DataError(said) from None
        return Inputs(ciphertexts, self._keys.evaluation_keys)

    @arguments(complex=optional(flag()), share=optional(_SHARE))
    def decrypt(
        self, outputs: Run | Mapping[str, Ciphertext], *, complex: bool | None = None, share: Share | None = None
    ) -> Any:
        """The outputs in the structure the program's function returned them in: one array, a tuple or a dict.

        The result is for the holder of the key alone: its errors tell of the secret key. What others are to see needs
        `share`, which says how much noise is added, as in ``share=rm.Share(statistical_bits=20)``; :meth:`shared_bits`
        says how many bits it leaves. Each output counts, and is counted before it is given out.

        Whole numbers come back exactly, as int64. Other arrays are complex if `complex` says so; if it is left out,
        when the program has complex constants or this client encrypted complex inputs. Otherwise the imaginary parts,
        which hold noise, are dropped.

        Raises :class:`KeysError` for ciphertexts of another key; warns (:class:`KeysWarning`) where that cannot be
        checked. With `share`, raises :class:`DataError` for what has no bound on its error or would be lost in noise,
        and :class:`KeysError` for more decryptions than `share` says, or a key whose count is not known.
        """
        ciphertexts = self._outputs(outputs)
        for name in ciphertexts:
            if name not in self._shape.names:
                raise UnknownName(f"the program has no output `{name}`; {closest(name, self._shape.names)}")
        missing = [name for name in self._shape.names if name not in ciphertexts]
        if missing:
            raise DataError(f"output {missing[0]} is missing; the program has outputs {', '.join(self._shape.names)}")
        if complex and self._exact:
            raise DataError("complex=True is about complex numbers, and this program's are whole; leave it out")
        whole = self._complex if complex is None else complex
        outputs = {name: ciphertexts[name] for name in self._shape.names}
        self._warn_unchecked(outputs)
        with timed(logging.DEBUG, "decrypted %s", ", ".join(self._shape.names)):
            if share is None:
                values = [self._keys.decrypt(name, outputs[name]) for name in self._shape.names]
            else:
                shared = self._keys.decrypt_to_share(
                    outputs, share.statistical_bits, share.decryptions, share.decrypted_so_far
                )
                values = [shared[name] for name in self._shape.names]
        return self._shape.arrays([v if whole else np.ascontiguousarray(v.real) for v in values])

    @arguments(share=_SHARE)
    def shared_bits(self, share: Share) -> dict[str, float]:
        """Bits after the binary point that are right in every slot of each output decrypted with `share`.

        They hold for all inputs that :meth:`encrypt` takes, whatever the sample. Minus infinity stands for an output
        whose error has no bound for all of them: it is not shared.
        """
        return Named(self._keys.shared_bits(share.statistical_bits, share.decryptions))

    @property
    def shared_decryptions(self) -> int | None:
        """How many decryptions were shared under the secret key, of all its programs; None where that is not known."""
        return self._keys.shared_decryptions()

    @overload
    def noise_budget(self, outputs: Run | Mapping[str, Ciphertext]) -> dict[str, int]: ...

    @overload
    def noise_budget(self, outputs: Ciphertext) -> int: ...

    @arguments()
    def noise_budget(self, outputs: Run | Mapping[str, Ciphertext] | Ciphertext) -> dict[str, int] | int:
        """Bits by which the noise of each ciphertext may still grow before its message is lost; 0 where it may be.

        Of a run or ciphertexts by name, by name; of one ciphertext a number. For the holder of the key alone.

        Raises :class:`KeysError` for ciphertexts of another key, and :class:`DataError` for approximate ones, which
        have none: :meth:`measure` is for those.
        """
        if isinstance(outputs, Ciphertext):
            return self._keys.noise_budget("ciphertext", outputs)
        return Named({name: self._keys.noise_budget(name, item) for name, item in self._outputs(outputs).items()})

    def _outputs(self, outputs: Run | Mapping[str, Ciphertext]) -> Mapping[str, Ciphertext]:
        """The ciphertexts of a run's outputs by name."""
        if isinstance(outputs, Run):
            return outputs.ciphertexts
        names = ", ".join(f'"{name}": ciphertext' for name in self._shape.names)
        run = "compiled.run(inputs)" if isinstance(outputs, Inputs) else "run"
        cure = f"; give what a run gave, client.decrypt({run}), or client.decrypt({{{names}}})"
        return _ciphertexts("outputs", outputs, cure)

    def _warn_unchecked(self, outputs: Mapping[str, Ciphertext]) -> None:
        unknown = [f"output {name}" for name, ciphertext in outputs.items() if ciphertext.key_id is None]
        if self.key_id is None:
            unknown.insert(0, "the secret key")
        if unknown:
            warnings.warn(
                f"{', '.join(unknown)} carries no key identity (SEAL's files and files of version 1 have none), so it "
                "was not checked that key and ciphertext belong together; a wrong key decrypts to noise",
                KeysWarning,
                stacklevel=4,
            )

    @_by_name(1, lambda given: given.measure)
    @arguments(run=instance(Run, "what Compiled.run gave", DataError))
    def measure(self, run: Run, /, **inputs: Any) -> dict[str, Precision]:
        """The precision of each output against the program computed in the clear on all its inputs, plain ones too.

        The report of the run then has the measured bits beside the predicted ones: `run.report`, its data and its page.
        A report that was copied from another process stays as it is.

        The measured bits tell the largest error of an output, and so of the secret key: they, and a report that has
        them, are for the holder of the key alone, and are never shared.
        """
        arrays = as_vectors(inputs, self._keys.slots, self._signature.of)
        rows = self._keys.measure(arrays, run.ciphertexts)
        run.report._measured({name: measured for name, _, measured in rows if measured is not None})
        return Named({name: Precision(predicted, measured) for name, predicted, measured in rows})

    @arguments(path=path)
    def save_secret_key(self, path: Path) -> None:
        """Writes the secret key. Whoever has the file can read everything encrypted under it.

        Only its owner may read the file (mode 0600), from its first byte.

        The first file that a key is saved to, or the one it was loaded from, keeps the count of decryptions that are
        shared (:class:`Share`). A key saved to another file does not know its count.
        """
        self._keys.save_secret_key(path)

    def __repr__(self) -> str:
        return "<ringmill client>"


class Compiled:
    """A program ready to run; made by :meth:`Program.compile`."""

    @arguments("rm.Compiled", inner=instance(CompiledProgram, "a compiled program: Program.compile makes them"))
    def __init__(
        self,
        inner: CompiledProgram,
        shape: Shape,
        signature: Signature | None = None,
        choice: Choice | None = None,
    ) -> None:
        self._inner = inner
        self._shape = shape
        self._signature = signature or Signature()
        self._choice = choice or choose_for_text(None, inner.scheme)
        self._given = Given.of(inner.inputs)
        scheme = named(inner.scheme)
        self._exact = scheme is not None and scheme.exact

    @property
    def scheme(self) -> str:
        """The name of the scheme that the program is compiled for."""
        return self._choice.name

    @property
    def scheme_reason(self) -> str:
        """Why it is that scheme: it was named, or the compiler chose it by the types of the arguments."""
        return self._choice.why

    @property
    def params(self) -> Params:
        return self._inner.params

    @property
    def predicted_bits(self) -> dict[str, float]:
        """Bits after the binary point that are right in every slot of each output, but with probability 2^-40.

        They hold for all that :meth:`Client.encrypt` takes, with a sample too.
        """
        bits = self._inner.predicted_bits
        if bits is None:
            raise DataError(
                f"results of {self.scheme} are exact; predicted_budget says how much noise they can still take"
            )
        return Named(bits)

    @property
    def predicted_bits_like_sample(self) -> dict[str, float] | None:
        """The same for inputs like the sample that the program was compiled by; None without one.

        An input is like the sample where no value inside the program is larger than the sample's margin times its
        largest on the sample. Nobody can check that of encrypted inputs, so it is for you to know.
        """
        bits = self._inner.predicted_bits_like_sample
        return None if bits is None else Named(bits)

    @property
    def predicted_budget(self) -> dict[str, float]:
        """Bits of noise budget that each output of exact values has at least, but with probability 2^-40."""
        budget = self._inner.predicted_budget
        if budget is None:
            raise DataError(f"results of {self.scheme} are approximate; predicted_bits says how many bits are right")
        return Named(budget)

    @property
    def ranges(self) -> dict[str, float | tuple[float, float] | tuple[int, int]]:
        """Where each input's values must lie: ``(lowest, highest)``, or the largest absolute value."""
        return {name: ends[0] if len(ends) == 1 else (ends[0], ends[1]) for name, ends in self._inner.ranges}

    @arguments(level=text(), machine=text(DeviceError))
    def text(self, level: str = "macro", machine: str = "ring") -> str:
        """The program as text: ``"macro"`` (ciphertexts), ``"mid"`` (limbs) or ``"micro"`` (a machine's words)."""
        return self._inner.text(level, machine)

    @arguments()
    def counts(self) -> tuple[dict[str, int], dict[str, int]]:
        """How often a run executes each macro instruction, and each mid-level one; counted, with nothing unrolled."""
        return self._inner.counts()

    @arguments()
    def unrolled_counts(self) -> dict[str, int]:
        """The mid-level half of :meth:`counts`, one by one in the program written out: of small programs."""
        return self._inner.unrolled_counts()

    @arguments(path=path, with_sample=flag())
    def save(self, path: Path, *, with_sample: bool = False) -> None:
        """Writes the traced program with its parameters and options, for :func:`load`.

        The file is macro text, which the command line reads as a program, under a line of comment that keeps how it
        was compiled. It holds no data: of a `sample` it has the ranges of the inputs, which are powers of two, and what
        is predicted of each output, in eighths of a bit. It names source files without their folders.

        ``with_sample=True`` keeps every value of the sample, too, so that the program can be compiled by it again; only
        its owner may read that file (mode 0600), and it is not for the server. Raises :class:`DataError` where there is
        no sample.
        """
        shape, lengths = self._shape, self._signature.lengths(self._inner.slots)
        self._inner.save(path, shape.kind, lengths, list(shape.lengths), with_sample)

    @property
    def key_bytes(self) -> int:
        """Bytes of the evaluation keys that :meth:`keygen` makes: known before it makes any."""
        return self._inner.key_bytes

    @arguments()
    def keygen(self) -> Client:
        """Fresh keys from the system's randomness: the secret key and the evaluation keys the program needs.

        They take :attr:`key_bytes`; raises ``MemoryError`` where that is more than :func:`limits` allow.
        """
        with timed(logging.INFO, "made keys of %s", self._inner.name):
            keys = self._inner.keygen()
        return self._client(keys)

    @arguments(path=path)
    def load_secret_key(self, path: Path) -> Client:
        """The client whose secret key was saved, with fresh evaluation keys."""
        with timed(logging.INFO, "made evaluation keys of %s for a saved secret key", self._inner.name):
            keys = self._inner.load_secret_key(path)
        return self._client(keys)

    def _client(self, keys: Keys) -> Client:
        return Client(keys, self._shape, self._signature, self._exact, self._given)

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
        keys=_KEYS,
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

        `plain` holds the ``rm.Plain`` inputs. The keys come with the inputs when :meth:`Client.encrypt` made them;
        give `keys` otherwise. `trace` names a file for a trace that opens in Perfetto's viewer (of the last device).
        With ``timeline=True`` each report has what units and memories did over time, for :meth:`Report.save_html`; a
        machine's cycle model then goes through every call, so it takes longer.

        Inputs are what clients encrypted. The output of a run has more noise than any prediction counts on: what goes
        on from it belongs into one program with it.

        A run of more than a second shows how far it is, on a terminal and in a notebook, unless `progress` is false.
        What does not fit a simulated machine's memory waits in the host's, and the report says what that cost; with
        ``spill=False`` such a program raises :class:`DeviceError` instead.

        `checkpoint` names a file in which the run is saved between two calls: not before `every` seconds have passed
        since the last time, and when it is interrupted: Ctrl-C is raised when that is done, a second one at once.
        ``resume=`` that file, with the same program, inputs and keys, goes on from there, to the same bits. One device
        computes then, the CPU or a simulated machine.

        Keys and constants are expanded as the run reads them. With `expanded_bytes` no more than so many bytes of them
        are kept for later, and what was dropped is made again, to the same bits; the report says how often. A budget
        below the largest of them raises :class:`DeviceError`, which states the least that works, as does one for a
        machine that takes some of the instructions only (``sim:polymul``).

        Ctrl-C raises :class:`Interrupted`, a ``KeyboardInterrupt`` whose `runs` are those that were complete. A run
        that would take more memory than :func:`limits` allow raises ``MemoryError`` before it begins.
        """
        if isinstance(inputs, Inputs):
            ciphertexts, keys = inputs.ciphertexts, keys or inputs.evaluation_keys
        else:
            ciphertexts = _ciphertexts("inputs", inputs, f"; {self._given.run_of_encrypted}")
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
                runs.append(Run(outputs, Report._of_run(*texts, page)))
        except KeyboardInterrupt as error:
            if checkpoint is not None and os.path.exists(checkpoint):
                LOGGER.info("%s: interrupted; its checkpoint is %s", self._inner.name, checkpoint)
            done = ", ".join(devices[: len(runs)]) or "none"
            raise Interrupted(f"interrupted on {devices[len(runs)]}; complete, in .runs: {done}", runs) from error
        return runs[0] if isinstance(device, str) else runs

    def _repr_html_(self) -> str:
        return self._inner.fragment([])

    def _vectors(
        self, ciphertexts: Mapping[str, Ciphertext], plain: Mapping[str, Any] | None
    ) -> dict[str, np.ndarray[Any, Any]]:
        """The plain inputs of a run on these ciphertexts; what is not as the program takes it is refused."""
        said = self._given.refused_by_run(ciphertexts, plain or {})
        if said is not None:
            raise DataError(said)
        return as_vectors(plain or {}, self._inner.slots, self._signature.of)

    def __repr__(self) -> str:
        keys = f"evaluation keys of {_mebibytes(self.key_bytes)}"
        return f"<ringmill compiled program {self._inner.name}, {self._choice}, {keys}, {self._inner.params!r}>"


def _mebibytes(count: int) -> str:
    return f"{count / 2**20:.1f} MiB"


def _devices(device: Any) -> list[str]:
    """The names of the devices that a run is asked for on."""
    if isinstance(device, str):
        return [device_name("device", device)]
    devices = items(device_name, "the name of a device, as rm.devices() lists them, or a list of names", DeviceError)(
        "device", device
    )
    if not devices:
        raise DeviceError("device is an empty list; name at least one, as rm.devices() lists them")
    return devices


@arguments(
    "rm.load",
    path=path,
    params=optional(params_made),
    scheme=optional(text(CompileError)),
    tables=optional(items(text(ParameterError), "a list of security tables", ParameterError)),
    allow_insecure_parameters_for_tests_only=flag(ParameterError),
)
def load(
    path: Path,
    params: Params | None = None,
    *,
    scheme: str | None = None,
    tables: list[str] | None = None,
    allow_insecure_parameters_for_tests_only: bool = False,
    **options: Any,
) -> Compiled:
    """The program that :meth:`Compiled.save` wrote, with the parameters and options it was compiled with.

    Macro text written by hand (.rmac) says none: it is compiled with `params` and `options`, which are those of
    :meth:`Program.compile`. Where either is given for a saved program, it is compiled anew with them, too, and what it
    was compiled with is left aside. Parameters that are not secure are refused in a file unless they are allowed.

    A saved program names the security table that its parameters are checked by, and `tables` names those you accept.
    They are by default ``"guidelines_2024"`` and, of sparse secrets, ``"sparse_ternary_2026"``. A list replaces both:
    ``tables=["guidelines_2024", "standard_2018"]``.

    A file names its scheme, and `scheme` refuses those of another. It keeps the lengths of arrays and no types: inputs
    are whole numbers where the scheme is one of integers, and real or complex ones otherwise.

    Raises :class:`FileError` or :class:`CompileError`.
    """
    from ringmill.program import check_options, compile_traced

    check_options("rm.load", params, options)
    if params is None and not options:
        saved = load_compiled(path, tables, allow_insecure_parameters_for_tests_only)
        if saved is not None:
            returned, inputs, outputs = saved.arrays
            shape, signature = Shape.of_text(saved.outputs, returned, outputs), of_text(saved.scheme, inputs)
            return Compiled(saved, shape, signature, choose_for_text(scheme, saved.scheme))
    program = MacroProgram.load(path)
    choice = choose_for_text(scheme, program.scheme)
    returned, inputs, outputs = program.arrays
    shape, signature = Shape.of_text(program.outputs, returned, outputs), of_text(program.scheme, inputs)
    return compile_traced(program, shape, params, signature=signature, choice=choice, **options)
