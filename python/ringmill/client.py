# SPDX-License-Identifier: Apache-2.0
"""The client of a compiled program: holds the secret key, encrypts inputs and decrypts outputs."""

from __future__ import annotations

import functools
import logging
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, overload

import numpy as np

from ringmill._ringmill import Ciphertext, EvaluationKeys, Keys, PublicKey
from ringmill.arrays.interface import ArrayShape, Interface
from ringmill.check import Path, arguments, closest, flag, instance, integer, number, optional, path, shown
from ringmill.encryption import Encryption
from ringmill.errors import ArgumentError, DataError, KeysWarning, ParameterError, UnknownName
from ringmill.frames import public
from ringmill.inputs import Given
from ringmill.log import timed
from ringmill.messages import Inputs, Named, Run, ciphertexts
from ringmill.schemes import Signature
from ringmill.shape import Shape
from ringmill.values import as_vectors

F = TypeVar("F", bound=Callable[..., Any])


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


# The constructors of both are public, and their parameters are their fields.
for _class, _checks in (
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
        self._encryption = Encryption(self._given, self._signature, arrays, keys.slots)
        self._complex = keys.complex
        self._exact = exact

    @property
    def evaluation_keys(self) -> EvaluationKeys:
        """The keys that a server needs to run the program. They hold no secret."""
        return self._keys.evaluation_keys

    @arguments()
    def public_key(self) -> PublicKey:
        """Makes a public key, with which anyone encrypts inputs for this client (:meth:`Compiled.encrypt`).

        Each call makes another key. All of them belong to the same secret key.
        """
        return self._keys.public_key()

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
        return self._encryption.inputs(inputs, self._ciphertexts, self._keys.evaluation_keys)

    def _ciphertexts(self, vectors: Mapping[str, np.ndarray[Any, Any]]) -> dict[str, Ciphertext]:
        """Encrypts vectors of slots under the secret key."""
        self._complex = self._complex or any(vector.imag.any() for vector in vectors.values())
        return self._keys.encrypt(vectors)

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
        return ciphertexts("outputs", outputs, cure)

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


def _worst(found: list[Precision]) -> Precision:
    """Returns the precision of the worst slot of several vectors."""
    measured = [one.measured_bits for one in found if one.measured_bits is not None]
    return Precision(
        min(one.predicted_bits for one in found),
        min(measured) if len(measured) == len(found) else None,
        any(one.conditional for one in found),
    )
