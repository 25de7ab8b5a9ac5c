# SPDX-License-Identifier: Apache-2.0
"""A cache of built RTL models for the tests with faults: a copy of the checkout's, since a fault may spoil it."""

import shutil

from . import tree


def lend() -> None:
    """Makes the cache anew as a copy of the checkout's, if there is one."""
    ours, lent = tree.ROOT / "target" / "hdl", tree.TARGET / "hdl"
    if ours.is_dir():
        shutil.rmtree(lent, ignore_errors=True)
        shutil.copytree(ours, lent, ignore=shutil.ignore_patterns("work-*"))
