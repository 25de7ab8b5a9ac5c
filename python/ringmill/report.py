# SPDX-License-Identifier: Apache-2.0
"""Run reports."""

from __future__ import annotations

import json
import linecache
import os
import sys
from pathlib import Path
from typing import Any

from ringmill._ringmill import RunPage
from ringmill.check import arguments, path, shown, text
from ringmill.errors import DataError


def _json(name: str, value: Any) -> str:
    try:
        if isinstance(json.loads(value), dict):
            return value
    except Exception:
        pass
    raise DataError(f"{name} must be a JSON object, and is {shown(value)}")


def _at_hand(file: str) -> bool:
    """Whether a file is a cell of a notebook or a module that this process has.

    A program that came as text may name any file; lines of others are not shown.
    """
    modules = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    return file in linecache.cache or any(name and os.path.abspath(name) == file for name in modules)


class Report:
    """What a run took and why: ``print`` it, or its :attr:`detail`, or read its fields as data.

    A notebook shows it as tables, and :meth:`save_html` writes a page with figures.
    """

    _page: RunPage | None = None

    @arguments("rm.Report", text=text(DataError), detail=text(DataError), data=_json)
    def __init__(self, text: str, detail: str, data: str) -> None:
        self._text = text
        self._detail = detail
        self._data = data

    @classmethod
    def _of_run(cls, text: str, detail: str, data: str, page: RunPage) -> Report:
        report = cls(text, detail, data)
        report._page = page
        return report

    def _measured(self, bits: dict[str, float]) -> None:
        """Fills in the measured bits of outputs, by their names; a report without figures stays as it is."""
        if self._page is not None:
            (self._text, self._detail, self._data), self._page = self._page.measured(bits)

    def __reduce__(self) -> tuple[Any, ...]:
        # What pages are made of stays with the process that ran.
        return Report, (self._text, self._detail, self._data)

    @property
    def detail(self) -> str:
        """The report with every figure: parameters, instructions, units, memory, link, all outputs' precision."""
        return self._detail

    @property
    def data(self) -> dict[str, Any]:
        """The report as plain data, the same that ``ringmill run --json`` prints."""
        return json.loads(self._data)

    @property
    def by_line(self) -> list[dict[str, Any]]:
        """What each line of the program took, the most first, as plain records.

        A record is of the calls of one procedure at one line: `file` and `line`, `operation`, `level`, `procedure`,
        `calls`, `seconds`, `share` (0 to 1) and, of a machine, `cycles`. Nothing is counted twice: the records of a
        machine add up to its cycles, those of the CPU to the time of the run, in which threads that work at once share
        the time. The record whose `operation` is None is what no call took.
        """
        return self.data.get("by_line", [])

    @property
    def profile(self) -> str:
        """The lines of the program that took most, with their text, as ``ringmill run --profile`` prints them."""
        return self._figures("profile").profile(self._lines())

    @arguments("Report.save_html", path=path)
    def save_html(self, path: str | Path) -> None:
        """Writes the report as one page that opens in any browser and loads nothing.

        It has units and memory over time where the run was asked for them: ``compiled.run(inputs, timeline=True)``.

        Raises :class:`DataError` for a report that no run of this process gave, and :class:`FileError` where the file
        cannot be written; it is whole, or as it was.
        """
        self._figures("save_html").save(path, self._lines())

    def _figures(self, wanted: str) -> RunPage:
        if self._page is None:
            raise DataError(
                f"{wanted}: this report was copied or made from text and has no figures; call it on the report of a "
                "run, in the process that ran it"
            )
        return self._page

    def _lines(self) -> list[tuple[str, int, str]]:
        """File, line and text of the lines that records are about, where the file is at hand."""
        places = {(record["file"], record["line"]) for record in self.by_line if record.get("file")}
        files = {file for file, _ in places if _at_hand(file)}
        return [(file, line, linecache.getline(file, line)) for file, line in sorted(places) if file in files]

    def _repr_html_(self) -> str | None:
        return None if self._page is None else self._page.fragment(self._lines())

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__
