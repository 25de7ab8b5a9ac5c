# SPDX-License-Identifier: Apache-2.0
"""Writes files whole or not at all, as the Rust half of the package does."""

from __future__ import annotations

import fcntl
import os
import secrets
import stat
from contextlib import suppress
from typing import Any

from ringmill.errors import FileError

_STREAMS = ("/dev/stdout", "/dev/stderr")


def write(path: Any, data: bytes, secret: bool) -> None:
    """Writes a file. Readers see the old contents or the new, also if the process is killed.

    A link is followed, and a device or a pipe is written directly. Only the owner may read a file with a `secret`.
    Raises :class:`FileError`.
    """
    try:
        _write(os.fsdecode(path), data, secret)
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else error
        raise FileError(f"{os.fsdecode(path)}: {said}") from None


def _write(path: str, data: bytes, secret: bool) -> None:
    try:
        old = os.stat(path)
    except FileNotFoundError:
        if not path:
            raise
        old = None
    if old is not None and (path in _STREAMS or not (stat.S_ISREG(old.st_mode) or stat.S_ISDIR(old.st_mode))):
        with open(path, "wb") as stream:
            stream.write(data)
        return
    target = os.path.realpath(path)
    if old is not None:
        os.close(os.open(target, os.O_WRONLY))  # a folder, and a file that may not be written, are refused
    kept = None if secret else old
    while True:
        part = os.path.join(os.path.dirname(target), f".ringmill-{secrets.token_hex(8)}.part")
        number = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600 if secret or kept else 0o666)
        # A part without a lock is left over from a process that was killed, and the next write removes it.
        with suppress(OSError):  # a file system without locks never counts a file as left over
            fcntl.flock(number, fcntl.LOCK_EX)
        if os.fstat(number).st_nlink:
            break
        os.close(number)  # another writer took the file for left over before it was locked
    try:
        with open(number, "wb") as file:
            if kept is not None:
                with suppress(OSError):  # only root may change the owner
                    os.fchown(number, kept.st_uid, kept.st_gid)
                os.fchmod(number, stat.S_IMODE(kept.st_mode))
            elif secret:
                os.fchmod(number, 0o600)
            file.write(data)
            file.flush()
            os.fsync(number)
            os.replace(part, target)
    except BaseException:
        if os.path.lexists(part):
            os.unlink(part)
        raise
