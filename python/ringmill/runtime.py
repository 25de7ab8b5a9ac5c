# SPDX-License-Identifier: Apache-2.0
"""Runs compiled programs: keys, encryption, devices, decryption."""

from __future__ import annotations

import functools
import logging
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, overload

import numpy as np

from ringmill._ringmill import (
    Ciphertext,
    CompiledProgram,
    EvaluationKeys,
    Keys,
    MacroProgram,
    Params,
)
from ringmill.arrays.interface import ArrayShape, Interface
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
    DataError,
    DeviceError,
    FileError,
    Interrupted,
    KeysError,
    KeysWarning,
    ParameterError,
    UnknownName,
)
from ringmill.explanation import Explanation
from ringmill.frames import public
from ringmill.inputs import Given
from ringmill.log import LOGGER, say_plans, timed
from ringmill.notebook import shown as shown_in_notebook
from ringmill.parameters import device_name, params_made
from ringmill.report import Report
from ringmill.schemes import Choice, Signature, choose_for_text, named
from ringmill.shape import Shape
from ringmill.values import as_vectors

F = TypeVar("F", bound=Callable[..., Any])
Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]

guarded("programs, clients and files make ciphertexts", FileError, path=path, params=params_made)(Ciphertext)
guarded("clients and files make evaluation keys", FileError, path=path, params=params_made)(EvaluationKeys)
guarded("@rm.program functions and files make programs", FileError, path=path, text=text(FileError))(MacroProgram)
guarded("rm.params makes parameters")(Params)


class Named(dict[str, Any]):
    """Results by name. The error for an unknown name suggests the closest known one."""

    def __missing__(self, name: object) -> Any:
        raise UnknownName(f"there is nothing named {shown(name)} here; {closest(name, self)}")


def _ciphertexts(name: str, value: Any, cure: str = "") -> Named:
    """Checks for ciphertexts by name. Other values are refused with the `cure`."""

    def refused(said: str) -> DataError:
        return DataError(f"{said}{cure}")

    found = names("ciphertexts", refused)(name, value)
    cipher = instance(Ciphertext, "a ciphertext", refused)
    return Named({key: cipher(f"{name}[{key!r}]", item) for key, item in found.items()})


_KEYS = optional(instance(EvaluationKeys, "evaluation keys, as client.evaluation_keys", KeysError))


@dataclass(frozen=True)
class Inputs:
    """The message of a client to a server: encrypted inputs by name, and the evaluation keys to compute on them.

    `batch` is how many inputs share the ciphertexts, for a program that is compiled with ``batch=True``. If there are
    more inputs, `more` has the others, in ciphertexts of their own.
    """

    ciphertexts: dict[str, Ciphertext]
    evaluation_keys: EvaluationKeys | None = None
    batch: int | None = None
    more: tuple[Inputs, ...] = ()


@dataclass(frozen=True)
class Run:
    """The result of a run on a device: encrypted outputs by name, and the report.

    `batch` is how many inputs share the ciphertexts, as in the :class:`Inputs` of the run. If these have further inputs
    in `more`, this `more` has the runs on them.
    """

    ciphertexts: dict[str, Ciphertext]
    report: Report
    batch: int | None = None
    more: tuple[Run, ...] = ()


@dataclass(frozen=True)
class Precision:
    """The bits of the worst slot, -log2 of its error: predicted (under the assumptions of docs/assumptions.md), and
    measured.

    The prediction is `conditional` if it rests on what the program says of its values (:func:`ringmill.bounded`).
    """

    predicted_bits: float
    measured_bits: float | None
    conditional: bool = False


@dataclass(frozen=True)
class Share:
    """The amount of noise that hides the error of a decryption that others will see. docs/security.md gives reason and
    cost.

    Consider all decryptions under one secret key, at most `decryptions`. Together they are within
    2^-`statistical_bits`, in statistical distance, of decryptions without errors of their own. Each output is one
    decryption. They are counted with the key, over all programs, and a decryption above `decryptions` is refused.

    A key does not know its count if an earlier version saved it, or if its file cannot be written. `decrypted_so_far`
    then is a lower bound on the decryptions that were shared before. It never lowers a count that the key has.

    Raises :class:`ParameterError` for values that are no such whole numbers.
    """

    statistical_bits: int
    decryptions: int = 1
    decrypted_so_far: int | None = None


