# SPDX-License-Identifier: Apache-2.0
"""Three hospitals pool a trial, each in a process of its own, and send each other nothing but bytes.

Scikit-learn's breast-cancer table has measurements of 569 tumours. Each hospital has a third of the patients and shows
them to nobody. It encrypts one measurement under the public key of a statistician. A server computes the mean and the
variance over all patients of all hospitals, on what it cannot read. The statistician, who alone has the secret key,
decrypts these two numbers. The hospitals must trust her not to ask the server for their messages: the key opens these,
too.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Annotated, Any

import numpy as np
from sklearn.datasets import load_breast_cancer

import ringmill as rm

SIZES = (190, 190, 189)  # the patients of each hospital


@rm.program
def pooled(
    north: Annotated[Any, rm.Encrypted[rm.real[190]]],
    east: Annotated[Any, rm.Encrypted[rm.real[190]]],
    west: Annotated[Any, rm.Encrypted[rm.real[189]]],
) -> dict[str, Any]:
    everyone = np.concatenate([north, east, west])
    return {"mean": np.mean(everyone), "variance": np.var(everyone)}


def hospital(name: str, patients: np.ndarray, program: bytes, public_key: bytes) -> bytes:
    """Encrypts the patients of one hospital, in the hospital's own process."""
    compiled = rm.Compiled.from_bytes(program)
    key = rm.PublicKey.from_bytes(public_key, compiled.params)
    return compiled.encrypt(key, **{name: patients}).to_bytes()


def server(program: bytes, keys: bytes, messages: list[bytes]) -> bytes:
    """Runs the program on the messages of all hospitals, in the server's own process."""
    compiled = rm.Compiled.from_bytes(program)
    known = rm.EvaluationKeys.from_bytes(keys, compiled.params)
    parts = [rm.Inputs.from_bytes(message, compiled.params) for message in messages]
    return compiled.run(rm.Inputs.together(parts, known), progress=False).to_bytes()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = load_breast_cancer()
    names = list(data.feature_names)
    parser.add_argument("--measurement", choices=names, default="mean radius", help="what is pooled (%(default)s)")
    asked = parser.parse_args()
    table = data.data[:, names.index(asked.measurement)]
    shares = dict(zip(("north", "east", "west"), np.split(table, np.cumsum(SIZES)[:-1]), strict=True))

    compiled = pooled.compile(input_bound=float(2 ** np.ceil(np.log2(table.max()))))
    statistician = compiled.keygen()
    program, public = compiled.to_bytes(), statistician.public_key().to_bytes()
    keys = statistician.evaluation_keys.to_bytes()
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        sent = [pool.submit(hospital, name, share, program, public) for name, share in shares.items()]
        messages = [each.result() for each in sent]
        answer = pool.submit(server, program, keys, messages).result()
    found = statistician.decrypt(rm.Run.from_bytes(answer, compiled.params))

    sizes = {"program": program, "public key": public, "evaluation keys": keys, "a hospital's message": messages[0]}
    for what, data in {**sizes, "the answer": answer}.items():
        print(f"{what}: {len(data) / 1e3:,.0f} kB")
    print(f"{asked.measurement} of {len(table)} patients: mean {found['mean']:.3f}, variance {found['variance']:.3f}")
    print(f"in the clear: mean {table.mean():.3f}, variance {table.var():.3f}")
    worst = max(abs(found["mean"] - table.mean()), abs(found["variance"] - table.var()))
    assert worst < 1e-3 * table.var(), worst


if __name__ == "__main__":
    main()
