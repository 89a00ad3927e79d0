"""Fits over rows in chunks: what the estimators whose fits can go by bands share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scarce._arrays import Array
from scarce._frame import NOT_FINITE, check_total_weight, fit_task
from scarce.chunks import (
    BandSolution,
    Chunks,
    LinearFeatures,
    Part,
    Start,
    Survey,
    as_chunks,
    band_fit,
    landmark_features,
    refined_start,
    smoothed_start,
    solved_start,
    survey,
    take,
)
from scarce.chunks._dask import DaskChunks
from scarce.chunks._features import Features
from scarce.chunks._memory import larger_rows, solved_rows
from scarce.chunks._passes import Hyperplanes
from scarce.chunks._smooth import first_window, narrow
from scarce.chunks._survey import row_numbers
from scarce.kernels import Kernel, make_kernel
from scarce.reductions import Problem
from scarce.solvers import QuadraticProgram, Solution, one_class_offset

BAND_CACHE = 32.0  # MB for kernel values of a band, which are products of few features
MANY_BAND = 50_000  # rows of a band that Newton's method makes fewer first
FIRST_WINDOW = 0.1  # of a margin, around which all rows are first looked at
LARGER_PART = 10  # at most the tenth part of all rows is gathered


@dataclass(frozen=True)
class Plan:
    """What is known before the first solve."""

    chunks: Chunks  # the rows
    survey: Survey  # what one read found
    kernel: Kernel  # its parameters numbers
    features: Features  # of the rows
    landmarks: Part | None  # the landmark rows, unless the kernel is linear
    numbers: Array  # their numbers
    sample: Part  # the subsample, in random order
    stands_for: Array  # (n_sample,): how many rows each of its rows stands for
    larger: Part | None  # a larger one of very many rows, that Newton's method may narrow a band by
    most_rows: int  # rows of a band

    @property
    def shape(self) -> tuple[int, int]:
        """Of all rows."""
        return sum(self.chunks.sizes), self.chunks.n_features

    @property
    def diagonal(self) -> Array:
        """The kernel's diagonal, of the subsample."""
        rows = np.asarray(self.sample.X, dtype=np.float64)
        return self.kernel.diagonal(np.einsum("ij,ij->i", rows, rows))

    @property
    def largest(self) -> float:
        """Its largest absolute value."""
        return float(np.abs(self.diagonal).max())

    def offsets(self, solution: BandSolution, problem: Problem, rejected: Array) -> Array:
        """Return the order statistic of every group's scores, which lies in the band.

        ``rejected`` is the proportion of every group's weight below it; of all weight it is the
        last score.
        """
        terms, offsets = solution.band.terms, -solution.multipliers
        for group, wanted in enumerate(problem.totals - solution.settled):
            own = terms.groups == group
            if rejected[group] >= 1.0:
                offsets[group] = solution.highest[group]
            elif 0.0 < wanted <= float(terms.upper[own].sum()):
                upper = terms.upper[own]
                offsets[group] = one_class_offset(solution.scores[own], 1.0 / wanted, upper)
        return np.asarray(offsets)

    def expansion(self, terms: Array, order: Array | None = None) -> tuple[Array, Array, Array]:
        """Return numbers, rows and coefficients of a sum over landmarks, in some order.

        Of a linear kernel ``terms`` is a weight vector, which is then the only row.
        """
        if self.landmarks is None:
            return np.zeros(0, np.int32), np.atleast_2d(terms), np.ones((1, 1))
        order = np.arange(terms.size) if order is None else order
        kind = np.int32 if self.shape[0] < 2**31 else np.int64
        return self.numbers[order].astype(kind), self.landmarks.X[order], terms[None, order]


def _is_explicit(estimator: Any) -> bool:
    return bool(estimator._kernel_type.explicit) and estimator.approximation is None


