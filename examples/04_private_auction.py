# SPDX-License-Identifier: Apache-2.0
"""A sealed-bid auction that nobody but the auction house can read: the winner pays the second price.

Sixteen bidders or more send a bid each, sixteen bits, encrypted under TFHE. Whoever computes holds no secret key, finds
under encryption who bid most (the first of those that bid the same) and the second highest bid, and sees neither bids
nor result. The bids are read from a file with a number a line; without --bids they are drawn here.

The bids meet in pairs, as in a tournament. What stays of a pair is the highest bid, the place of who made it, and the
second highest: the larger of the two seconds and of the smaller of the two firsts.

The result is published, and a wrong one would tell of the secret key. So every bootstrap is asked to fail below 2^-128
(docs/security.md, "Exact schemes"), with bits, as digits under the set "circuits" do not bear it here.

Run with --dry to see what it takes and stop there, and with --bidders to draw another number of bids. With
--device sim:torus every bootstrap is a program of a simulated bootstrapping engine, which says what it takes: under the
torus paper's parameters, that the engine is described for and whose name says what they lack today.
"""

import argparse
import secrets
import sys
import time
from pathlib import Path
from typing import Annotated

import ringmill as rm

# The highest bid of some, whose it is, and the second highest.
Group = tuple[rm.Integer, rm.Integer, rm.Integer]
ENGINES_SET = "tfhe_library_2020_below_128_bits"


def auction(bidders: int, bits: int) -> rm.Circuit:
    place_type = rm.uint(max(1, (bidders - 1).bit_length()))

    @rm.circuit
    def sealed_bids(
        # To a type checker a list of integers, which the function is given.
        bids: Annotated[list[rm.Integer], rm.Encrypted[rm.uint(bits)[bidders]]],
    ) -> dict[str, rm.Integer]:
        # Of each group: the highest bid, whose it is, and the second highest.
        groups = [(bid, (bid * 0).to(place_type) + place, bid * 0) for place, bid in enumerate(bids)]
        while len(groups) > 1:
            pairs = [duel(*groups[i : i + 2]) for i in range(0, len(groups) - 1, 2)]
            groups = pairs + groups[2 * len(pairs) :]
        _, winner, price = groups[0]
        return {"winner": winner, "price": price}

    def duel(left: Group, right: Group) -> Group:
        (first, place, second), (other_first, other_place, other_second) = left, right
        # The left one stands before the right one among the bidders and wins where both bid the same.
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
