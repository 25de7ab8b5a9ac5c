"""Run reports."""

from __future__ import annotations

import json
from typing import Any

from ringmill.check import arguments, shown, text
from ringmill.errors import DataError


def _json(name: str, value: Any) -> str:
    try:
        if isinstance(json.loads(value), dict):
            return value
    except Exception:
        pass
    raise DataError(f"{name} must be a JSON object, and is {shown(value)}")


class Report:
    """What a run took and why: ``print`` it, or its :attr:`detail`, or read its fields as data."""

    @arguments("rm.Report", text=text(DataError), detail=text(DataError), data=_json)
    def __init__(self, text: str, detail: str, data: str) -> None:
        self._text = text
        self._detail = detail
        self._data = data

    @property
    def detail(self) -> str:
        """The report with every figure: parameters, instructions, units, memory, link, all outputs' precision."""
        return self._detail

    @property
    def data(self) -> dict[str, Any]:
        """The report as plain data, the same that ``ringmill run --json`` prints."""
        return json.loads(self._data)

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__
