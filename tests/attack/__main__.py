"""The long run: ``python -m tests.attack --examples 20000``."""

import argparse
import collections
import re
import traceback

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.attack.machines import MACHINES, attack
from tests.attack.recipes import recipes

COLUMNS = ("cases", "certified", "warned", "refused", "false claims", "errors")


def run(name, examples, start):
    """Return counts of outcomes and the first case of every kind of complaint."""
    machine = MACHINES[name]
    counts, shown = collections.Counter(), {}

    @seed(start)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(recipe=recipes(**machine.options))
    def cases(recipe):
        counts["cases"] += 1
        try:
            outcome = attack(machine, recipe)
        except Exception as error:
            counts["errors"] += 1
            place = traceback.extract_tb(error.__traceback__)[-1]
            words = f"error: {type(error).__name__}: {error} ({place.filename}:{place.lineno})"
            keep(shown, words, recipe)
            return
        counts[outcome.kind] += 1
        counts["false claims"] += bool(outcome.complaints)
        for words in outcome.complaints:
            keep(shown, words, recipe)

    cases()
    return counts, shown


def keep(shown, words, recipe):
    """Keep the case with the fewest rows of every kind of complaint."""
    kind = re.sub(r"[-+.\de]*\d[-+.\de]*", "#", words)[:80]
    number, smallest = shown.get(kind, (0, None))
    if smallest is None or recipe.n < smallest[1].n:
        smallest = (words, recipe)
    shown[kind] = (number + 1, smallest)


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("--examples", type=int, default=20_000, help="cases of all machines")
    parser.add_argument("--only", nargs="*", choices=list(MACHINES), default=list(MACHINES))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    each = -(-options.examples // len(options.only))
    print(f"{'machine':30}" + "".join(f"{column:>13}" for column in COLUMNS), flush=True)
    total, everything = collections.Counter(), {}
    for name in options.only:
        counts, everything[name] = run(name, each, options.seed)
        total += counts
        print(f"{name:30}" + "".join(f"{counts[c]:13}" for c in COLUMNS), flush=True)
    print(f"{'all':30}" + "".join(f"{total[c]:13}" for c in COLUMNS))
    for name, shown in everything.items():
        for _, (number, (words, recipe)) in sorted(shown.items()):
            print(f"\n{name}, {number} times: {words}\n  {recipe}")
    return int(total["false claims"] + total["errors"] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
