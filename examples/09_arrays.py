# SPDX-License-Identifier: Apache-2.0
"""Two tasks in numpy's notation: distances of encrypted points to centres, and edges of an encrypted image.

Each program is written as for numpy. The compiler decides in which slots the values lie. The results are checked
against numpy.
"""

import sys
import warnings
from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

import ringmill as rm

# The first part of an annotation is for type checkers, and the second for Ringmill.
Points = Annotated[Any, rm.Encrypted[rm.real[100, 4]]]
Centres = Annotated[Any, rm.Encrypted[rm.real[5, 4]]]
Image = Annotated[Any, rm.Encrypted[rm.uint(8)[28, 28]]]
Kernel = Annotated[Any, rm.Plain[rm.integer[3, 3]]]


@rm.program
def distances(points: Points, centres: Centres) -> tuple[Any, Any]:
    """Returns the squared distance of each point to each centre, and the mean point."""
    return ((points[:, None] - centres) ** 2).sum(axis=-1), points.mean(axis=0)


@rm.program
def edges(image: Image, kernel: Kernel) -> tuple[Any, Any]:
    """Returns the image's edges, as large as the image, and the sum of each column."""
    return rm.conv2d(image, kernel, padding=1), image.sum(axis=0)


def run(
    program: rm.Program, encrypted: Mapping[str, Any], plain: Mapping[str, Any] | None = None, **options: Any
) -> Any:
    """Compiles a program, encrypts its inputs, runs it and decrypts its results."""
    compiled = program.compile(**options)
    client = compiled.keygen()
    for name, layout in compiled.layouts.items():
        print(f"  {name}: {layout}")
    return client.decrypt(compiled.run(client.encrypt(**encrypted), plain=plain or {}))


def main() -> int:
    warnings.simplefilter("error")
    dice = np.random.default_rng(1)
    points, centres = dice.uniform(-1, 1, (100, 4)), dice.uniform(-1, 1, (5, 4))
    print("distances")
    found, mean = run(distances, {"points": points, "centres": centres}, input_bound=1)
    expected = ((points[:, None] - centres) ** 2).sum(axis=-1)
    far = max(abs(found - expected).max(), abs(mean - points.mean(axis=0)).max())
    print(f"  {found.shape} distances, the largest error {far:.1e}")

    image, kernel = dice.integers(0, 256, (28, 28)), np.array([[0, 1, 0], [1, -4, 1], [0, 1, 0]])
    print("edges")
    filtered, columns = run(edges, {"image": image}, {"kernel": kernel}, ranges={"kernel": (-4, 1)})
    around = np.pad(image, 1)
    sides = around[:-2, 1:-1] + around[2:, 1:-1] + around[1:-1, :-2] + around[1:-1, 2:]
    exact = np.array_equal(filtered, sides - 4 * image) and np.array_equal(columns, image.sum(axis=0))
    print(f"  {filtered.shape} pixels, {'exact' if exact else 'wrong'}")
    return 0 if exact and far < 1e-4 else 1


if __name__ == "__main__":
    sys.exit(main())
