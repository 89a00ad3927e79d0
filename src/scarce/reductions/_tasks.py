"""Several one-class tasks whose weight vectors share a part; the inner step of UOCT-SVM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from scarce._arrays import Array
from scarce.solvers import QuadraticProgram, Solution, SymmetricOperator, Terms, program_of

DOMAIN = "sample_domain"  # the value that names a row's task


@dataclass(frozen=True)
class TaskParameters:
    """Parameters of the tasks' hyperplanes ``(w_0 + v_t)'x >= rho_t``, one value per task."""

    own: Array  # (n_tasks,): ``m_t``, cost of the task's own part ``v_t``
    costs: Array  # (n_tasks,): ``c_t``, cost of a unit of slack
    masses: Array  # (n_tasks,): ``omega_t``, the sum of the task's dual variables

    @property
    def mixing(self) -> Array:
        """Return what multiplies the kernel between two tasks, ``(1 + [t = h] / m_t) / 2``."""
        return np.asarray(0.5 * (1.0 + np.diag(1.0 / self.own)))

    @property
    def reach(self) -> float:
        """Return how far below 0 the objective can get per unit of the kernel."""
        return float(0.5 * self.masses @ self.mixing @ self.masses)

    @property
    def scale(self) -> float:
        """Return the scale in which the smallest box is a row's weight, as in `OneClassSVM`."""
        return 1.0 / float((self.masses * self.costs).min())


@dataclass(frozen=True)
class TaskProblem:
    """The dual of several one-class tasks, in the scale of a one-class SVM."""

    # (n_tasks,): what the rows call the tasks, ascending; the first is the target, also by any
    # smaller name
    domains: Array
    parameters: TaskParameters

    @property
    def totals(self) -> Array:
        """The masses of the tasks."""
        return np.asarray(self.parameters.scale * self.parameters.masses)

    @property
    def coupling(self) -> Array:
        """What the tasks' weight vectors share."""
        return self.parameters.mixing

    def terms(self, weights: Array, values: Mapping[str, Array]) -> Terms:
        """Return bounds that are the weights times the tasks' costs."""
        parameters = self.parameters
        tasks = np.zeros(weights.size, np.int64)
        if self.domains.size > 1:
            tasks = np.searchsorted(self.domains, np.maximum(values[DOMAIN], self.domains[0]))
        ones = np.ones_like(weights)
        upper = parameters.scale * (parameters.masses * parameters.costs)[tasks] * weights
        return Terms(tasks, ones, ones, np.zeros_like(weights), upper)


@dataclass(frozen=True)
class TasksModel:
    """What a solution of `tasks_program` says; see `read_tasks`."""

    support: Array  # rows with a dual variable other than zero
    coefficients: Array  # (n_tasks, n_support): their coefficients in every task's score
    scores: Array  # (n,): scores of the rows, each by its own task's hyperplane
    objective: float  # primal objective of all tasks


def tasks_program(
    operator: SymmetricOperator, tasks: Array, weights: Array, parameters: TaskParameters
) -> QuadraticProgram:
    """Return the dual of the tasks' problem, one group of dual variables a task.

    In the scale of a one-class SVM. ``weights``: of the rows, all positive.

    Examples
    --------
    One task, whose own part is free, is a one-class SVM:

    >>> import numpy as np
    >>> from scarce.reductions import TaskParameters, read_tasks, tasks_program
    >>> from scarce.solvers import DenseMatrix, solve
    >>> X = np.array([[1.0, 0.0], [0.0, 2.0]])
    >>> parameters = TaskParameters(own=np.ones(1), costs=np.ones(1), masses=np.ones(1))
    >>> tasks = np.zeros(2, int)
    >>> program = tasks_program(DenseMatrix(X @ X.T), tasks, np.ones(2), parameters)
    >>> model = read_tasks(parameters, tasks, solve(program, tol=1e-9))
    >>> model.coefficients.round(6), round(model.objective, 6)
    (array([[0.8, 0.2]]), -0.4)
    """
    problem = TaskProblem(np.arange(parameters.own.size), parameters)
    return program_of(problem, operator, problem.terms(weights, {DOMAIN: tasks}))


def augmented_rows(X: Array, tasks: Array, own: Array) -> Array:
    """Return rows in which all tasks share one weight vector, as in Theorem 6 of UOCT-SVM.

    A row of task ``t`` becomes itself, followed by one block for each task, of zeros but for its
    own, ``x / sqrt(m_t)``. The inner products of such rows are ``(1 + [t = h] / m_t) x'x``, so that
    a linear kernel of them is the kernel of `tasks_program`: the weights ``w_0 + v_t`` are one
    vector there. The paper's equations (33) to (36) apply any kernel to these rows, with
    ``m_t = C_t / K``. For a kernel that is not linear this is another model: it depends on the
    origin, and kernel values between tasks are small. To shift a row, shift it before it is
    augmented: most vectors of the augmented space belong to no row.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows of all tasks.
    tasks : ndarray of int of shape (n,)
        Task of each row, from 0.
    own : ndarray of shape (n_tasks,)
        ``m_t``, as in `TaskParameters`.

    Returns
    -------
    ndarray of shape (n, (n_tasks + 1) d)
        The augmented rows.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.reductions import augmented_rows
    >>> augmented_rows(np.array([[1.0], [3.0]]), np.array([0, 1]), own=np.array([0.25, 1.0]))
    array([[1., 2., 0.],
           [3., 0., 3.]])
    """
    blocks = np.where(tasks[:, None] == np.arange(own.size), 1.0 / np.sqrt(own), 0.0)
    return np.concatenate([X, (blocks[:, :, None] * X[:, None, :]).reshape(len(X), -1)], axis=1)


def read_tasks(parameters: TaskParameters, tasks: Array, solution: Solution) -> TasksModel:
    """Return the model of a solution; offsets, order statistics of scores, are the caller's."""
    scale = parameters.scale
    support = np.flatnonzero(solution.alpha)
    return TasksModel(
        support=support,
        coefficients=parameters.mixing[:, tasks[support]] * (solution.alpha[support] / scale),
        scores=solution.gradient / scale,
        objective=solution.primal_objective / scale / scale,
    )
