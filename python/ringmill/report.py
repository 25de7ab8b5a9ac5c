# SPDX-License-Identifier: Apache-2.0
"""The report of a run, which prints as text, reads as data, and saves as a page."""

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
    """Returns whether a file is a cell of a notebook, or a module that this process has loaded.

    A program that came as text may name any file. Lines of other files are not shown.
    """
    modules = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    return file in linecache.cache or any(name and os.path.abspath(name) == file for name in modules)


class Report:
    """The cost of a run and its reasons. ``print`` it, or its :attr:`detail`, or read its fields as data.

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
        """Fills in the measured bits of outputs, by their names. A report without figures stays as it is."""
        if self._page is not None:
            (self._text, self._detail, self._data), self._page = self._page.measured(bits)

    def _texts(self) -> tuple[str, str, str]:
        """Returns what a copy of the report has. The data of pages stays in the process that ran."""
        return self._text, self._detail, self._data

    def __reduce__(self) -> tuple[Any, ...]:
        return Report, self._texts()

    @property
    def detail(self) -> str:
        """The report with every figure: parameters, instructions, units, memory, link, the precision of all outputs."""
        return self._detail

    @property
    def data(self) -> dict[str, Any]:
        """The report as plain data, the same that ``ringmill run --json`` prints."""
        return json.loads(self._data)

    @property
    def by_line(self) -> list[dict[str, Any]]:
        """The cost of each line of the program, the most expensive first, as plain records.

        A record is for the calls of one procedure at one line: `file` and `line`, `operation`, `level`, `procedure`,
        `calls`, `seconds`, `share` (0 to 1) and, for a machine, `cycles`. Nothing is counted twice. The records of a
        machine add up to its cycles, those of the CPU to the time of the run; threads that work at once share that
        time. The record whose `operation` is None is the rest, outside of calls.
        """
        return self.data.get("by_line", [])

    @property
    def profile(self) -> str:
        """The most expensive lines of the program, with their text, as ``ringmill run --profile`` prints them."""
        return self._figures("profile").profile(self._lines())

    @arguments("Report.save_html", path=path)
    def save_html(self, path: str | Path) -> None:
        """Writes the report as one page that opens in any browser and loads nothing.

        It shows units and memory over time if the run recorded them: ``compiled.run(inputs, timeline=True)``.

        Raises :class:`DataError` for a report that is not from a run of this process, and :class:`FileError` if the
        file cannot be written. The file is written whole, or stays as it was.
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
        """Returns file, line and text of the lines that records are about, for files at hand."""
        places = {(record["file"], record["line"]) for record in self.by_line if record.get("file")}
        files = {file for file, _ in places if _at_hand(file)}
        return [(file, line, linecache.getline(file, line)) for file, line in sorted(places) if file in files]

    def _repr_html_(self) -> str | None:
        return None if self._page is None else self._page.fragment(self._lines())

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__