_BATCH = optional(integer(1, 1 << 20, DataError))


def _more(kind: type) -> Callable[[str, Any], tuple[Any, ...]]:
    """Checks for further parts of a batch."""

    def check(name: str, value: Any) -> tuple[Any, ...]:
        if not isinstance(value, (tuple, list)) or not all(isinstance(item, kind) for item in value):
            raise DataError(f"{name} has the other rm.{kind.__name__} of a batch in a tuple, and is {shown(value)}")
        return tuple(value)

    return check


# The constructors of these four are public, and their parameters are their fields.
for _class, _checks in (
    (Inputs, {"ciphertexts": _ciphertexts, "evaluation_keys": _KEYS, "batch": _BATCH, "more": _more(Inputs)}),
    (
        Run,
        {
            "ciphertexts": _ciphertexts,
            "report": instance(Report, "the report of a run"),
            "batch": _BATCH,
            "more": _more(Run),
        },
    ),
    (
        Precision,
        {
            "predicted_bits": number(DataError),
            "measured_bits": optional(number(DataError)),
            "conditional": flag(DataError),
        },
    ),
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
    """Decorates a client's method that takes a program's inputs by name, after `positional` arguments by position."""

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
    """Holds the secret key: encrypts inputs and decrypts outputs. :meth:`Compiled.keygen` makes it.

    It holds no randomness. Every encryption and every key draws its own from the operating system, so a client may be
    used in forked processes and in threads.
    """

    @arguments("rm.Client", keys=instance(Keys, "those of a program: Compiled.keygen makes clients"))
    def __init__(
        self,
        keys: Keys,
        shape: Shape,
        signature: Signature | None = None,
        exact: bool = False,
        given: Given | None = None,
        arrays: Interface | None = None,
    ) -> None:
        self._arrays = arrays
        self._given = given or Given()
        self._keys = keys
        self._shape = shape
        self._signature = signature or Signature()
        self._complex = keys.complex
        self._exact = exact

    @property
    def evaluation_keys(self) -> EvaluationKeys:
        """The keys that a server needs to run the program. They hold no secret."""
        return self._keys.evaluation_keys

    @property
    def key_id(self) -> str | None:
        """The identity of the secret key in hexadecimal. Ciphertexts and keys made with it carry it.

        It is None if the secret key came from a file without identity (version 1 of the format). Then nothing can check
        which ciphertexts belong to it.
        """
        return self._keys.key_id

    @_by_name(0, lambda given: given.encrypt)
    def encrypt(self, /, **inputs: Any) -> Inputs:
        """Encrypts the program's encrypted inputs. Each is an array with one number for each slot of the program.

        An input of a declared type is one number, or exactly as many numbers as the type says. Whole numbers are
        Python's or numpy's integers and stay exact. Floats are refused, even whole ones.

        Raises :class:`DataError` for a missing input, a wrong length, NaN, infinity, or values too large for the scale.
        """
        parts: list[tuple[int | None, dict[str, Any]]] = [(None, inputs)]
        if self._arrays is None:
            known = self._signature.types
            for name in inputs:
                if known and name not in known:
                    raise UnknownName(f"the program has no input `{name}`; {closest(name, known)}")
        else:
            inputs = self._arrays.completed(inputs, True)
            parts = self._arrays.parts(inputs)
            said = self._given.refused_by_encrypt(inputs)
            if said is not None:
                raise DataError(said)
        first, *others = [self._encrypted(packed, batch) for batch, packed in parts]
        return replace(first, more=tuple(others)) if others else first

    def _encrypted(self, inputs: Mapping[str, Any], batch: int | None) -> Inputs:
        """Encrypts vectors of slots."""
        arrays = as_vectors(inputs, self._keys.slots, self._signature.of)
        self._complex = self._complex or any(array.imag.any() for array in arrays.values())
        try:
            with timed(logging.DEBUG, "encrypted %s", ", ".join(arrays)):
                ciphertexts = self._keys.encrypt(arrays)
        except DataError as error:
            said = self._given.refused_by_encrypt(inputs)
            raise error if said is None else DataError(said) from None
        return Inputs(ciphertexts, self._keys.evaluation_keys, batch)

    @arguments(complex=optional(flag()), share=optional(_SHARE), assume_bounded=flag(DataError))
    def decrypt(
        self,
        outputs: Run | Mapping[str, Ciphertext],
        *,
        complex: bool | None = None,
        share: Share | None = None,
        assume_bounded: bool = False,
    ) -> Any:
        """Decrypts the outputs, in the structure that the program's function returned, such as an array or a dict.

        The result is for the holder of the key alone, since its errors reveal information about the secret key. A
        result that others will see needs `share`, which says how much noise is added, as in
        ``share=rm.Share(statistical_bits=20)``. :meth:`shared_bits` returns the bits that remain. Each output is one
        decryption, and is counted before it is returned.

        An output whose precision rests on :func:`ringmill.bounded` is shared only with ``assume_bounded=True``. By
        it you vouch for what the program states, since an error beyond the prediction would reveal information about
        the secret key.

        Whole numbers come back exactly, as int64, or as fractions if the program divided them. Other arrays are complex
        if `complex` is true. By default they are complex if the program has complex constants or this client encrypted
        complex inputs. Otherwise the imaginary parts, which hold noise, are dropped.

        Raises :class:`KeysError` for ciphertexts of another key, and warns (:class:`KeysWarning`) if that cannot be
        checked. With `share`, raises :class:`DataError` for an output without a bound on its error, or one that noise
        would drown. Raises :class:`KeysError` for more decryptions than `share` allows, or a key whose count is not
        known.
        """
        more = outputs.more if isinstance(outputs, Run) else ()
        if isinstance(self._shape, ArrayShape):
            every = [self._vectors(part, complex, share, assume_bounded) for part in (outputs, *more)]
            return self._shape.joined([self._shape.leaves(vectors, batch) for vectors, batch in every])
        return self._shape.arrays(self._vectors(outputs, complex, share, assume_bounded)[0])

    def _vectors(
        self, outputs: Run | Mapping[str, Ciphertext], complex: bool | None, share: Share | None, assume_bounded: bool
    ) -> tuple[list[Any], int | None]:
        """Decrypts to vectors of slots, and returns how many inputs of a batch they are of."""
        batch = outputs.batch if isinstance(outputs, Run) and self._arrays is not None and self._arrays.batch else None
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
                    outputs, share.statistical_bits, share.decryptions, share.decrypted_so_far, assume_bounded
                )
                values = [shared[name] for name in self._shape.names]
        return [v if whole else np.ascontiguousarray(v.real) for v in values], batch

    @arguments(share=_SHARE)
    def shared_bits(self, share: Share) -> dict[str, float]:
        """Returns the bits after the binary point that are right in every slot of each output decrypted with `share`.

        They hold for all inputs that :meth:`encrypt` takes, whatever the sample. Minus infinity stands for an output
        whose error has no bound for all inputs; such an output cannot be shared.
        """
        return Named(self._keys.shared_bits(share.statistical_bits, share.decryptions))

    @property
    def shared_decryptions(self) -> int | None:
        """The number of decryptions that were shared under the secret key, over all its programs, or None if it is not
        known.
        """
        return self._keys.shared_decryptions()

    @overload
    def noise_budget(self, outputs: Run | Mapping[str, Ciphertext]) -> dict[str, int]: ...

    @overload
    def noise_budget(self, outputs: Ciphertext) -> int: ...

    @arguments()
    def noise_budget(self, outputs: Run | Mapping[str, Ciphertext] | Ciphertext) -> dict[str, int] | int:
        """Returns the bits by which the noise of each ciphertext may still grow before its message is lost. 0 means
        that it may be lost.

        The result is by name for a run or for ciphertexts by name, and a number for one ciphertext. It is for the
        holder of the key alone.

        Raises :class:`KeysError` for ciphertexts of another key, and :class:`DataError` for approximate ones, which
        have no budget; use :meth:`measure` for those.
        """
        if isinstance(outputs, Ciphertext):
            return self._keys.noise_budget("ciphertext", outputs)
        budgets = {name: self._keys.noise_budget(name, item) for name, item in self._outputs(outputs).items()}
        for part in outputs.more if isinstance(outputs, Run) else ():
            others = {name: self._keys.noise_budget(name, item) for name, item in part.ciphertexts.items()}
            budgets = {name: min(budget, others[name]) for name, budget in budgets.items()}
        return Named(budgets if self._arrays is None else self._arrays.by_result(budgets))

    def _outputs(self, outputs: Run | Mapping[str, Ciphertext]) -> Mapping[str, Ciphertext]:
        """Returns the ciphertexts of a run's outputs by name."""
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
        """Measures the precision of each output against the program computed in the clear on all its inputs, plain ones
        too.

        The report of the run then has the measured bits beside the predicted ones: `run.report`, its data and its page.
        A report that was copied from another process stays as it is.

        The measured bits tell the largest error of an output, which reveals information about the secret key. They, and
        a report that has them, are for the holder of the key alone, and are never shared.

        Raises :class:`DataError` for inputs for which a value is not where the program says (:func:`ringmill.bounded`).
        """
        if self._arrays is None:
            return Named(self._measured(run, inputs))
        parts = self._arrays.parts(self._arrays.completed(inputs, None))
        runs = [run, *run.more]
        counts, of_runs = ([count or 0 for count, _ in parts], [each.batch or 0 for each in runs])
        if run.batch is not None and counts != of_runs:
            raise DataError(f"the run is of {sum(of_runs)} inputs, and {sum(counts)} are given")
        every = [self._measured(each, packed) for each, (_, packed) in zip(runs, parts, strict=True)]
        return Named(self._arrays.by_result({name: _worst([one[name] for one in every]) for name in every[0]}, _worst))

    def _measured(self, run: Run, vectors: Mapping[str, Any]) -> dict[str, Precision]:
        """Measures the precision of each vector of slots."""
        arrays = as_vectors(vectors, self._keys.slots, self._signature.of)
        rows = self._keys.measure(arrays, run.ciphertexts)
        run.report._measured({name: measured for name, _, measured, _ in rows if measured is not None})
        return {name: Precision(*bits) for name, *bits in rows}

    @arguments(path=path)
    def save_secret_key(self, path: Path) -> None:
        """Writes the secret key. Whoever has the file can read everything encrypted under the key.

        Only its owner may read the file (mode 0600), from its first byte.

        The first file that a key is saved to, or the file that it was loaded from, keeps the count of shared
        decryptions (:class:`Share`). A key that is saved to another file does not know its count.
        """
        self._keys.save_secret_key(path)

    def __repr__(self) -> str:
        return "<ringmill client>"


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

    @arguments(path=path, with_sample=flag())
    def save(self, path: Path, *, with_sample: bool = False) -> None:
        """Writes the traced program with its parameters and options, for :func:`load`.

        The file is macro text, which the command line reads as a program, below a comment line with the options. It
        holds the program's constants and no values of its inputs. Of a `sample` it has only the ranges of the inputs,
        whose ends are powers of two. It names source files without their folders.

        ``with_sample=True`` keeps every value of the sample, too, so that the program can be compiled with it again.
        Only its owner may read that file (mode 0600), and it is not for the server. Raises :class:`DataError` if the
        program was compiled without a sample.
        """
        if self._arrays is not None:
            self._inner.save(path, self._shape.kind, {}, [], with_sample, self._arrays.line())
            return
        shape, lengths = self._shape, self._signature.lengths(self._inner.slots)
        self._inner.save(path, shape.kind, lengths, list(shape.lengths), with_sample, "")

    @property
    def key_bytes(self) -> int:
        """The bytes of the evaluation keys that :meth:`keygen` makes, known before it makes them."""
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


def _worst(found: list[Precision]) -> Precision:
    """Returns the precision of the worst slot of several vectors."""
    measured = [one.measured_bits for one in found if one.measured_bits is not None]
    return Precision(
        min(one.predicted_bits for one in found),
        min(measured) if len(measured) == len(found) else None,
        any(one.conditional for one in found),
    )


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
