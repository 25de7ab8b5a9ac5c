# SPDX-License-Identifier: Apache-2.0
"""Which RTL models do the tests find? Those that tests of the checkout have built, in a cache that faults may spoil."""

import shutil

from . import tree


def lend() -> None:
    """Makes the cache anew as a copy of the checkout's, if there is one."""
    ours, lent = tree.ROOT / "target" / "hdl", tree.TARGET / "hdl"
    if ours.is_dir():
        shutil.rmtree(lent, ignore_errors=True)
        shutil.copytree(ours, lent, ignore=shutil.ignore_patterns("work-*"))
