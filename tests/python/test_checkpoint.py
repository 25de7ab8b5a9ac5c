# SPDX-License-Identifier: Apache-2.0
"""Tests runs that are saved to a checkpoint and resumed from Python."""

from __future__ import annotations

import numpy as np
import pytest

import ringmill as rm

SLOTS = 512


@rm.program
def turning(x: rm.Encrypted):
    for step in range(1, 6):
        x = rm.rotate(x, step) + x * 0.5
    return x


@pytest.fixture(scope="module")
def compiled():
    params = rm.params(log_n=12, bits=[50, 40, 40, 40, 40, 40, 50], allow_insecure_parameters_for_tests_only=True)
    return turning.compile(params, slots=SLOTS, input_bound=0.1)


def test_a_run_goes_on_from_its_checkpoint(compiled, tmp_path):
    client = compiled.keygen()
    x = np.linspace(-0.1, 0.1, SLOTS)
    inputs = client.encrypt(x=x)
    path = tmp_path / "run.checkpoint"
    whole = compiled.run(inputs, checkpoint=path, every=0)
    # The checkpoint has the plain inputs, so only its owner may read it, even if it replaces a readable file.
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o644)
    compiled.run(inputs, checkpoint=path, every=0)
    assert path.stat().st_mode & 0o777 == 0o600
    resumed = compiled.run(inputs, resume=path)
    assert np.array_equal(client.decrypt(whole), client.decrypt(resumed))

    with pytest.raises(rm.DeviceError, match="other keys or inputs"):
        compiled.run(client.encrypt(x=x), resume=path)
    with pytest.raises(rm.DeviceError, match="name one"):
        compiled.run(inputs, device=["cpu", "cpu:1"], resume=path)
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(rm.DeviceError, match="damaged"):
        compiled.run(inputs, resume=path)
