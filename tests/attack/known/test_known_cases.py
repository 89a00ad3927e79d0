"""Cases of the long run whose claims were false once."""

import pytest

from tests.attack.fitting import fit
from tests.attack.machines import MACHINES, attack
from tests.attack.recipes import Recipe


@pytest.mark.parametrize(
    ("name", "recipe"),
    [
        (
            "STM",  # the cost is lowered: claims were those of the lower one
            Recipe(seed=6143, n=32, d=1, cluster=0.5, distance=316227.8, ties=True, decades=4.0,
                   kernel="linear", cost=100.0, tol=0.01),
        ),
        (
            "OneClassSVM",  # a multiplier of 1e-12 far away, and an offset halfway to its row
            Recipe(seed=9000, n=55, d=20, cluster=0.5, distance=1e6, tight=1e-3, place="first",
                   offset=100.0, decades=1.0, single=True, kernel="poly", gamma=0.3, coef0=1.0,
                   share=0.01, tol=0.01),
        ),
        (
            "TransductiveSVM",  # the gap was that of a normal vector longer by 1e-10
            Recipe(seed=8760, n=8, d=5, cluster=0.25, distance=1e3, place="first", offset=0.0,
                   decades=16.0, single=True, csr=True, kernel="rbf", gamma=0.3, cost=100.0,
                   tol=1e-5),
        ),
        (
            "GroupProbabilitySVM",  # means of values by norms, from rows far from the origin
            Recipe(seed=53, n=53, d=5, offset=1e4, csr=True, kernel="rbf", gamma="scale",
                   cost=100.0, tol=1e-5),
        ),
        (
            "GroupProbabilitySVM",  # both multipliers of a unit, of which their difference is kept
            Recipe(seed=5058, n=15, d=1, cluster=0.25, distance=1e6, tight=0.1, place="first",
                   offset=1e6, ties=True, kernel="poly", gamma=0.01, share=0.5),
        ),
        (
            "SVR",  # a free variable whose box is below the last digits of the others' sum
            Recipe(seed=4560, n=4, d=20, place="first", offset=0.0, decades=16.0, single=True,
                   kernel="callable", gamma=0.3),
        ),
        (
            "SVC",  # the same in the compiled judgement of small programs
            Recipe(seed=3868, n=8, d=2, cluster=0.01, distance=1e4, tight=1e-3, place="first",
                   offset=1e6, decades=16.0, kernel="rbf", gamma=0.3327470983494716, cost=100.0,
                   tol=1e-3),
        ),
        (
            "UnbiasedPUSVC",  # what the labelled rows say of the others, in single precision
            Recipe(seed=191, n=364, d=2, place="first", single=True, csr=True, ties=True,
                   kernel="rbf", gamma=1e-7, degree=2, share=0.3, cost=100.0, tol=0.01),
        ),
        (
            "TransferGroupProbabilitySVM",  # multipliers that do not sum to zero, without a gap
            Recipe(seed=6345, n=4, d=1, offset=100.0, decades=16.0, single=True,
                   kernel="sigmoid matrix", cost=0.01, tol=1e-5),
        ),
        (
            "TransferGroupProbabilitySVM",  # kernel values of 1e28: steps without end
            Recipe(seed=77, n=77, d=20, place="scattered", offset=1e4, kernel="poly", gamma=1.0,
                   coef0=1.0, share=0.5, tol=1e-5),
        ),
        (
            "TransferGroupProbabilitySVM",  # a gap of a callable that is definite by no word
            Recipe(seed=0, n=4, d=1, kernel="callable", gamma=0.3),
        ),
        (
            "TransferGroupProbabilitySVM",  # the same of a polynomial that may be negative
            Recipe(seed=4, n=4, d=2, place="first", decades=4.0, single=True, ties=True,
                   kernel="poly", gamma=0.01, coef0=-0.5, share=0.5, cost=100.0),
        ),
    ],
)  # fmt: skip
def test_claims_that_were_false(name, recipe):
    assert attack(MACHINES[name], recipe).complaints == []


def test_a_tube_of_which_rounding_is_left_ends():
    # Kernel values of 1e35: two pieces in turn, each step lowering the objective by a little.
    recipe = Recipe(seed=6982, n=6, d=1, cluster=0.1, distance=1e6, place="scattered", offset=1e4,
                    decades=4.0, csr=True, kernel="poly", gamma=0.3, cost=100.0)  # fmt: skip
    model, arguments, keywords = MACHINES["TransferGroupProbabilitySVM"].make(recipe)
    assert fit(model, *arguments, **keywords)  # and says so
    assert model.n_iter_ <= 1000
    assert attack(MACHINES["TransferGroupProbabilitySVM"], recipe).complaints == []
