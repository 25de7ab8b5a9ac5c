# SPDX-License-Identifier: Apache-2.0
"""Draws faults by a seed: all places in a random order, each with one of its changes."""

import random

from .fault import Fault
from .modules import crates, files
from .sites import sites
from .tree import ROOT


def draw(seed: int) -> list[Fault]:
    """Returns a fault for each place of all hand-written Rust files, in the order of the draw."""
    places = [
        place
        for crate in crates()
        for path in files(crate)
        for place in sites(crate, path.relative_to(ROOT).as_posix(), path.read_bytes())
    ]
    chance = random.Random(seed)
    chance.shuffle(places)
    return [chance.choice(place) for place in places]
