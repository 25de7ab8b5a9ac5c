# SPDX-License-Identifier: Apache-2.0
"""Refuses what Python and numpy do with numbers and circuits cannot do with encrypted ones, and advises what to write
instead.
"""

from __future__ import annotations

import ast
import dis
import linecache
import sys
from types import FrameType
from typing import Any, NoReturn

from ringmill.errors import MissingAttribute
from ringmill.trace import compile_error, refuse, refusing
from ringmill.ufuncs import OPERATORS, operate

_IF = "what is encrypted cannot steer Python's if, while, and, or, not; use rm.select(bit, a, b), & | and ~"
_EACH = "[x == y for x, y in zip(a, b)]"
_MEMBER = (
    "whether an encrypted integer is among others is encrypted too; write "
    "functools.reduce(operator.or_, [x == item for item in items])"
)
_SORT = (
    "what is encrypted has no known order; sort a list by exchanges: for every i and every j < i, "
    "x[j], x[i] = rm.minimum(x[j], x[i]), rm.maximum(x[j], x[i])"
)


def _extreme(python: str, ours: str) -> str:
    return (
        f"Python's {python} asks which is the larger, and that is encrypted; write rm.{ours}(a, b), and of a list "
        f"functools.reduce(rm.{ours}, values)"
    )


# The functions of Python that ask for a truth value, with their advice.
_CALLED = {
    "max": _extreme("max", "maximum"),
    "min": _extreme("min", "minimum"),
    "sorted": _SORT,
    "sort": _SORT,
    "all": "whether all bits are 1 is encrypted too; write functools.reduce(operator.and_, bits)",
    "any": "whether any bit is 1 is encrypted too; write functools.reduce(operator.or_, bits)",
    **dict.fromkeys(("index", "count", "remove"), _MEMBER),
}
_CALL = (
    "the function called here asks whether an encrypted bit is 1; of max and min write rm.maximum and rm.minimum, of "
    "all and any functools.reduce(operator.and_, bits) and operator.or_, of others rm.select(bit, a, b)"
)
_LISTS = (
    f"lists of encrypted integers are equal in an encrypted way; write functools.reduce(operator.and_, {_EACH}), and "
    "for an if on one comparison rm.select(bit, a, b)"
)


def untrue() -> NoReturn:
    """Refuses a truth value. The message advises on the construct that asked for it: an if, a function, a list."""
    frame = sys._getframe(2)
    operation = dis.opname[frame.f_code.co_code[frame.f_lasti]]
    if operation.startswith("CALL"):
        refuse(_CALLED.get(_function(frame), _CALL))
    if operation == "CONTAINS_OP":
        refuse(_MEMBER)
    refuse(_LISTS if operation == "COMPARE_OP" else _IF)


def _function(frame: FrameType) -> str:
    """Returns the name of the function that a frame calls, from its source, or an empty text without source."""
    for at, (line, last, column, end) in enumerate(frame.f_code.co_positions()):
        if 2 * at == frame.f_lasti and None not in (line, last, column, end):
            return _called(frame.f_code.co_filename, line or 0, last or 0, column or 0, end)
    return ""


def _called(file: str, line: int, last: int, column: int, end: int | None) -> str:
    """Returns the name of the function that the call at a place of a file calls. Columns count bytes."""
    lines = [linecache.getline(file, number).encode() for number in range(line, last + 1)]
    if not lines:
        return ""
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][column:]
    try:
        call = ast.parse(b"(" + b"".join(lines) + b")", mode="eval").body
    except (SyntaxError, ValueError):
        return ""
    match call:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name
        case _:
            return ""


