# SPDX-License-Identifier: Apache-2.0
"""The parts of `benches/bench.py`: sides, rows, floors, measurement, table and record."""
