# SPDX-License-Identifier: Apache-2.0
"""Draws single faults in the Rust sources, and tells which of them no test catches."""
