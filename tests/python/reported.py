# SPDX-License-Identifier: Apache-2.0
"""Programs for tests of reports. Their lines and names contain HTML that a page must escape."""

import ringmill as rm


@rm.program
def approximate(x: rm.Encrypted, w: rm.Encrypted):
    turned = rm.rotate(x, 1) + rm.rotate(x, 2)
    product = turned * w  # </script><script>document.title = "caught"</script><b>bold</b>
    return product * product * 0.5 + x


@rm.program
def integers(x: rm.Encrypted[rm.uint(4)], y: rm.Encrypted[rm.uint(4)]):
    product = x * y
    return product * 3 + x


@rm.program
def long(x: rm.Encrypted):
    y = x
    for _ in range(60):
        y = rm.rotate(y, 1) + x
    return y / 64
