"""Many changed model files: ``python -m tests.files --mutants 20000 --seed 0``."""

import argparse
import sys

from tests.files.judge import attack
from tests.files.victims import victims

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--mutants", type=int, default=20_000)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--only", default="", help="files whose names hold this")
parser.add_argument("--late", action="store_true", help="show errors that only an answer raised")
arguments = parser.parse_args()
files = list(victims(arguments.only))
first = arguments.seed * 10**9
work = [(number % len(files), first + number) for number in range(arguments.mutants)]
counts, failures, late = attack(files, work)
for line in failures + (late if arguments.late else []):
    print(*line, sep=" | ")
print(f"{len(files)} files, {sum(counts.values())} mutants:", dict(counts.most_common()))
sys.exit(bool(failures))
