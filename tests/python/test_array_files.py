# SPDX-License-Identifier: Apache-2.0
"""Saved programs of arrays: a file is written whole or not at all, and read as one."""

from __future__ import annotations

import os
import resource
import threading

import pytest

import ringmill as rm
from ringmill import loading

SMALL = {"log_n": 10, "bits": [60, *[50] * 4, 60], "allow_insecure_parameters_for_tests_only": True}


@rm.program
def summed(x: rm.Encrypted[rm.real[2, 3]]):
    return x.sum(axis=0), x


@rm.program
def doubled(x: rm.Encrypted[rm.real[3]]):
    return x * 2


def test_a_save_is_whole_or_not_at_all(tmp_path):
    compiled = doubled.compile(rm.params(**SMALL), input_bound=1)
    path = tmp_path / "doubled.rmac"
    path.write_text("old")
    path.chmod(0o640)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))  # the disk is full in the middle of the write
    try:
        with pytest.raises(rm.FileError, match=r"doubled\.rmac"):
            compiled.save(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert path.read_text() == "old"
    link = tmp_path / "link.rmac"
    link.symlink_to(path.name)
    compiled.save(link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert path.read_text().count(";ringmill arrays") == 1
    assert sorted(file.name for file in tmp_path.iterdir()) == ["doubled.rmac", "link.rmac"]
    sampled = doubled.compile(rm.params(**SMALL), sample={"x": [0.5, 0.25, 0.125]})
    sampled.save(os.fsencode(path), with_sample=True)
    assert path.stat().st_mode & 0o777 == 0o600
    assert rm.load(path, allow_insecure_parameters_for_tests_only=True).ranges == {"x": (0.0, 1.0)}
    with pytest.raises(rm.DataError, match="sample"):
        compiled.save(path, with_sample=True)


def test_a_save_into_a_pipe_writes_it(tmp_path):
    compiled = doubled.compile(rm.params(**SMALL), input_bound=1)
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: (tmp_path / "copy.rmac").write_bytes(path.read_bytes()))
    reader.start()
    compiled.save(path)
    reader.join()
    assert rm.load(tmp_path / "copy.rmac", allow_insecure_parameters_for_tests_only=True).layouts == compiled.layouts


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("missing/f.rmac", "the folder missing does not exist"),
        ("", "the path is empty"),
        (".", "this names a folder"),
        ("a\0b", "NUL byte"),
    ],
)
def test_a_file_that_cannot_be_written_is_named(tmp_path, monkeypatch, path, said):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(rm.FileError, match=said):
        doubled.compile(rm.params(**SMALL), input_bound=1).save(path)


def test_a_file_that_is_replaced_while_it_is_read_is_read_as_one(tmp_path, monkeypatch):
    path, other = tmp_path / "f.rmac", tmp_path / "other.rmac"
    compiled = doubled.compile(rm.params(**SMALL), input_bound=1)
    compiled.save(path)
    summed.compile(rm.params(**SMALL), input_bound=1).save(other)
    mark = ";ringmill arrays"
    mixed = path.read_text().partition(mark)[0] + mark + other.read_text().partition(mark)[2]
    (tmp_path / "mixed.rmac").write_text(mixed)
    with pytest.raises(rm.FileError, match="of another program"):
        rm.load(tmp_path / "mixed.rmac", allow_insecure_parameters_for_tests_only=True)
    read, times = loading.read, []

    def meanwhile(line, of):
        times.append(of)
        other.replace(path)
        return read(line, of)

    monkeypatch.setattr(loading, "read", meanwhile)
    loaded = rm.load(path, allow_insecure_parameters_for_tests_only=True)
    assert len(times) == 1
    assert loaded.layouts == compiled.layouts
