"""No claim of any certificate is better than the truth, whatever the data."""

import os

import pytest
from hypothesis import Phase, given, settings

from tests.attack.machines import MACHINES, MANY, attack
from tests.attack.recipes import recipes

EXAMPLES = int(os.environ.get("SCARCE_ATTACK_EXAMPLES", "20"))  # of every machine


@pytest.mark.parametrize("name", MACHINES)
def test_claims_are_true(name):
    machine = MACHINES[name]

    # A recipe is short as it is: looking for a shorter one would take minutes.
    # One case of thousands of rows takes as long as fifty others.
    examples = EXAMPLES if machine.options.get("large") is not MANY["large"] else EXAMPLES // 10

    @settings(max_examples=examples, phases=[Phase.generate])
    @given(recipe=recipes(**machine.options))
    def claims_are_true(recipe):
        assert attack(machine, recipe).complaints == []

    claims_are_true()
