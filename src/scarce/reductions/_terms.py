"""What rows bring to a program, from their own values alone: for rows in memory and in chunks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from scarce._arrays import Array
from scarce.solvers import QuadraticProgram, SymmetricOperator

TERMS = ("groups", "signs", "kernel_signs", "linear", "upper")


@dataclass(frozen=True)
class Terms:
    """What some rows bring to a `scarce.solvers.QuadraticProgram` whose lower bounds are zero.

    Attributes
    ----------
    groups, signs, kernel_signs, linear, upper : ndarray of shape (n,)
        As there; a row whose upper bound is zero takes no part.
    """

    groups: Array
    signs: Array
    kernel_signs: Array
    linear: Array
    upper: Array

    def wanted_multipliers(self, reduced: Array, multipliers: Array) -> Array:
        """Return what multiplier each row would have its group take, from its reduced gradient."""
        return np.asarray(multipliers[self.groups] - self.signs * reduced)

    @classmethod
    def joined(cls, parts: list[Terms]) -> Terms:
        """Return those of several sets of rows as one."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in TERMS))

    def rows(self, some: Array) -> Terms:
        """Return those of some rows."""
        return Terms(*(getattr(self, name)[some] for name in TERMS))

    def bounded(self, upper: Array) -> Terms:
        """Return the same with other upper bounds."""
        return replace(self, upper=upper)


class Problem(Protocol):
    """A problem of which every row knows its own part.

    Attributes
    ----------
    totals : ndarray of shape (n_groups,)
        Right-hand sides of the equalities.
    coupling : ndarray of shape (n_groups, n_groups)
        What multiplies the kernel between groups.
    """

    @property
    def totals(self) -> Array: ...
    @property
    def coupling(self) -> Array: ...

    def terms(self, weights: Array, values: Mapping[str, Array]) -> Terms:
        """Return what rows of some weights bring; values are labels or domains, by name."""


def program_of(
    problem: Problem,
    operator: SymmetricOperator,
    terms: Terms,
    totals: Array | None = None,
    linear: Array | None = None,
) -> QuadraticProgram:
    """Return the program of some rows: their terms and the matrix of their inner products.

    Parameters
    ----------
    problem : Problem
        The problem.
    operator : operator
        The kernel matrix of the rows.
    terms : Terms
        What they bring.
    totals, linear : ndarray, optional
        In place of the problem's and of the rows', where other rows are held at their bounds.

    Returns
    -------
    QuadraticProgram
        Their program.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.reductions import OneClassProblem, program_of
    >>> from scarce.solvers import DenseMatrix, solve
    >>> problem = OneClassProblem(mass=1.0)
    >>> program = program_of(problem, DenseMatrix(np.diag([1.0, 4.0])), problem.terms(np.ones(2)))
    >>> solve(program, tol=1e-9).alpha.round(6)
    array([0.8, 0.2])
    """
    signs: Array | None = terms.signs
    kernel_signs: Array | None = terms.kernel_signs
    if terms.signs.min(initial=1.0) > 0:  # which a program knows how to do without
        kernel_signs = None if kernel_signs is signs else kernel_signs
        signs = None
    alone = problem.totals.size == 1
    return QuadraticProgram(
        operator,
        totals=problem.totals if totals is None else totals,
        upper=terms.upper,
        linear=terms.linear if linear is None else linear,
        groups=None if alone else terms.groups,
        signs=signs,
        kernel_signs=kernel_signs,
        coupling=None if alone and problem.coupling[0, 0] == 1.0 else problem.coupling,
    )
