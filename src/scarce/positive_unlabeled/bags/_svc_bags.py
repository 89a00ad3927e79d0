"""Bags of C-SVMs on parts of the same rows, and the mean of their models as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._frame import NOT_FINITE, FitTask, run_solver
from scarce._kernel_machine import check_sums
from scarce.kernels import Kernel, StoredOperator, make_operator, weighted_scores
from scarce.positive_unlabeled.bags._design import Design, Part
from scarce.positive_unlabeled.bags._out_of_bag import HeldOutSums, OutOfBag
from scarce.positive_unlabeled.rows._row_source import RowSource
from scarce.reductions import MarginModel, c_svc_program, read_c_svc
from scarce.solvers import QuadraticProgram, Solution, solve, solve_many

AT_ONCE = 64  # programs in memory: each may have a copy of its rows


@dataclass(frozen=True)
class Answer:
    """The model of a part; ``scores`` are decisions on all its rows."""

    model: MarginModel
    solution: Solution
    scores: Array


@dataclass(frozen=True)
class MeanModel:
    """The mean of some models as one sum over rows: numbers of rows, coefficients, constant."""

    rows: Array
    coefficients: Array
    intercept: float

    def scores(self, source: RowSource, indices: Array, kernel: Kernel) -> Array:
        """Return the decisions of some rows, block by block."""
        if self.rows.size == 0:
            return np.full(indices.size, self.intercept)
        seen = source.against(self.rows)
        if kernel.pairwise:
            return seen.scores(indices, lambda block: block @ self.coefficients) + self.intercept
        support = source.gather(self.rows)
        found = seen.scores(
            indices, lambda block: weighted_scores(block, support, self.coefficients, kernel)
        )
        return np.asarray(found + self.intercept)


@dataclass(frozen=True)
class Programs:
    """Solve parts of the rows of one fit."""

    source: RowSource  # all rows
    # tol, max_iter, cache_size: of the solver
    tol: float
    max_iter: int
    cache_size: float

    def answers(self, parts: Sequence[Part], kernel: Kernel, task: FitTask) -> list[Answer]:
        """Return the model of every part. All share one preparation of the rows in use."""
        used = np.unique(np.concatenate([part.rows for part in parts]))
        # Of a kernel matrix these rows and columns.
        base = make_operator(self.source.against(used).gather(used), kernel)
        check_sums(base, kernel)
        operator = StoredOperator.shared(base, [part.rows.size for part in parts], self.cache_size)
        found: list[Answer] = []
        for first in range(0, len(parts), AT_ONCE):
            some = parts[first : first + AT_ONCE]
            programs = [
                c_svc_program(
                    operator.subset(np.searchsorted(used, part.rows)), part.signs, part.costs
                )
                for part in some
            ]
            solutions = self._solved(programs, task)
            models = list(map(read_c_svc, programs, solutions))
            found += map(_answer, models, solutions)
        return found

    def _solved(self, programs: list[QuadraticProgram], task: FitTask) -> list[Solution]:
        settings: dict[str, Any] = {
            "tol": self.tol,
            "max_iter": self.max_iter,
            "cache_size": self.cache_size,
        }
        if not task.heard:
            with np.errstate(over="ignore", invalid="ignore"):  # found by who reads them
                return solve_many(programs, **settings)
        return [
            run_solver(task.part("bag", None), partial(_told, program=program, settings=settings))
            for program in programs
        ]


def _told(report: Any, *, program: QuadraticProgram, settings: dict[str, Any]) -> Solution:
    return solve(program, callback=report, **settings)


def _answer(model: MarginModel, solution: Solution) -> Answer:
    scores = model.scores + model.intercept
    if not (np.isfinite(model.coefficients).all() and np.isfinite(scores).all()):
        raise ValueError(NOT_FINITE)
    return Answer(model, solution, scores)


def mean_model(parts: Sequence[Part], answers: Sequence[Answer]) -> MeanModel:
    """Return the mean of the models as one: coefficients of a row are added."""
    rows, which = np.unique(np.concatenate([part.rows for part in parts]), return_inverse=True)
    added = np.bincount(which, np.concatenate([each.model.coefficients for each in answers]))
    support = np.flatnonzero(added)
    intercept = float(np.mean([each.model.intercept for each in answers]))
    return MeanModel(rows[support], added[support] / len(answers), intercept)


@dataclass(frozen=True)
class SVCBags:
    """Bags of C-SVMs with one kernel."""

    programs: Programs
    kernel: Kernel

    def fitted(self, design: Design, parts: Sequence[Part], task: FitTask) -> SVCOutOfBag:
        """Fit the bags."""
        answers, source = self.programs.answers(parts, self.kernel, task), self.programs.source
        sums = HeldOutSums(source.shape[0])
        for part, answer in zip(parts, answers, strict=True):
            held = part.costs == 0
            sums.add(part.rows[held], answer.scores[held])
        means = sums.means()
        return SVCOutOfBag(
            design,
            means[design.positives.rows],
            means[design.negatives.rows],
            bags=self,
            parts=parts,
            answers=answers,
            model=mean_model(parts, answers),
            means=means,
        )


@dataclass(frozen=True)
class SVCOutOfBag(OutOfBag):
    """The solved programs of one kernel."""

    bags: SVCBags  # where they come from
    # parts, answers: the programs
    parts: Sequence[Part]
    answers: Sequence[Answer]
    model: MeanModel  # the mean of all models
    means: Array  # scores of rows that are in parts without being trained on, the mean over these

    def unlabelled(self, some: Array) -> Array:
        """Return the score of unlabelled rows, by number in their pool.

        They are in few bags: what is computed is the mean of all models, once, and the models of
        the bags that a row is in are taken out of it.
        """
        source = self.bags.programs.source
        rows, n_rows = self.design.unlabelled.rows[some], source.shape[0]
        if not self.design.n_bags and self.design.unlabelled.n > 1:
            return np.asarray(self.means[rows])
        inside, times = np.zeros(n_rows), np.zeros(n_rows)
        for part, answer in zip(self.parts, self.answers, strict=True):
            trained = np.flatnonzero(part.costs)
            which, first = np.unique(part.rows[trained], return_index=True)
            inside[which] += answer.scores[trained[first]]
            times[which] += 1.0
        everywhere = self.model.scores(source, rows, self.bags.kernel)
        n = len(self.parts)
        left = n - times[rows]
        without = (n * everywhere - inside[rows]) / np.maximum(left, 1.0)
        return np.where(left > 0, without, everywhere)