def opened(estimator: Any, X: Any, **values: Any) -> Chunks:
    """Return rows as chunks, after a look at whether the estimator can be fitted by them."""
    chunks = as_chunks(X, **values)
    if not _is_explicit(estimator) and estimator.approximation is None:
        n, d = sum(chunks.sizes), chunks.n_features
        raise ValueError(
            f"kernel={estimator.kernel!r} without approximation needs all rows in memory, "
            f"{1e-6 * n * d * chunks.dtype.itemsize:.0f} MB for {n} rows of {d} features and about "
            f"{3e-4 * n:.0f} MB in addition. Rows in chunks are fitted with "
            'approximation="nystroem" or kernel="linear"'
        )
    if isinstance(chunks, DaskChunks):
        chunks.check_workers()
    return chunks


def surveyed(chunks: Chunks, by: str = "y") -> Survey:
    """Read all rows once, and refuse what cannot be fitted."""
    found = survey(chunks, by)
    check_total_weight(found.weight)
    if found.largest > np.sqrt(np.finfo(np.float64).max / (4 * found.width)):
        raise ValueError(f"{NOT_FINITE} X holds {found.largest:.3g}, and its square overflows.")
    return found


def planned(
    estimator: Any, chunks: Chunks, strata: str | None = None, *, bands: bool = True
) -> Plan:
    """Read all rows once, settle the kernel and gather landmarks and a subsample.

    ``strata`` names a value of the rows; the subsample then holds rows of each of its values, all
    of a rare one. ``bands``: whether a band fit follows, for which more rows may be gathered.
    """
    found = surveyed(chunks, "y" if strata is None else strata)
    kernel = make_kernel(estimator.kernel, estimator.gamma, estimator.degree, estimator.coef0)
    kernel = settled_kernel(kernel, found)
    explicit = _is_explicit(estimator)
    n = int(found.taking.sum())
    places = np.zeros(0, np.int64) if explicit else estimator._choose_landmarks(n)
    rank = chunks.n_features if explicit else places.size
    n_sample, most_rows = solved_rows(chunks, LinearFeatures(rank), estimator.max_memory)
    own = row_numbers(chunks, found.taking, places)
    n_drawn = n_sample
    if bands and strata is None:
        n_drawn = max(n_sample, min(n // LARGER_PART, larger_rows(chunks, estimator.max_memory)))
    drawn, stands_for = _drawn(chunks, found, n_drawn, strata)
    wanted, back = np.unique(np.concatenate([own, drawn]), return_inverse=True)
    gathered = take(chunks, wanted)
    landmarks = None if explicit else gathered.rows(back[: own.size])
    features: Features = LinearFeatures(chunks.n_features)
    if landmarks is not None:
        features = landmark_features(kernel, landmarks.X)
    larger = gathered.rows(back[own.size :])
    if n_drawn == n_sample:
        sample, more = larger, None
    else:
        sample, more = larger.rows(np.arange(n_sample)), larger
        stands_for = stands_for[:n_sample] * (stands_for.size / n_sample)
    return Plan(
        chunks, found, kernel, features, landmarks, own, sample, stands_for, more, most_rows
    )


def _drawn(chunks: Chunks, found: Survey, n_sample: int, strata: str | None) -> tuple[Array, Array]:
    """Return the numbers of random rows, in random order, and how many rows each stands for."""
    random = np.random.default_rng(0)
    if strata is None:
        n = int(found.taking.sum())
        drawn = random.choice(n, min(n, n_sample), replace=False)
        order = np.argsort(drawn, kind="stable")
        numbers = np.empty(drawn.size, np.int64)
        numbers[order] = row_numbers(chunks, found.taking, drawn[order])
        return numbers, np.full(drawn.size, n / drawn.size)
    parts, left = [], n_sample
    sizes = found.members.sum(axis=0)
    for done, stratum in enumerate(np.argsort(sizes, kind="stable")):  # the rare ones first
        n = int(sizes[stratum])
        drawn = np.sort(random.choice(n, min(n, left // (sizes.size - done)), replace=False))
        left -= drawn.size
        if drawn.size:
            among = strata, found.classes[stratum]
            numbers = row_numbers(chunks, found.members[:, stratum], drawn, among)
            parts.append((numbers, np.full(drawn.size, n / drawn.size)))
    numbers, stands_for = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = random.permutation(numbers.size)
    return numbers[order], stands_for[order]


def settled_kernel(kernel: Kernel, found: Survey) -> Kernel:
    """Return a kernel with the number that its `gamma` is for surveyed rows."""
    gamma = kernel.parameter("gamma")
    if not isinstance(gamma, str):
        return kernel
    if gamma == "neighbors":
        raise ValueError(
            'gamma="neighbors" compares rows with all others and needs them in memory; for rows '
            'in chunks use gamma="scale", "auto", or the number that a sample of the rows gives'
        )
    number = 1.0 / found.width if gamma == "auto" else kernel.scale(found.scale, found.width)
    return replace(kernel, gamma=number)  # type: ignore[type-var]


def solved_by_bands(
    estimator: Any, plan: Plan, problem: Problem, masses: Array, *, smoothed: bool = False
) -> BandSolution:
    """Solve a problem over all rows.

    ``estimator``: whose solver, tolerance and callbacks are used. ``masses``: sum of the bounds of
    each group's rows. ``smoothed``: whether to begin with Newton's method on the smoothed problem,
    for linear terms.
    """
    terms, rows = (
        problem.terms(plan.sample.weights, plan.sample.values),
        plan.features.rows(plan.sample.X),
    )
    with fit_task(estimator) as task:

        def solver(program: QuadraticProgram, start: Array | None, tol: float) -> Solution:
            memory = min(BAND_CACHE, estimator.cache_size)
            return estimator._solve(  # type: ignore[no-any-return]
                program, start, task, tol=tol, cache_size=memory
            )

        if smoothed:
            start = smoothed_start(problem, rows, terms, masses)
            start = replace(start, widths=np.maximum(start.widths, FIRST_WINDOW))
        else:
            start = solved_start(problem, rows, terms, masses, solver, estimator.tol)
        start, reads = _narrowed(plan, problem, masses, start, smoothed=smoothed)
        report = _printer(estimator) if estimator.verbose else None
        solution = band_fit(
            plan.chunks,
            problem,
            plan.features,
            start,
            solver,
            tol=estimator.tol,
            most_rows=plan.most_rows,
            report=report,
        )
    # The survey and the gathered rows were a read each.
    return replace(solution, reads=solution.reads + reads + 2)


def _printer(estimator: Any) -> Any:
    name = type(estimator).__name__
    return lambda line: print(f"[{name}] {line}", flush=True)


def _narrowed(
    plan: Plan, problem: Problem, masses: Array, start: Start, *, smoothed: bool
) -> tuple[Start, int]:
    """Return a start whose band is not too large, and how often all rows were read for it.

    Newton's method comes to it on a larger sample, if there is one, and then on all rows if it
    must.
    """
    most = min(MANY_BAND, plan.most_rows)
    # How far off Newton's method is on the subsample alone, nothing has told.
    if not smoothed and _band_rows(plan, problem, start) <= most:
        return start, 0
    window = first_window(start.widths)
    if plan.larger is not None:
        start, window = refined_start(
            plan.larger, problem, plan.features, masses, start, widths=not smoothed
        )
        if not smoothed and _band_rows(plan, problem, start) <= most:
            return start, 0
    found = narrow(
        plan.chunks,
        problem,
        plan.features,
        (start.vectors, start.multipliers),
        window,
        # A band of a hinge's rows is dear to solve, and worth another read.
        few=0 if smoothed else most // 2,
    )
    widths = np.full(start.widths.size, 2.0 * found.window)
    return Start(found.vectors, found.multipliers, widths, abs(found.value)), found.reads


def _band_rows(plan: Plan, problem: Problem, start: Start) -> float:
    """Return about how many rows a band has, by the subsample."""
    terms = problem.terms(plan.sample.weights, plan.sample.values)
    model = Hyperplanes(plan.features.to_raw(start.vectors), start.multipliers)
    s = model.reduced(plan.features.raw(plan.sample.X), terms)
    inside = np.abs(s) <= start.widths[terms.groups]
    return float(plan.stands_for[inside].sum())
