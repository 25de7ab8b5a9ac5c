# SPDX-License-Identifier: Apache-2.0
"""Maps numpy's elementwise functions to Python's operators: ``np.add(x, y)`` of an encrypted operand is ``x + y``."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

# For each function's name its operator, and the method with exchanged operands.
OPERATORS: dict[str, tuple[Callable[..., Any], str]] = {
    "add": (operator.add, "__radd__"),
    "subtract": (operator.sub, "__rsub__"),
    "multiply": (operator.mul, "__rmul__"),
    "matmul": (operator.matmul, "__rmatmul__"),
    "divide": (operator.truediv, "__rtruediv__"),
    "floor_divide": (operator.floordiv, "__rfloordiv__"),
    "remainder": (operator.mod, "__rmod__"),
    "divmod": (divmod, "__rdivmod__"),
    "power": (operator.pow, "__rpow__"),
    "float_power": (operator.pow, "__rpow__"),
    "square": (lambda x: x * x, ""),
    "left_shift": (operator.lshift, "__rlshift__"),
    "right_shift": (operator.rshift, "__rrshift__"),
    "bitwise_and": (operator.and_, "__rand__"),
    "bitwise_or": (operator.or_, "__ror__"),
    "bitwise_xor": (operator.xor, "__rxor__"),
    "less": (operator.lt, "__gt__"),
    "less_equal": (operator.le, "__ge__"),
    "greater": (operator.gt, "__lt__"),
    "greater_equal": (operator.ge, "__le__"),
    "equal": (operator.eq, "__eq__"),
    "not_equal": (operator.ne, "__ne__"),
    "negative": (operator.neg, ""),
    "positive": (operator.pos, ""),
    "absolute": (operator.abs, ""),
    "invert": (operator.invert, ""),
}


def operate(name: str, operands: Sequence[Any], kind: type) -> Any:
    """Applies the operator of a function in `OPERATORS`, by the first operand of this kind."""
    forward, exchanged = OPERATORS[name]
    if isinstance(operands[0], kind):
        return forward(*operands)
    return getattr(operands[1], exchanged)(operands[0])
