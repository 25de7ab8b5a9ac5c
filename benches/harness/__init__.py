# SPDX-License-Identifier: Apache-2.0
"""What `benches/bench.py` is made of: sides, rows, floors, measuring, table and record."""
