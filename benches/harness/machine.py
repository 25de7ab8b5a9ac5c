# SPDX-License-Identifier: Apache-2.0
"""Describes the computer on which the figures are measured."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path
from typing import Any

# The features of a processor that decide which kernels run.
FEATURES = ("avx2", "bmi2", "adx", "avx512f", "avx512dq", "avx512vl", "avx512ifma", "avx512_vbmi2")


def cpuinfo(key: str) -> str | None:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == key:
                return value.strip()
    except OSError:
        pass
    return None


def masked() -> str | None:
    """Returns `avx2` if `RINGMILL_PLANS` keeps our kernels to that level, else None. Of the peers tfhe-ntt alone is
    then built without wider kernels.
    """
    return "avx2" if "avx2" in os.environ.get("RINGMILL_PLANS", "").split(",") else None


def full_name(machine: dict[str, Any]) -> str:
    """Returns the name of a record's processor with its family, model and stepping, since virtual machines give many
    processors the same name. The name ends in `AVX2` if the processor has AVX2, and AVX-512 is missing or kept from the
    kernels, since they then run as on another processor.
    """
    parts = [machine["processor"], "-".join(filter(None, machine.get("family_model_stepping", [])))]
    features = machine.get("features", [])
    if "avx2" in features and "avx512f" not in features:
        parts.append("AVX2")
    return " ".join(parts).strip()


def slug(name: str) -> str:
    """Returns a processor's name as part of a file name: small letters and digits, with single dashes between the
    words.
    """
    return "-".join(re.findall(r"[a-z0-9]+", name.lower().replace("(r)", "").replace("(tm)", "")))


def load_average() -> list[float]:
    return [round(x, 2) for x in os.getloadavg()]


def cores(count: int) -> tuple[int, ...]:
    """Returns the last `count` cores that this process may use, since the first ones serve interrupts more often.

    Returns fewer cores if the process may use fewer, and none on a system without affinities.
    """
    if not hasattr(os, "sched_getaffinity"):
        return ()
    return tuple(sorted(os.sched_getaffinity(0))[-count:])


def describe() -> dict[str, Any]:
    flags = (cpuinfo("flags") or "").split()
    if masked():
        flags = [flag for flag in flags if not flag.startswith("avx512")]
    return {
        "processor": cpuinfo("model name") or platform.processor() or platform.machine(),
        "family_model_stepping": [cpuinfo("cpu family"), cpuinfo("model"), cpuinfo("stepping")],
        "features": [f for f in FEATURES if f in flags],
        "cores": os.cpu_count(),
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
    }