_NUMBER = "what is encrypted is no number of Python's, as its value is known to the client alone"
_ABS = "write x itself, rounding is for fractions and circuits compute on whole numbers"
_MISSING = {
    "hash": (
        "an encrypted integer cannot be a key of a dict or a member of a set; rm.lookup(index, entries, type) reads a "
        "table"
    ),
    "len": (
        "an encrypted integer has no length; x.type is its type, and a parameter rm.Encrypted[rm.uint(8)[4]] is a list"
    ),
    "getitem": "an encrypted integer has no elements; bit i of x is (x >> i).to(rm.bit)",
    "setitem": "bits of an encrypted integer cannot be set; write x | 1 << i, or x & ~(1 << i)",
    "delitem": "an encrypted integer has no elements to delete",
    "iter": "an encrypted integer has no elements; bit i of x is (x >> i).to(rm.bit)",
    "contains": "an encrypted integer has no elements; bit i of x is (x >> i).to(rm.bit)",
    "index": (
        "what is encrypted is no index and no number of turns; rm.lookup(index, entries, type) reads a table, and a "
        "loop has a known number of turns with rm.select in it"
    ),
    **dict.fromkeys(("int", "float", "complex"), f"{_NUMBER}; convert it by x.to(type), or decrypt it"),
    **dict.fromkeys(("round", "floor", "ceil", "trunc"), f"{_NUMBER}, and whole already; {_ABS}"),
    "matmul": "there is no @ in circuits; write rm.add_all([x * y for x, y in zip(a, b)])",
    "rmatmul": "there is no @ in circuits; write rm.add_all([x * y for x, y in zip(a, b)])",
    "rpow": (
        "a number cannot be raised to an encrypted one; rm.lookup(x, [base**i for i in range(n)], type) reads its "
        "powers"
    ),
    "rlshift": "a constant cannot be shifted by an encrypted amount; make it encrypted: (x * 0 + constant) << x",
    "rrshift": "a constant cannot be shifted by an encrypted amount; make it encrypted: (x * 0 + constant) >> x",
}

_NUMPY = "it is for arrays of known numbers; write a list of encrypted integers and operators on its elements"
# The advice for each function of numpy.
_INSTEAD = {
    "where": "write rm.select(bit, a, b)",
    "clip": "write rm.minimum(rm.maximum(x, low), high)",
    **dict.fromkeys(("sum", "add.reduce"), "write rm.add_all(values)"),
    **dict.fromkeys(("dot", "vdot", "inner", "matmul"), "write rm.add_all([x * y for x, y in zip(a, b)])"),
    **dict.fromkeys(("max", "amax", "maximum.reduce"), "write functools.reduce(rm.maximum, values)"),
    **dict.fromkeys(("min", "amin", "minimum.reduce"), "write functools.reduce(rm.minimum, values)"),
    **dict.fromkeys(("sort", "argsort", "median"), _SORT),
    **dict.fromkeys(("divide", "true_divide"), "write x // y, of signed integers x.quotient(y)"),
    **dict.fromkeys(("logical_and", "logical_or", "logical_not", "logical_xor"), "write & | ~ and ^ of bits"),
    "take": "write rm.lookup(index, entries, type)",
}
# The functions of numpy that are operators of encrypted integers.
_UFUNCS = OPERATORS.keys() - {"matmul", "divide", "float_power", "square"}


class Refusing:
    """The operations that Python and numpy may ask of a number. Each is refused by name, unless an operator does it."""

    __slots__ = ()

    def __bool__(self) -> NoReturn:
        untrue()

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        known = sorted(name for name in dir(type(self)) if not name.startswith("_"))
        message = f"an encrypted integer has no attribute `{name}`; it has {', '.join(known)}, and operators"
        raise compile_error(message, kind=MissingAttribute)

    def __format__(self, spec: str) -> str:
        if spec:
            refuse("the value of an encrypted integer is not known, so it cannot be formatted")
        return repr(self)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, _memo: object) -> Any:
        return self

    def __reduce_ex__(self, _protocol: object) -> NoReturn:
        refuse("an encrypted integer of a circuit is part of it and cannot be pickled; save what a client encrypts")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        name = ufunc.__name__
        if method == "__call__" and not kwargs and all(getattr(x, "ndim", 0) == 0 for x in inputs):
            if name in _UFUNCS:
                return operate(name, inputs, Refusing)
            if name in ("maximum", "minimum"):
                refuse(f"numpy.{name} is for known numbers; write rm.{name}(a, b)")
        called = name if method == "__call__" else f"{name}.{method}"
        refuse(f"numpy.{called} does not work on encrypted integers: {_INSTEAD.get(called, _NUMPY)}")

    def __array_function__(self, function: Any, _types: Any, _args: Any, _kwargs: Any) -> NoReturn:
        name = function.__name__
        refuse(f"numpy.{name} does not work on encrypted integers: {_INSTEAD.get(name, _NUMPY)}")


for _name, _message in _MISSING.items():
    setattr(Refusing, f"__{_name}__", refusing(_message))
