# SPDX-License-Identifier: Apache-2.0
"""In which order does a seed draw faults? By places, all equally likely, each with one of its changes."""

import random

from .fault import Fault
from .modules import crates, files
from .sites import sites
from .tree import ROOT


def draw(seed: int) -> list[Fault]:
    """Returns one fault for each place of all hand-written files, in the order of the draw."""
    places = [
        place
        for crate in crates()
        for path in files(crate)
        for place in sites(crate, path.relative_to(ROOT).as_posix(), path.read_bytes())
    ]
    chance = random.Random(seed)
    chance.shuffle(places)
    return [chance.choice(place) for place in places]
