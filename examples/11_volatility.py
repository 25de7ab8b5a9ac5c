# SPDX-License-Identifier: Apache-2.0
"""A year of market data in an encrypted model: approximate numbers without a depth limit, by bootstrapping.

The owner of a GARCH(1, 1) model keeps its parameters encrypted, with an asset in each slot. The returns r of each day
are public. Day by day the variance of an asset is

    variance' = omega + alpha r^2 + beta variance.

A day takes a level, and no parameters have levels for a year. The compiler decides where to bootstrap. Run with --toy
for a small and insecure size that takes seconds, and with --days N for other lengths.
"""

import argparse
import time

import numpy as np

import ringmill as rm


def model(returns: np.ndarray) -> rm.Program:
    @rm.program
    def forecast(omega: rm.Encrypted, alpha: rm.Encrypted, beta: rm.Encrypted) -> rm.Encrypted:
        variance = omega
        for day in returns:
            variance = omega + alpha * (day * day) + beta * variance
        return variance

    return forecast


def in_the_clear(returns: np.ndarray, omega: np.ndarray, alpha: np.ndarray, beta: np.ndarray) -> np.ndarray:
    variance = omega
    for day in returns:
        variance = omega + alpha * (day * day) + beta * variance
    return variance


def main() -> None:
    parser = argparse.ArgumentParser(description="Forecast variances by an encrypted model.")
    parser.add_argument("--days", type=int, default=250, help="how many days of returns there are (250)")
    parser.add_argument("--toy", action="store_true", help="small parameters without security, for a try")
    args = parser.parse_args()

    assets = 64 if args.toy else 4096
    rng = np.random.default_rng(0)
    returns = np.clip(rng.normal(0, 0.3, (args.days, assets)), -1, 1)
    parameters = {
        "omega": rng.uniform(0.005, 0.02, assets),
        "alpha": rng.uniform(0.02, 0.1, assets),
        "beta": rng.uniform(0.7, 0.9, assets),
    }
    compiled = model(returns).compile(
        slots=assets,
        ranges={"omega": (0, 0.02), "alpha": (0, 0.1), "beta": (0, 0.9)},
        bootstrapping=rm.bootstrapping("toy_insecure_for_tests_only" if args.toy else "deep"),
    )
    print(compiled.params)
    print(f"{compiled.counts()[0].get('BOOTSTRAP', 0)} bootstraps; keys of {compiled.key_bytes / 2**30:.2f} GiB")
    client = compiled.keygen()
    begin = time.perf_counter()
    result = client.decrypt(compiled.run(client.encrypt(**parameters)))
    print(f"{args.days} days of {assets} assets in {time.perf_counter() - begin:.1f} s")
    error = np.abs(result - in_the_clear(returns, **parameters)).max()
    print(f"largest error {error:.1e}, at most {2 ** -compiled.predicted_bits['out']:.1e} by prediction")


if __name__ == "__main__":
    main()
