# SPDX-License-Identifier: Apache-2.0
"""A sealed-bid auction in which the winner pays the second-highest bid, and only the auction house can read the bids.

Each of two or more bidders, sixteen by default, sends a bid of up to sixteen bits, encrypted under TFHE. The server has
no secret key. It finds under encryption the highest bidder (the first of equal ones) and the second-highest bid, and
sees neither bids nor result. The bids are read from a file with a number in each line. Without --bids they are drawn at
random.

The bids meet in pairs, as in a tournament. A pair of groups leaves the highest bid, the place of its bidder, and the
second-highest bid: the largest of the two groups' seconds and the smaller of their firsts.

The result is published, and a wrong one would reveal something of the secret key. So every bootstrap must fail with a
probability of at most 2^-128 (docs/security.md, "Exact schemes"). The circuit uses bits, as digits under the set
"circuits" would fail more often.

Run with --dry to see the cost without a run, and with --bidders to draw another number of bids. With --device sim:torus
a simulated bootstrapping engine computes every bootstrap, and its report tells the time. The parameters are then the
torus paper's, for which the engine is described, and which have less than 128 bits of security.
"""

import argparse
import secrets
import sys
import time
from pathlib import Path
from typing import Annotated

import ringmill as rm

# The highest bid of a group of bidders, the place of its bidder, and the second-highest bid.
Group = tuple[rm.Integer, rm.Integer, rm.Integer]
ENGINES_SET = "tfhe_library_2020_below_128_bits"


def auction(bidders: int, bits: int) -> rm.Circuit:
    place_type = rm.uint(max(1, (bidders - 1).bit_length()))

    @rm.circuit
    def sealed_bids(
        # For a type checker the argument is a list of integers.
        bids: Annotated[list[rm.Integer], rm.Encrypted[rm.uint(bits)[bidders]]],
    ) -> dict[str, rm.Integer]:
        # At first each group is one bidder, with 0 as the second-highest bid.
        groups = [(bid, (bid * 0).to(place_type) + place, bid * 0) for place, bid in enumerate(bids)]
        while len(groups) > 1:
            pairs = [duel(*groups[i : i + 2]) for i in range(0, len(groups) - 1, 2)]
            groups = pairs + groups[2 * len(pairs) :]
        _, winner, price = groups[0]
        return {"winner": winner, "price": price}

    def duel(left: Group, right: Group) -> Group:
        (first, place, second), (other_first, other_place, other_second) = left, right
        # The left group's bidders come before the right one's, so the left one wins if both bid the same.
        winner = rm.select(first < other_first, other_place, place)
        highest, beaten = rm.maximum(first, other_first), rm.minimum(first, other_first)
        return highest, winner, rm.maximum(beaten, rm.maximum(second, other_second))

    return sealed_bids


def read(path: Path, bits: int) -> list[int]:
    lines = path.read_text().split()
    wrong = [line for line in lines if not (line.isdecimal() and int(line) < 1 << bits)]
    if wrong or len(lines) < 2:
        sys.exit(f"{path}: expected two bids or more from 0 to {2**bits - 1}, one a line; got {wrong or lines}")
    return [int(line) for line in lines]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bids", type=Path, help="a file of bids, one a line")
    parser.add_argument("--bidders", type=int, default=16, help="how many bids to draw without a file, 2 or more")
    parser.add_argument("--bits", type=int, choices=range(1, 17), default=16, help="bits of a bid, 1 to 16")
    parser.add_argument("--device", default="cpu", help="who bootstraps: cpu, sim:torus, rtl:torus, sim:FILE.toml")
    parser.add_argument("--threads", type=int, help="threads of the run; all cores of the CPU, if it is left out")
    parser.add_argument("--dry", action="store_true", help="say what it takes and stop")
    parser.add_argument("--toy", action="store_true", help="small parameters that keep nothing secret, to try it out")
    options = parser.parse_args()
    if options.bidders < 2:
        parser.error("--bidders is 2 or more")
    bits = options.bits
    bids = read(options.bids, bits) if options.bids else [secrets.randbelow(1 << bits) for _ in range(options.bidders)]

    if options.device == "cpu":
        params = rm.circuit_params("circuit_bits", toy_for_tests_only=options.toy)
    else:
        params = rm.circuit_params(ENGINES_SET, toy_for_tests_only=options.toy, target=options.device)
    compiled = auction(len(bids), bits).compile(params, failure=-40 if options.toy else -128)
    print(params.summary)
    print(
        f"{len(bids)} bids: {compiled.bootstraps} bootstraps, {compiled.depth} in a row; the result is wrong with "
        f"probability 2^{compiled.failure:.0f}"
    )
    if options.dry:
        return 0

    begin = time.perf_counter()
    house = compiled.keygen()
    sealed = house.encrypt(bids=bids)
    print(f"keys and bids: {time.perf_counter() - begin:.1f} s")
    run = compiled.run(sealed, device=options.device, threads=options.threads)
    print(run)
    result = house.decrypt(run)

    first = max(bids)
    expected = {"winner": bids.index(first), "price": sorted(bids)[-2]}
    print(f"bidder {result['winner']} wins and pays {result['price']}")
    if result != expected:
        print(f"that is wrong: bidder {expected['winner']} wins and pays {expected['price']}")
        return 1
    print("the same as computed in the clear")
    return 0


if __name__ == "__main__":
    sys.exit(main())
