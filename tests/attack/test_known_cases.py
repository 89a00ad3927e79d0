"""Cases of the long run whose claims were false once."""

import pytest

from tests.attack.machines import MACHINES, attack
from tests.attack.recipes import Recipe


@pytest.mark.parametrize(
    ("name", "recipe"),
    [
        (
            "STM",  # the price is lowered: claims were those of the lower one
            Recipe(seed=6143, n=32, d=1, cluster=0.5, distance=316227.8, ties=True, decades=4.0,
                   kernel="linear", cost=100.0, tol=0.01),
        ),
        (
            "OneClassSVM",  # a multiplier of 5e-11 far away, and an offset halfway to its row
            Recipe(seed=318, n=47, d=1, cluster=0.5, distance=3162.2776601683795, tight=1e-3,
                   place="first", single=True, csr=True, ties=True, kernel="poly", gamma=0.01,
                   coef0=1.0, share=0.01),
        ),
        (
            "OneClassSVM",  # the same, of kernel values of 1e30
            Recipe(seed=9000, n=55, d=20, cluster=0.5, distance=1e6, tight=1e-3, place="first",
                   offset=100.0, decades=1.0, single=True, kernel="poly", gamma=0.3, coef0=1.0,
                   share=0.01, tol=0.01),
        ),
    ],
)  # fmt: skip
def test_claims_that_were_false(name, recipe):
    assert attack(MACHINES[name], recipe).complaints == []
