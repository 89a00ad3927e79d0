"""Problems by rows: what one row brings to a program of the family, from its own values alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from scarce._arrays import Array
from scarce.chunks._chunks import Part
from scarce.reductions import TaskPlanes


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

    def multiplier_pull(self, reduced: Array, multipliers: Array) -> Array:
        """Return what multiplier each row would have its group take, from its reduced gradient."""
        return np.asarray(multipliers[self.groups] - self.signs * reduced)

    def rows(self, some: Array) -> Terms:
        """Return those of some rows."""
        return Terms(*(getattr(self, name)[some] for name in TERMS))


TERMS = ("groups", "signs", "kernel_signs", "linear", "upper")


def joined_terms(parts: list[Terms]) -> Terms:
    """Return the terms of several sets of rows as one."""
    return Terms(*(np.concatenate([getattr(part, name) for part in parts]) for name in TERMS))


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

    def terms(self, part: Part) -> Terms:
        """Return what the rows of a part bring."""


@dataclass(frozen=True)
class OneClassProblem:
    """The dual of a one-class SVM, in LIBSVM's scale: see `scarce.reductions.one_class_program`.

    Attributes
    ----------
    mass : float
        ``nu`` times the sum of all weights.
    """

    mass: float

    @property
    def totals(self) -> Array:
        """The mass."""
        return np.array([self.mass])

    @property
    def coupling(self) -> Array:
        """Nothing is coupled."""
        return np.ones((1, 1))

    def terms(self, part: Part) -> Terms:
        """Return bounds that are the weights."""
        weights = part.weights
        ones = np.ones_like(weights)
        groups = np.zeros(weights.size, np.int64)
        return Terms(groups, ones, ones, np.zeros_like(weights), weights)


@dataclass(frozen=True)
class MarginProblem:
    """The dual of a C-SVC or of a nu-SVC: see `scarce.reductions`.

    Attributes
    ----------
    classes : ndarray of shape (2,)
        The labels; the second is the positive one.
    prices : ndarray of shape (2,)
        Bound of a row of weight 1 of each class.
    mass : float or None
        For a nu-SVC, what the variables of each class sum to.
    """

    classes: Array
    prices: Array
    mass: float | None = None

    @property
    def totals(self) -> Array:
        """Return zero, or the mass of each class."""
        return np.zeros(1) if self.mass is None else np.full(2, self.mass)

    @property
    def coupling(self) -> Array:
        """One plane for all groups."""
        return np.ones((self.totals.size, self.totals.size))

    def terms(self, part: Part) -> Terms:
        """Return signs that are the labels, and bounds that are prices times weights."""
        codes = (part.values["y"] == self.classes[1]).astype(np.int64)
        labels = 2.0 * codes - 1.0
        upper = self.prices[codes] * part.weights
        ones = np.ones_like(labels)
        if self.mass is None:
            return Terms(np.zeros_like(codes), labels, labels, -ones, upper)
        return Terms(codes, ones, labels, np.zeros_like(labels), upper)


@dataclass(frozen=True)
class TaskProblem:
    """The dual of several one-class tasks: see `scarce.reductions.tasks_program`.

    Attributes
    ----------
    domains : ndarray of int of shape (n_tasks,)
        What the rows call the tasks: any negative number for the first, which is the target.
    planes : TaskPlanes
        Parameters of the tasks.
    """

    domains: Array
    planes: TaskPlanes

    @property
    def totals(self) -> Array:
        """Return the masses of the tasks."""
        return np.asarray(self.planes.unit * self.planes.masses)

    @property
    def coupling(self) -> Array:
        """Return what the tasks' planes share."""
        return self.planes.mixing

    def terms(self, part: Part) -> Terms:
        """Return bounds that are the weights times the tasks' prices."""
        weights, planes = part.weights, self.planes
        tasks = np.zeros(weights.size, np.int64)
        if self.domains.size > 1:
            tasks = np.searchsorted(self.domains, np.maximum(part.values["sample_domain"], -1))
        ones = np.ones_like(weights)
        upper = planes.unit * (planes.masses * planes.prices)[tasks] * weights
        return Terms(tasks, ones, ones, np.zeros_like(weights), upper)
