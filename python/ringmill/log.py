# SPDX-License-Identifier: Apache-2.0
"""Logs the steps of long work to the logger ``ringmill`` of the standard library, which shows nothing by default.

INFO has what the owner of a run wants to know: the parameters, the keys that were made, the runs with their devices,
checkpoints. DEBUG has the steps with their times, and the kernels that were found fastest. No message holds a key, an
input or an output.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ringmill._ringmill import plans_made

LOGGER = logging.getLogger("ringmill")
LOGGER.addHandler(logging.NullHandler())

# The lines on kernels that were logged before.
_SAID: set[str] = set()


@contextmanager
def timed(level: int, done: str, *of: object) -> Iterator[None]:
    """Logs `done`, a message about `of`, and the seconds that the work took. Failed work is not logged."""
    begin = time.perf_counter()
    yield
    LOGGER.log(level, f"{done} in %.3f s", *of, time.perf_counter() - begin)


def say_plans() -> None:
    """Logs the kernels that were chosen in this process since the last call, with their times."""
    if not LOGGER.isEnabledFor(logging.DEBUG):
        return
    for line in plans_made():
        if line not in _SAID:
            _SAID.add(line)
            LOGGER.debug("plan: %s", line)
