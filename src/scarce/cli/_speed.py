"""Our estimators beside scikit-learn's, judged by one certificate."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn.svm
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, make_blobs
from sklearn.preprocessing import StandardScaler

import scarce
from scarce.kernels import make_kernel, make_operator
from scarce.solvers import Certificate, QuadraticProgram, certify

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """One estimator, by its name in both libraries, and the data to fit it on."""

    estimator: str
    data: str
    X: Array
    y: NDArray[np.int64] | None
    parameters: dict[str, float]

    def fit(self, library: Any) -> tuple[Any, float]:
        """Fit the estimator of `library`; return it and the seconds it took."""
        model = getattr(library, self.estimator)(**self.parameters)
        start = time.perf_counter()
        model.fit(self.X, self.y)
        return model, time.perf_counter() - start


def run(rows: int) -> None:
    """Fit every case in both libraries and print one line for each.

    Parameters
    ----------
    rows : int
        Number of rows of the generated data.
    """
    print("Each estimator beside scikit-learn's of that name: RBF kernel, same tolerance.\n")
    every_case = list(cases(rows))
    # All of them: the path taken, and so what there is to compile, depends on the data too.
    first_fits = sum(case.fit(scarce)[1] for case in every_case)
    print(f"First fits compile the solver, or load it from disk: {first_fits:.1f} s for all rows")
    print("of this table. Our times below are those of a second fit.\n")

    print(HEADER)
    print("-" * len(HEADER))
    for case in every_case:
        print(compare(case), flush=True)
    print(LEGEND)


def cases(rows: int) -> Iterator[Case]:
    """Yield the cases of the demonstration."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    yield Case("OneClassSVM", "cancer", X[y == 1], None, {"nu": 0.1})
    yield Case("SVC", "cancer", X, y, {"C": 1.0})
    yield Case("NuSVC", "cancer", X, y, {"nu": 0.2})

    X = load_digits().data
    yield Case("OneClassSVM", "digits", X, None, {"nu": 0.1})

    X, blob = make_blobs(rows, n_features=16, centers=8, cluster_std=6.0, random_state=0)
    yield Case("OneClassSVM", "blobs", X, None, {"nu": 0.1})
    yield Case("SVC", "blobs", X, blob % 2, {"C": 1.0})
    yield Case("NuSVC", "blobs", X, blob % 2, {"nu": 0.3})


# Both fit a terminal of 80 columns.
HEADER = (
    f"{'estimator':<12}{'data':<8}{'rows':>6}"
    f"{'sklearn':>8}{'scarce':>7}{'ratio':>7}"
    f"{'objective':>10}{'gap':>7}{'KKT':>7}{'agree':>8}"
)

LEGEND = """
data             cancer, digits: scikit-learn's; blobs: generated
sklearn, scarce  seconds to fit
ratio            sklearn / scarce, above 1 means we are faster
objective        ours against scikit-learn's, relative; below zero: better
gap, KKT         of our solution: relative duality gap and largest violation of
                 the optimality conditions (tolerance 1e-3), computed from the
                 problem alone
agree            share of training rows on which both predict the same, without
                 those that scikit-learn puts within tolerance of the boundary"""


def compare(case: Case) -> str:
    """Fit `case` in both libraries and return its line of the table."""
    theirs, their_time = case.fit(sklearn.svm)
    ours, our_time = case.fit(scarce)
    reference, certificate = certificate_of(case, theirs), certificate_of(case, ours)
    difference = (certificate.objective - reference.objective) / abs(reference.objective)
    their_values, our_values = (m.decision_function(case.X) for m in (theirs, ours))
    # Support vectors on the boundary have decision zero, whose sign is what rounding left of it.
    clear = np.abs(their_values) > theirs.tol
    agreement = np.mean((our_values > 0) == (their_values > 0), where=clear)
    return (
        f"{case.estimator:<12}{case.data:<8}{len(case.X):>6}"
        f"{their_time:>8.3f}{our_time:>7.3f}{their_time / our_time:>7.1f}"
        f"{difference:>+10.0e}{certificate.dual_gap:>7.0e}{certificate.kkt_violation:>7.0e}"
        f"{agreement:>8.2%}"
    )


def certificate_of(case: Case, model: Any) -> Certificate:
    """Judge a fitted model of either library as a solution of its dual problem, LIBSVM's scale."""
    n = len(case.X)
    # What gamma="scale" means, for both libraries.
    kernel = make_operator(case.X, make_kernel("rbf", gamma=1.0 / (case.X.shape[1] * case.X.var())))
    signed = np.zeros(n)
    signed[model.support_] = np.ravel(model.dual_coef_)

    if case.y is None:
        mass = case.parameters["nu"] * n
        return certify(QuadraticProgram(kernel, totals=[mass], upper=1.0), signed)

    y = np.where(case.y == model.classes_[1], 1.0, -1.0)
    alpha = y * signed
    if "C" in case.parameters:
        problem = QuadraticProgram(
            kernel, totals=[0.0], upper=case.parameters["C"], linear=-1.0, signs=y, kernel_signs=y
        )
        return certify(problem, alpha)

    # nu-SVC: one group a class. Both libraries store the coefficients divided by the margin.
    mass = case.parameters["nu"] * n / 2
    problem = QuadraticProgram(
        kernel, totals=[mass, mass], upper=1.0, groups=(y > 0).astype(np.intp), kernel_signs=y
    )
    alpha *= 2 * mass / alpha.sum()
    alpha[np.abs(alpha - 1.0) < 1e-9] = 1.0  # undo the rounding of the division: at the bound
    return certify(problem, alpha)
