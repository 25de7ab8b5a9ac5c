# SPDX-License-Identifier: Apache-2.0
"""Checks the arguments of public functions. A call that does not fit is refused with the parameter's name, the expected
value and the value found.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import numbers
import operator
import os
import reprlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import numpy as np

from ringmill.errors import ArgumentError, FileError, RingmillError
from ringmill.frames import public

# Returns a value in the form that the function takes, or raises.
Check = Callable[[str, Any], Any]
# Makes the exception of a message: an exception's class, or a function that adds the line of a program.
Refusal = Callable[[str], RingmillError]
F = TypeVar("F", bound=Callable[..., Any])
Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]


_SHORT = reprlib.Repr()
_SHORT.maxother = _SHORT.maxstring = _SHORT.maxlong = 80


def shown(value: object) -> str:
    """Returns a value as text for a message, shortened. A value without a text is shown by its type."""
    try:
        return _SHORT.repr(value)
    except Exception:
        return f"of type {type(value).__name__}"


def closest(name: object, known: Iterable[str]) -> str:
    """Returns the end of a message about an unknown name: the most similar known name, or all known names."""
    known = [str(k) for k in known]
    near = difflib.get_close_matches(str(name), known, n=1)
    if near:
        return f"did you mean `{near[0]}`?"
    return f"known: {', '.join(known)}" if known else "there are none"


def arguments(named: str | None = None, refusal: Refusal = ArgumentError, /, **checks: Check) -> Callable[[F], F]:
    """Decorates a public function. It refuses calls that do not fit the signature, and passes each argument through its
    check.
    """

    def decorate(function: F) -> F:
        signature = inspect.signature(function)
        label = named or function.__name__
        plain = [p for p in signature.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        order = [checks.get(p.name) for p in plain]
        least = sum(p.default is p.empty for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD)

        @public
        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            if not kwargs and least <= len(args) <= len(plain):  # the usual call, without the cost of `bind`
                pairs = zip(order, plain, args, strict=False)
                return function(*[check(p.name, value) if check else value for check, p, value in pairs])
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError as error:
                raise refusal(_misfit(label, signature, kwargs, str(error))) from None
            for name, check in checks.items():
                if name in bound.arguments:
                    bound.arguments[name] = check(name, bound.arguments[name])
            return function(*bound.args, **bound.kwargs)

        return checked  # type: ignore[return-value]

    return decorate


def _ring_degree(degree: Any) -> str:
    whole = isinstance(degree, int) and degree > 0 and degree & (degree - 1) == 0
    return f"the ring degree is 2^log_n; write log_n={degree.bit_length() - 1 if whole else 'its logarithm'}"


def _prime_sizes(sizes: Any) -> str:
    listed = isinstance(sizes, (list, tuple)) and all(isinstance(size, int) and size < 64 for size in sizes)
    return f"write bits={list(sizes) if listed else '[60, 40, 60]'}, the sizes of the primes in bits, special ones last"


# The names of arguments in other libraries: the name of the argument here, and how to write a value of theirs.
_FOREIGN: dict[str, tuple[str, Callable[[Any], str]]] = {
    **dict.fromkeys(["poly_modulus_degree", "ring_dimension", "ring_dim", "degree", "n", "N"], ("log_n", _ring_degree)),
    **dict.fromkeys(["coeff_modulus", "coeff_mod_bit_sizes", "bit_sizes"], ("bits", _prime_sizes)),
    "plaintext_modulus": ("plain_modulus", lambda value: f"write plain_modulus={shown(value)}"),
    "security_level": ("security", lambda value: "write security=128, 192 or 256"),
}


def _misfit(label: str, signature: inspect.Signature, kwargs: Mapping[str, Any], reason: str) -> str:
    parameters = [p for p in signature.parameters.values() if p.name not in ("self", "cls")]
    known = [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)
    for name in kwargs:
        if name not in known and not takes_any:
            theirs = _FOREIGN.get(name)
            cure = theirs[1](kwargs[name]) if theirs and theirs[0] in known else closest(name, known)
            return f"{label} has no argument `{name}`; {cure}"
    shape = inspect.Signature([p.replace(annotation=p.empty) for p in parameters])
    return f"{label}: {reason}; call it as {label}{shape}"


def guarded(made_by: str, refusal: Refusal = ArgumentError, /, **checks: Check) -> Callable[[type], type]:
    """Decorates an extension class: its public methods get :func:`arguments`, with checks by the names of parameters.

    If the extension itself cannot convert an argument, the call is refused too. `made_by` says how objects are made
    that have no public constructor; it is empty for classes with one.
    """

    def decorate(cls: type) -> type:
        for name, attribute in list(vars(cls).items()):
            method = attribute.__func__ if isinstance(attribute, staticmethod) else attribute
            if name.startswith("_") or not callable(method):
                continue
            used = {p: check for p, check in checks.items() if p in inspect.signature(method).parameters}
            safe = arguments(f"{cls.__name__}.{name}", **used)(_converted(method, refusal))
            setattr(cls, name, staticmethod(safe) if isinstance(attribute, staticmethod) else safe)
        if made_by:
            cls.__new__ = staticmethod(by_hand(f"{cls.__name__} has no constructor; {made_by}"))  # type: ignore
        return cls

    return decorate


def _converted(method: Callable[..., Any], refusal: Refusal) -> Callable[..., Any]:
    @functools.wraps(method)
    def convert(*args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        except (TypeError, ValueError, OverflowError) as error:
            raise refusal(f"{method.__name__}: {error}") from None

    convert.__signature__ = inspect.signature(method)  # type: ignore[attr-defined]
    return convert


def by_hand(message: str) -> Callable[..., Any]:
    """Makes a constructor that refuses."""

    def refused(*_args: Any, **_kwargs: Any) -> Any:
        raise ArgumentError(message)

    return refused


def integer(
    least: int | None = None, most: int | None = None, refusal: Refusal = ArgumentError, power_of_two: bool = False
) -> Check:
    """Checks a whole number of Python or numpy. A bool and a float are refused."""
    if power_of_two:
        wanted = f"a power of two, at most {most}"
    elif least is not None and most is not None:
        wanted = f"a whole number from {least} to {most}"
    elif least is not None:
        wanted = f"a whole number of at least {least}"
    else:
        wanted = "a whole number"

    def check(name: str, value: Any) -> int:
        try:
            number = None if isinstance(value, (bool, np.bool_)) else operator.index(value)
        except RingmillError:
            raise
        except Exception:
            number = None
        small = number is not None and least is not None and number < least
        large = number is not None and most is not None and number > most
        if number is None or small or large or (power_of_two and number & (number - 1)):
            raise refusal(f"{name} must be {wanted}, and is {shown(value)}")
        return number

    return check


def number(refusal: Refusal = ArgumentError) -> Check:
    """Checks a real number that a float can hold. NaN and infinity pass."""

    def check(name: str, value: Any) -> float:
        scalar = value[()] if isinstance(value, np.ndarray) and value.shape == () else value
        try:
            if isinstance(scalar, numbers.Number) and not isinstance(scalar, (bool, np.complexfloating)):
                return float(scalar)  # type: ignore[arg-type]
        except Exception:
            pass
        raise refusal(f"{name} must be a real number that a float can hold, and is {shown(value)}")

    return check


def whole_or_real(refusal: Refusal = ArgumentError) -> Check:
    """Checks a real number that a float can hold. A whole number of Python or numpy stays exact."""

    def check(name: str, value: Any) -> int | float:
        real = number(refusal)(name, value)
        try:
            return real if isinstance(value, (bool, np.bool_)) else operator.index(value)
        except Exception:
            return real

    return check


def text(refusal: Refusal = ArgumentError) -> Check:
    """Checks a str that UTF-8 can hold."""

    def check(name: str, value: Any) -> str:
        try:
            if isinstance(value, str):
                value.encode()
                return str(value)
        except UnicodeEncodeError:
            pass
        raise refusal(f"{name} must be a str, and is {shown(value)}")

    return check


def flag(refusal: Refusal = ArgumentError) -> Check:
    """Checks for True or False."""

    def check(name: str, value: Any) -> bool:
        if not isinstance(value, (bool, np.bool_)):
            raise refusal(f"{name} must be True or False, and is {shown(value)}")
        return bool(value)

    return check


def instance(kind: type, made_by: str, refusal: Refusal = ArgumentError) -> Check:
    """Checks for an object of a class. `made_by` says where such objects come from."""

    def check(name: str, value: Any) -> Any:
        if not isinstance(value, kind):
            raise refusal(f"{name} must be {made_by}, and is {shown(value)}")
        return value

    return check


def optional(inner: Check) -> Check:
    """Checks for None, or for a value that another check takes."""
    return lambda name, value: None if value is None else inner(name, value)


def items(inner: Check, wanted: str, refusal: Refusal) -> Check:
    """Checks a list or another iterable whose items pass a check. Text is refused."""

    def check(name: str, value: Any) -> list[Any]:
        try:
            found = None if isinstance(value, (str, bytes)) else list(value)
        except Exception:
            found = None
        if found is None:
            raise refusal(f"{name} must be {wanted}, and is {shown(value)}")
        return [inner(f"{name}[{place}]", item) for place, item in enumerate(found)]

    return check


def path(name: str, value: Any) -> str:
    """Checks a path: str, bytes or os.PathLike."""
    try:
        found = os.fsdecode(value)
        os.fsencode(found)
    except Exception:
        raise FileError(f"{name} must be a path (str, bytes or os.PathLike), and is {shown(value)}") from None
    return found


def content(name: str, value: Any) -> bytes:
    """Checks the contents of a file: bytes, or an object that shows its memory as bytes."""
    try:
        # `bytes` of an int would be as many zero bytes, so the value must have a memory view.
        return value if type(value) is bytes else bytes(memoryview(value))
    except Exception:
        wanted = "the bytes of a file (bytes, bytearray or memoryview)"
        raise FileError(f"{name} must be {wanted}, and is {shown(value)}") from None


def names(kind: str, refusal: Refusal) -> Check:
    """Checks a mapping whose keys are names."""

    def check(name: str, value: Any) -> dict[str, Any]:
        try:
            if isinstance(value, Mapping):
                return {text()("a name", key): item for key, item in value.items()}
        except Exception:
            pass
        raise refusal(f"{name} must be a dict from names to {kind}, and is {shown(value)}")

    return check
