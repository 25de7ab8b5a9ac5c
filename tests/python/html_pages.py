# SPDX-License-Identifier: Apache-2.0
"""Checks HTML pages that Ringmill writes: they are well-formed, in one file, and load nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "br", "img", "hr", "input", "link", "source", "wbr", "col"}
LOADS = {"src", "srcset", "href", "data", "poster", "action", "background", "xlink:href"}


@dataclass
class Page(HTMLParser):
    """The parts of an HTML page that tests ask about, as a parser found them."""

    headings: list[str] = field(default_factory=list)
    tags: dict[str, int] = field(default_factory=dict)
    loads: list[str] = field(default_factory=list)
    scripts: list[tuple[dict[str, str | None], str]] = field(default_factory=list)
    styles: str = ""
    text: str = ""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[tuple[str, dict[str, str | None]]] = []

    @classmethod
    def of(cls, html: str) -> Page:
        page = cls()
        page.feed(html)
        page.close()
        assert not page._open, f"not closed: {page._open}"
        return page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        assert len(found) == len(attrs), f"<{tag}> says an attribute twice: {attrs}"
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.loads += [value or "" for name, value in attrs if name in LOADS and not (value or "").startswith("#")]
        assert not any(name.startswith("on") for name in found), f"<{tag}> has a script: {attrs}"
        if tag not in VOID:
            self._open.append((tag, found))

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> closes nothing"
        opened, _ = self._open.pop()
        assert opened == tag, f"<{opened}> is closed by </{tag}>"

    def handle_data(self, data: str) -> None:
        tag, attrs = self._open[-1] if self._open else ("", {})
        match tag:
            case "script":
                self.scripts.append((attrs, data))
            case "style":
                self.styles += data
            case "h1" | "h2":
                self.headings.append(data)
            case _:
                self.text += data


def whole(html: str) -> Page:
    """Returns a page that must stand alone: well-formed, with nothing loaded from elsewhere."""
    page = Page.of(html)
    assert html.startswith("<!DOCTYPE html>")
    assert page.tags["html"] == page.tags["main"] == page.tags["h1"] == 1
    assert page.loads == []
    assert "@import" not in page.styles
    assert "url(" not in page.styles
    return page


def part(html: str) -> Page:
    """Returns a part of a page, as notebooks show it. It must be small, without scripts, and load nothing."""
    page = Page.of(html)
    assert page.loads == []
    assert page.scripts == []
    assert "html" not in page.tags
    assert len(html) < 200_000
    return page
