# SPDX-License-Identifier: Apache-2.0
"""Checks the picture of the towers. Its text fits its boxes, it names every crate, and light and dark differ in colour
alone.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as Tree
from dataclasses import dataclass

import pages
import pytest

NAMES = ("towers.svg", "towers-dark.svg")
SOURCES = {name: (pages.ROOT / "docs" / name).read_text() for name in NAMES}
SVG = "{http://www.w3.org/2000/svg}"
# The most width of a character on average, as a share of its size, in the sans serif fonts that browsers fall back to.
PLAIN, BOLD = 0.62, 0.68
MARGIN = 4.0


@dataclass(frozen=True)
class Box:
    """A rectangle of the picture, in the picture's units, and its class."""

    left: float
    top: float
    right: float
    bottom: float
    kind: str

    def holds(self, other: Box, margin: float = 0.0) -> bool:
        return (
            self.left + margin <= other.left
            and other.right <= self.right - margin
            and self.top <= other.top
            and other.bottom <= self.bottom
        )

    def meets(self, other: Box) -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


def style(source: str, kind: str, field: str) -> str | None:
    """Returns what the style says of a field of a class, or None."""
    rule = re.search(rf"\.{kind} \{{([^}}]*)\}}", source)
    found = re.search(rf"\b{field}: ([^;}}]+)", rule[1]) if rule else None
    return found[1].strip() if found else None


def shapes(source: str) -> tuple[list[Box], list[tuple[str, Box]]]:
    """Returns the boxes of a picture, and its texts with the room that they take."""
    root = Tree.fromstring(source)
    boxes = []
    for rect in root.iter(f"{SVG}rect"):
        x, y, w, h = (float(rect.attrib[key]) for key in ("x", "y", "width", "height"))
        boxes.append(Box(x, y, x + w, y + h, rect.attrib["class"]))
    texts = []
    for text in root.iter(f"{SVG}text"):
        kind, words = text.attrib["class"], text.text or ""
        size = float((style(source, kind, "font-size") or "").removesuffix("px"))
        width = len(words) * size * (BOLD if style(source, kind, "font-weight") == "bold" else PLAIN)
        x, y = float(text.attrib["x"]), float(text.attrib["y"])
        left = x if style(source, kind, "text-anchor") == "start" else x - width / 2
        texts.append((words, Box(left, y - size, left + width, y + size / 4, kind)))
    return boxes, texts


def floors(boxes: list[Box]) -> list[Box]:
    return [box for box in boxes if box.kind != "paper"]


@pytest.mark.parametrize("name", NAMES)
def test_text_fits_its_boxes(name):
    boxes, texts = shapes(SOURCES[name])
    (paper,) = (box for box in boxes if box.kind == "paper")
    assert len(texts) > len(floors(boxes)) > 8
    for words, place in texts:
        around = [box for box in floors(boxes) if box.meets(place)] or [paper]
        assert len(around) == 1, f"`{words}` lies on {len(around)} boxes"
        assert around[0].holds(place, MARGIN), f"`{words}` takes {place}, its box is {around[0]}"
    for n, (words, place) in enumerate(texts):
        assert not [other for other, room in texts[:n] if room.meets(place)], f"`{words}` lies on another text"


@pytest.mark.parametrize("name", NAMES)
def test_boxes_lie_apart_on_the_paper(name):
    boxes, _ = shapes(SOURCES[name])
    view = [float(n) for n in Tree.fromstring(SOURCES[name]).attrib["viewBox"].split()]
    assert boxes[0] == Box(0.0, 0.0, view[2], view[3], "paper")
    for n, box in enumerate(floors(boxes)):
        assert boxes[0].holds(box, MARGIN)
        assert not any(box.meets(other) for other in floors(boxes)[:n])


def test_text_that_is_too_long_is_found():
    """The rule can fail: a text that is four letters longer does not fit its box."""
    boxes, texts = shapes(SOURCES[NAMES[0]])
    words = "schedules, cycle models"
    longer = words + "x" * 4
    assert words in dict(texts)
    (place,) = (room for said, room in shapes(SOURCES[NAMES[0]].replace(words, longer))[1] if said == longer)
    (box,) = (box for box in floors(boxes) if box.meets(dict(texts)[words]))
    assert not box.holds(place, MARGIN)


def luminance(colour: str) -> float:
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("name", NAMES)
def test_text_can_be_read_on_its_colour(name):
    """Every text has a contrast of 4.5 to 1, as WCAG asks."""
    source = SOURCES[name]
    soft = re.search(r"text \{[^}]*fill: (#\w{6})", source)
    assert soft is not None
    for ground in ("paper", "roof", "left", "right", "floor", "ground"):
        below = style(source, ground, "fill")
        for ink in (soft[1], style(source, "name", "fill")):
            lighter, darker = sorted((luminance(ink), luminance(below)), reverse=True)
            assert (lighter + 0.05) / (darker + 0.05) >= 4.5, f"{ink} on {ground}"


def test_dark_and_light_are_one_picture():
    light, dark = (re.sub(r"<style>.*?</style>", "", SOURCES[name], flags=re.S) for name in NAMES)
    assert light == dark
    assert luminance(style(SOURCES[NAMES[0]], "paper", "fill")) > 0.9
    assert luminance(style(SOURCES[NAMES[1]], "paper", "fill")) < 0.1
    readme = (pages.ROOT / "README.md").read_text()
    dark = r'<source media="\(prefers-color-scheme: dark\)" srcset="docs/towers-dark.svg">'
    assert re.search(rf'{dark}\s*<img [^>]*src="docs/towers.svg"', readme)


def test_every_crate_is_in_the_picture():
    page = (pages.ROOT / "docs/crates.md").read_text()
    crates = set(re.findall(r"^\| `(\w+)` \|", page, re.M))
    _, texts = shapes(SOURCES[NAMES[0]])
    named = {name for words, place in texts if place.kind == "name" for name in words.split(", ")}
    assert named == crates
