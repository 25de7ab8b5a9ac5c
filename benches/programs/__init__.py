# SPDX-License-Identifier: Apache-2.0
"""The programs of `make bench ONLY=programs`: their data and their results in the clear."""
