# SPDX-License-Identifier: Apache-2.0
"""A client looks up a row of a server's table, and the server does not learn which.

The table has 4,096 rows: characters of Unicode from U+2000 on, and their names, six bytes of a name to a column of
48-bit numbers. A client wants the name of one character. It encrypts a vector of 4,096 numbers that is 1 in that row
and 0 in the others; without its key, all such vectors look alike. The server multiplies it by each column, which leaves
only the wanted entry, rotates the product of column c by c slots and adds all products. The answer is one ciphertext,
with the row's entries in consecutive slots from the row's own slot on.

Client and server are two processes that share one folder and nothing else. The server writes the compiled program
there, then the client its evaluation keys and its query, and then the server the answer. The secret key stays in the
client's memory. The query is hidden from the server; the table is not hidden from a client that studies the noise of
many answers.

Run with --character to look up another, and with --folder to keep the files.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import numpy as np

import ringmill as rm

ROWS = 4096
FIRST = 0x2000
BYTES = 6  # of a name, in one entry
COLUMNS = 8
PATIENCE = 120.0  # seconds that either side waits for the other

# The first part is for type checkers, the second for Ringmill.
Selection = Annotated[rm.Encrypted, rm.Encrypted[rm.uint(48)[ROWS]]]
Column = Annotated[rm.Plain, rm.Plain[rm.uint(48)[ROWS]]]


@rm.program
def lookup(
    selected: Selection,
    c0: Column,
    c1: Column,
    c2: Column,
    c3: Column,
    c4: Column,
    c5: Column,
    c6: Column,
    c7: Column,
) -> rm.Encrypted:
    found = selected * c0
    for place, column in enumerate((c1, c2, c3, c4, c5, c6, c7), start=1):
        found = found + ((selected * column) >> place)
    return found


def characters() -> list[str]:
    """Returns the characters of the table, one for each row."""
    named = (chr(code) for code in range(FIRST, sys.maxunicode) if unicodedata.name(chr(code), ""))
    return [next(named) for _ in range(ROWS)]


def columns() -> dict[str, np.ndarray]:
    """Returns the table's columns by name. A row has the first 48 bytes of a character's name, six in each column."""
    names = [unicodedata.name(character).encode()[: BYTES * COLUMNS] for character in characters()]
    table = np.zeros((COLUMNS, ROWS), dtype=np.uint64)
    for row, name in enumerate(names):
        padded = name.ljust(BYTES * COLUMNS, b"\0")
        table[:, row] = [int.from_bytes(padded[at : at + BYTES]) for at in range(0, len(padded), BYTES)]
    return {f"c{place}": column for place, column in enumerate(table)}


def wait_for(path: Path) -> Path:
    """Waits for a file that the other side writes, and returns its path. The file appears whole or not at all."""
    end = time.monotonic() + PATIENCE
    while not path.exists():
        if time.monotonic() > end:
            raise SystemExit(f"{path.name} did not come within {PATIENCE:g} s")
        time.sleep(0.02)
    return path


def serve(folder: Path) -> None:
    """Runs the server, which has the table and gets no keys but evaluation keys."""
    table = columns()
    lookup.compile(slots=ROWS, ranges={"selected": (0, 1)}).save(folder / "program.rmac")
    # The client loads the program from the file, so the server does too.
    compiled = rm.load(folder / "program.rmac")
    query = rm.Ciphertext.load(wait_for(folder / "query"), compiled.params)
    keys = rm.EvaluationKeys.load(folder / "keys", compiled.params)
    run = compiled.run({"selected": query}, plain=table, keys=keys, device="cpu")
    run.ciphertexts["out"].save(folder / "answer")
    print(f"server: {ROWS} rows of {COLUMNS} numbers; all of them were read, and the answer says nothing to me")
    print(f"server: {run.report}")


def ask(folder: Path, character: str) -> str:
    """Runs the client, and returns the name of the character by the server's answer."""
    compiled = rm.load(wait_for(folder / "program.rmac"))
    client = compiled.keygen()
    row = characters().index(character)
    selected = np.zeros(ROWS, dtype=np.int64)
    selected[row] = 1
    inputs = client.encrypt(selected=selected)
    client.evaluation_keys.save(folder / "keys")
    inputs.ciphertexts["selected"].save(folder / "query")
    answer = rm.Ciphertext.load(wait_for(folder / "answer"), compiled.params)
    entries = np.roll(client.decrypt({"out": answer}), -row)
    budget = client.noise_budget(answer)
    name = b"".join(int(entry).to_bytes(BYTES) for entry in entries[:COLUMNS]).rstrip(b"\0").decode()
    sizes = {name: (folder / name).stat().st_size / 2**10 for name in ("query", "answer")}
    print(f"client: asked for row {row} of {ROWS} in {sizes['query']:.0f} KiB, answered in {sizes['answer']:.0f} KiB")
    print(f"client: U+{ord(character):04X} is {name}; {budget} bits of noise budget were left")
    return name


def both(folder: Path, character: str) -> int:
    """Starts server and client as two processes, and returns 0 if the client gets the name that the table has."""
    command = [sys.executable, __file__, "--folder", str(folder), "--character", character, "--as"]
    start: Callable[[str], subprocess.Popen[bytes]] = lambda role: subprocess.Popen([*command, role])  # noqa: E731
    server, client = start("server"), start("client")
    try:
        while client.poll() is None and not server.poll():
            time.sleep(0.02)
        # If the server fails, the client is not awaited, since it would wait for two minutes.
        failed = server.poll() or client.wait() or server.wait()
    finally:
        for process in (server, client):
            process.kill()
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    print(f"the server's folder holds {', '.join(files)}")
    if failed:
        print("FAILED: the row was not found", file=sys.stderr)
        return 1
    print("the row is the table's own, to the last bit")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--character", default="\N{SNOWMAN}", help="whose name is looked up")
    parser.add_argument("--folder", type=Path, help="an empty folder for the files that the two share")
    parser.add_argument("--as", dest="role", choices=["server", "client"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.character not in characters():
        parser.error(f"the table has {ROWS} characters from U+{FIRST:04X} on, and this is none of them")
    if options.role == "server":
        serve(options.folder)
        return 0
    if options.role == "client":
        wanted = unicodedata.name(options.character)[: BYTES * COLUMNS]
        return 0 if ask(options.folder, options.character) == wanted else 1
    if options.folder is not None:
        options.folder.mkdir(exist_ok=True)
        if any(options.folder.iterdir()):
            parser.error(f"{options.folder} is not empty: what is in it would be taken for the other side's")
        return both(options.folder, options.character)
    with tempfile.TemporaryDirectory(prefix="lookup-") as folder:
        return both(Path(folder), options.character)


if __name__ == "__main__":
    sys.exit(main())
