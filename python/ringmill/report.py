"""Run reports."""

from __future__ import annotations

import json
from typing import Any


class Report:
    """What a run took and why: ``print`` it, or read its fields as data."""

    def __init__(self, text: str, data: str) -> None:
        self._text = text
        self._data = data

    @property
    def data(self) -> dict[str, Any]:
        """The report as plain data, the same that ``ringmill run --json`` prints."""
        return json.loads(self._data)

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__
