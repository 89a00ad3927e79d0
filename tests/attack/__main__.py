"""The long run: ``python -m tests.attack --examples 20000``."""

import argparse
import collections
import traceback

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.attack.machines import MACHINES, attack
from tests.attack.recipes import recipes

COLUMNS = ("cases", "certified", "warned", "refused", "false claims", "errors")


def run(name, examples, start, small):
    """Return counts of outcomes; complaints are shown as they come, each with its case."""
    machine = MACHINES[name]
    options = {**machine.options, **({"large": False} if small else {})}
    counts = collections.Counter()

    @seed(start)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(recipe=recipes(**options))
    def cases(recipe):
        counts["cases"] += 1
        try:
            outcome = attack(machine, recipe)
        except Exception as error:
            counts["errors"] += 1
            place = traceback.extract_tb(error.__traceback__)[-1]
            words = f"error: {type(error).__name__}: {error} ({place.filename}:{place.lineno})"
            show(name, [words], recipe)
            return
        counts[outcome.kind] += 1
        counts["false claims"] += bool(outcome.complaints)
        show(name, outcome.complaints, recipe)

    cases()
    return counts


def show(name, complaints, recipe):
    for words in complaints:
        print(f"  {words}", flush=True)
    if complaints:
        print(f"  {name}: {recipe}", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("--examples", type=int, default=20_000, help="cases of all machines")
    parser.add_argument("--only", nargs="*", choices=list(MACHINES), default=list(MACHINES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--small", action="store_true", help="cases of at most 80 rows only")
    options = parser.parse_args()
    each = -(-options.examples // len(options.only))
    print(f"{'machine':30}" + "".join(f"{column:>13}" for column in COLUMNS), flush=True)
    total = collections.Counter()
    for name in options.only:
        counts = run(name, each, options.seed, options.small)
        total += counts
        print(f"{name:30}" + "".join(f"{counts[c]:13}" for c in COLUMNS), flush=True)
    print(f"{'all':30}" + "".join(f"{total[c]:13}" for c in COLUMNS))
    return int(total["false claims"] + total["errors"] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
