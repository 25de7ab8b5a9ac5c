# SPDX-License-Identifier: Apache-2.0
"""What a client and a server send each other: encrypted inputs, and the encrypted outputs of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from ringmill._ringmill import Ciphertext, EvaluationKeys, Params, PublicKey, read_message, write_message
from ringmill.check import (
    Path,
    arguments,
    closest,
    content,
    guarded,
    instance,
    integer,
    items,
    names,
    optional,
    path,
    shown,
)
from ringmill.errors import DataError, FileError, KeysError, UnknownName
from ringmill.files import put, source, take, target, with_files
from ringmill.parameters import params_made
from ringmill.report import Report

_CHECKS = {"path": path, "params": params_made, "data": content}
guarded("programs, clients and files make ciphertexts", FileError, **_CHECKS)(Ciphertext)
guarded("clients and files make evaluation keys", FileError, **_CHECKS)(EvaluationKeys)
guarded("clients and files make public keys", FileError, **_CHECKS)(PublicKey)
for _kind in (Ciphertext, EvaluationKeys, PublicKey):
    with_files(_kind)


class Named(dict[str, Any]):
    """Results by name. The error for an unknown name suggests the closest known one."""

    def __missing__(self, name: object) -> Any:
        raise UnknownName(f"there is nothing named {shown(name)} here; {closest(name, self)}")


def _written(parts: list[Any], texts: Callable[[Any], list[str]]) -> bytes:
    """Returns the content of a file of a message, of which each part has ciphertexts by name."""
    every = [cipher for part in parts for cipher in part.ciphertexts.values()]
    if not every:
        raise DataError("there is no ciphertext to write; encrypt inputs first, as client.encrypt does")
    sent = [(part.batch, texts(part), list(part.ciphertexts.items())) for part in parts]
    return write_message(every[0].params, sent)


def _read(data: bytes, params: Params, make: Callable[[int | None, list[str], Named], Any]) -> Any:
    """Reads a message, of which `make` makes each part from its batch, its texts and its ciphertexts by name."""
    try:
        parts = [make(batch, texts, Named(found)) for batch, texts, found in read_message(params, data)]
    except DataError as error:
        raise FileError(f"the message: {error}") from None
    if not parts:
        raise FileError("the message has no part; write it by to_bytes() of inputs or of a run")
    return replace(parts[0], more=tuple(parts[1:]))


def ciphertexts(name: str, value: Any, cure: str = "") -> Named:
    """Checks for ciphertexts by name. Other values are refused with the `cure`."""

    def refused(said: str) -> DataError:
        return DataError(f"{said}{cure}")

    found = names("ciphertexts", refused)(name, value)
    cipher = instance(Ciphertext, "a ciphertext", refused)
    return Named({key: cipher(f"{name}[{key!r}]", item) for key, item in found.items()})


KEYS = optional(instance(EvaluationKeys, "evaluation keys, as client.evaluation_keys", KeysError))


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

    @staticmethod
    @arguments("Inputs.together", evaluation_keys=KEYS)
    def together(parts: Iterable[Inputs], evaluation_keys: EvaluationKeys | None = None) -> Inputs:
        """Joins what several parties encrypted for one run, and adds evaluation keys.

        Raises :class:`DataError` if two parties encrypted the same input, or batches of different sizes.
        """
        made = items(instance(Inputs, "encrypted inputs, as compiled.encrypt makes them", DataError), _PARTS, DataError)
        every = made("parts", parts)
        sizes = {tuple(part.batch for part in (one, *one.more)) for one in every}
        if len(sizes) != 1:
            counts = " and ".join(str(sum(n or 1 for n in size)) for size in sizes) or "none"
            raise DataError(f"parts must be inputs of one run, and are of {counts} inputs; encrypt batches of one size")
        found = []
        for position, batch in enumerate(next(iter(sizes))):
            ciphertexts = Named()
            for one in every:
                own = (one, *one.more)[position].ciphertexts
                twice = next((name for name in own if name in ciphertexts), None)
                if twice is not None:
                    raise DataError(f"two of the parts have the input `{twice}`; one party encrypts an input")
                ciphertexts.update(own)
            found.append(Inputs(ciphertexts, evaluation_keys, batch))
        return replace(found[0], more=tuple(found[1:]))

    @arguments("Inputs.to_bytes")
    def to_bytes(self) -> bytes:
        """Returns the ciphertexts as the content of a file, with names and batches.

        The evaluation keys are not among them, since a server needs them once and not with each message. Send them as
        ``client.evaluation_keys.to_bytes()``.
        """
        return _written([self, *self.more], lambda part: [])

    @staticmethod
    @arguments("Inputs.from_bytes", data=content, params=params_made, evaluation_keys=KEYS)
    def from_bytes(data: bytes, params: Params, evaluation_keys: EvaluationKeys | None = None) -> Inputs:
        """Reads inputs of these parameters from what :meth:`to_bytes` returned, and adds evaluation keys.

        Raises :class:`FileError` if the content is damaged or of other parameters.
        """
        return _read(data, params, lambda batch, _, found: Inputs(found, evaluation_keys, batch))

    @arguments("Inputs.save", path=target)
    def save(self, path: Path | BinaryIO) -> None:
        """Writes what :meth:`to_bytes` returns, to a path or an open binary file."""
        put(path, self.to_bytes())

    @staticmethod
    @arguments("Inputs.load", path=source, params=params_made, evaluation_keys=KEYS)
    def load(path: Path | BinaryIO, params: Params, evaluation_keys: EvaluationKeys | None = None) -> Inputs:
        """Reads what :meth:`save` wrote, from a path or an open binary file, and adds evaluation keys."""
        return Inputs.from_bytes(take(path), params, evaluation_keys)


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

    @arguments("Run.to_bytes")
    def to_bytes(self) -> bytes:
        """Returns the ciphertexts as the content of a file, with names and batches, and the report's texts and data.

        The report's page with figures stays in the process that ran.
        """
        return _written([self, *self.more], lambda part: list(part.report._texts()))

    @staticmethod
    @arguments("Run.from_bytes", data=content, params=params_made)
    def from_bytes(data: bytes, params: Params) -> Run:
        """Reads a run of these parameters from what :meth:`to_bytes` returned.

        Raises :class:`FileError` if the content is damaged or of other parameters.
        """

        def part(batch: int | None, texts: list[str], found: Named) -> Run:
            if len(texts) != 3:
                raise FileError("the message has no report of a run; read inputs by rm.Inputs.from_bytes")
            return Run(found, Report(*texts), batch)

        return _read(data, params, part)

    @arguments("Run.save", path=target)
    def save(self, path: Path | BinaryIO) -> None:
        """Writes what :meth:`to_bytes` returns, to a path or an open binary file."""
        put(path, self.to_bytes())

    @staticmethod
    @arguments("Run.load", path=source, params=params_made)
    def load(path: Path | BinaryIO, params: Params) -> Run:
        """Reads what :meth:`save` wrote, from a path or an open binary file."""
        return Run.from_bytes(take(path), params)


_PARTS = "a list of encrypted inputs, as compiled.encrypt makes them"
_BATCH = optional(integer(1, 1 << 20, DataError))


def _more(kind: type) -> Callable[[str, Any], tuple[Any, ...]]:
    """Checks for further parts of a batch."""

    def check(name: str, value: Any) -> tuple[Any, ...]:
        if not isinstance(value, (tuple, list)) or not all(isinstance(item, kind) for item in value):
            raise DataError(f"{name} has the other rm.{kind.__name__} of a batch in a tuple, and is {shown(value)}")
        return tuple(value)

    return check


# The constructors of both are public, and their parameters are their fields.
for _class, _checks in (
    (Inputs, {"ciphertexts": ciphertexts, "evaluation_keys": KEYS, "batch": _BATCH, "more": _more(Inputs)}),
    (
        Run,
        {
            "ciphertexts": ciphertexts,
            "report": instance(Report, "the report of a run"),
            "batch": _BATCH,
            "more": _more(Run),
        },
    ),
):
    _class.__init__ = arguments(f"rm.{_class.__name__}", **_checks)(_class.__init__)  # type: ignore[misc]
