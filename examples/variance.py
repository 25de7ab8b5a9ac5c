# SPDX-License-Identifier: Apache-2.0
import numpy as np

import ringmill as rm


@rm.program
def variance(x: rm.Encrypted) -> rm.Encrypted:
    return rm.sum((x - rm.sum(x, 1024) / 1024) ** 2, 1024) / 1024


data = np.random.default_rng(0).normal(size=1024)
compiled = variance.compile(slots=1024, sample={"x": data}, margin=1)
client = compiled.keygen()  # holds the secret key
run = compiled.run(client.encrypt(x=data), device="sim:ring")
print(client.decrypt(run)[0], data.var(), run.report, sep="\n")
