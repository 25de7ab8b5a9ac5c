"""What `benches/bench.py` is made of: sides, rows, floors, measuring, table and record."""
