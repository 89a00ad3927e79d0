"""One-class transfer with uncertain data: the paper's Tables 2 to 4, its noise and C studies."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import f1_score
from sklearn.metrics.pairwise import euclidean_distances

from papers._experiment import (
    QUICK,
    UNTUNED,
    WHOLE,
    Experiment,
    Outcome,
    Paper,
    Record,
    both_protocols,
    fixed,
)
from papers._figures import along_settings, running_times
from papers._printed import printed_figures
from papers._results import BEST_OF_GRID, FIXED, Figure, Table
from papers._uoct_protocol import (
    AS_IN_TABLE_2,
    AS_PRINTED,
    AUGMENTED,
    BALANCE,
    NOISY,
    PARAMETERS,
    SPLIT,
    TABLE_2,
    TABLE_3,
    TABLE_4,
    TEXTS,
    UOC_AS_PRINTED,
)
from papers.data import ONE_CLASS_TASKS, load_one_class_task
from scarce import UOCTSVM, ScarceDataWarning, TransferOneClassSVM, UnrelatedSourceWarning
from scarce.datasets import add_noise
from scarce.reductions import augmented_rows

Array = NDArray[Any]
Accepts = Callable[[Array], Array]

ENDLESS = 1e9  # a coupling so strong that all tasks share one plane

FOUR = ("UOCT-SVM", "UOC-SVM", "TLOC-SVM", "OC-SVM")  # in the paper's order


@dataclass(frozen=True)
class Column:
    """What a column of the tables is."""

    sources: bool
    """With the sources, or the target alone."""
    radius: Any
    hard: bool = False
    """The printed C of 0.1 and 1, which allow no rejected training row of the target."""
    printed: bool = False
    """The algorithm as printed: offset of the shifted rows, shifts not safeguarded."""
    augmented: bool = False
    """The kernel of equations (33) to (36)."""


COLUMNS = {
    "UOCT-SVM": Column(True, "knn"),
    "UOC-SVM": Column(False, "knn"),
    "TLOC-SVM": Column(True, 0.0),
    "OC-SVM": Column(False, 0.0),
    AS_PRINTED: Column(True, "knn", hard=True, printed=True),
    UOC_AS_PRINTED: Column(False, "knn", hard=True, printed=True),
    "TLOC-SVM, C = 1": Column(True, 0.0, hard=True),
    "OC-SVM, C = 1": Column(False, 0.0, hard=True),
    AUGMENTED: Column(True, 0.0, hard=True, augmented=True),
}
ADVISED = "scarce, as it advises"
METHODS = (*COLUMNS, UNTUNED, ADVISED)
# The paper's four with its own C, whose grids are the smallest, and the library's.
QUICK_METHODS = (AS_PRINTED, UOC_AS_PRINTED, "TLOC-SVM, C = 1", "OC-SVM, C = 1", UNTUNED)
NU = 0.1  # the estimators' default
NUS = (NU, 0.5, 0.0)  # 0: no training row is rejected, C_target = 1
WIDTHS = tuple(4.0**k for k in (2, 1, 0, -1, -2))  # narrow kernels first
WIDER = tuple(4.0**k for k in (-3, -4, -5))  # of hard margins, too
FACTORS = (0.1, 0.2, 0.3, 0.5, 1.0)  # of the radii of the rule, with the offset as printed
RATIO = 10.0  # C_target / C_source, as the paper recommends
C_SOURCE, C_TARGET = 0.1, 1.0  # the paper's best
TAUS = tuple(2.0**k for k in range(-10, 11))  # the paper's widths
WHOLE_C = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)  # ... and of its C from 0 to 1000
MAX_SOURCE = 300
N_FOLDS = 2
NOISE = 0.4
LEVELS = (0.2, 0.4, 0.6, 0.8, 1.0)
PRICES = (0.01, 0.1, 1.0, 10.0, 100.0)
TOL = 1e-5  # scores of wide kernels differ by less than the default


@dataclass(frozen=True, eq=False)
class Problem:
    """The rows of one cell."""

    target: Array
    source: Array
    domain: Array
    """Domain of each source row."""
    test: Array
    is_target: Array
    clean: float
    """Share of training rows without added noise, known to the rules; at least a half."""
    unit: float
    """1 / median squared distance of the target's training rows: the unit of gamma."""


def compare(
    seed: int,
    task: str,
    noise: float,
    data: str,
    grid: str = QUICK,
    methods: Sequence[str] = METHODS,
) -> list[Outcome]:
    """Run the methods on one draw of a sub-dataset."""
    problem = draw(seed, task, noise)
    outcomes = []
    for method in methods:
        if method in (UNTUNED, ADVISED):
            outcomes += fixed(method, partial(_untuned, problem, advised=method == ADVISED))
            continue
        attempt = Attempt(problem, method)
        outcomes += both_protocols(method, _grid(problem, method, noise, grid), attempt)
        # Without a choice: told how many rows are disturbed, or all as printed.
        chosen: dict[str, Any] = {"width": 1.0}
        if not COLUMNS[method].hard:
            chosen["nu"] = _nu_of(noise)
        outcomes += fixed(method, partial(attempt.tested, **chosen), **chosen)
    return outcomes


PRICED = ("UOCT-SVM", "TLOC-SVM", AS_PRINTED)


def prices(
    seed: int,
    task: str,
    C_source: float,
    C_target: float,
    data: str,
    grid: str = QUICK,
    methods: Sequence[str] = PRICED,
) -> list[Outcome]:
    """Run the transfer methods with given C, over the widths (and the factors of radii)."""
    problem = draw(seed, task, NOISE)
    outcomes = []
    for method in methods:
        points = _grid(
            problem, AS_PRINTED if method == AS_PRINTED else "TLOC-SVM, C = 1", 0.0, grid
        )
        attempt = Attempt(problem, method, C_source, C_target)
        outcomes += both_protocols(method, points, attempt)
    return outcomes


def draw(seed: int, task: str, noise: float) -> Problem:
    """Draw the paper's split, no more than `MAX_SOURCE` rows of a source, and disturb it."""
    X, label, spread = _rows(ONE_CLASS_TASKS[task].dataset)
    split = ONE_CLASS_TASKS[task].split(label, random_state=seed, max_source=MAX_SOURCE)
    rows = X[split.train]
    if noise:
        rows = add_noise(rows, random_state=[seed, 1], share=noise, spread=spread).X
    n_source = len(rows) - split.target.size
    target = rows[n_source:]
    distances = euclidean_distances(target, squared=True)[np.triu_indices(len(target), 1)]
    return Problem(
        target,
        rows[:n_source],
        split.sample_domain[:n_source],
        X[split.test],
        split.is_target,
        clean=max(1.0 - noise, 0.5),
        unit=1.0 / float(np.median(distances)),
    )


@lru_cache
def _rows(dataset: str) -> tuple[Array, Array, Array]:
    """Return rows, labels and spread of the features; the tasks of a data set share them."""
    task = next(name for name, line in ONE_CLASS_TASKS.items() if line.dataset == dataset)
    X, label = load_one_class_task(task)
    return X, label, X.std(axis=0)


def _grid(problem: Problem, method: str, noise: float, grid: str) -> list[dict[str, Any]]:
    """Return what both protocols choose from."""
    column = COLUMNS[method]
    widths: Sequence[float] = (*WIDTHS, *WIDER) if column.hard and not column.printed else WIDTHS
    if grid == WHOLE:
        widths = [1.0 / (2.0 * tau**2 * problem.unit) for tau in TAUS]
    if column.printed:
        return [{"width": w, "factor": factor} for factor, w in product(FACTORS, widths)]
    if column.hard:
        return [{"width": w} for w in widths]
    if grid == WHOLE:
        return [{"width": w, "C": C} for C, w in product(WHOLE_C, widths)]
    nus = dict.fromkeys([*NUS[:1], _nu_of(noise), *NUS[1:]])  # each once, in this order
    return [{"width": w, "nu": nu} for nu, w in product(nus, widths)]


def _nu_of(noise: float) -> float:
    """Return the proportion of rows to reject when it is known to be noisy."""
    return min(round(NU + noise, 3), 0.5)


class Attempt:
    """Fits one method and scores it, on the test rows and by a criterion that needs no label.

    The criterion is that of Lee and Liu (2003), recall squared over the proportion of
    unlabelled rows
    accepted, which orders boundaries as precision times recall does. The unlabelled rows are the
    test rows; recall is that of held-out target rows, of which only the clean ones must be in.
    """

    def __init__(
        self,
        problem: Problem,
        method: str,
        C_source: float | None = None,
        C_target: float | None = None,
    ) -> None:
        self.problem = problem
        self.method = method
        self.prices = (C_source, C_target)

    def __call__(self, **parameters: Any) -> tuple[float, dict[str, float]] | None:
        """Return the criterion and F; None where C is infeasible."""
        problem = self.problem
        if "C" in parameters and parameters["C"] * (len(problem.target) // N_FOLDS) < 1.0:
            return None
        criteria = []
        # The rows are in random order.
        for fold in np.array_split(np.arange(len(problem.target)), N_FOLDS):
            accepts = self._fitted(**parameters, without=fold)
            recall = min(1.0, float(accepts(problem.target[fold]).mean()) / problem.clean)
            share = float(accepts(problem.test).mean())
            criteria.append(recall**2 / share if share else 0.0)
        return float(np.mean(criteria)), self.tested(**parameters)

    def tested(self, **parameters: Any) -> dict[str, float]:
        """Return F of the target class on the test rows."""
        return _f1(self.problem, self._fitted(**parameters)(self.problem.test))

    def _fitted(
        self,
        width: float,
        nu: float = 0.0,
        C: float | None = None,
        factor: float = 1.0,
        without: Any = (),
    ) -> Accepts:
        problem, column = self.problem, COLUMNS[self.method]
        target = np.delete(problem.target, without, axis=0)
        rows, domain = target, np.full(len(target), -1)
        if column.sources:
            rows = np.concatenate([problem.source, target])
            domain = np.concatenate([problem.domain, domain])
        C_source, C_target = self._prices(nu, C, len(target))
        if column.augmented:
            return _augmented(rows, domain, width * problem.unit, C_source, C_target)
        model = UOCTSVM(
            C_source=C_source,
            C_target=C_target,
            gamma=width * problem.unit,
            radius=column.radius,
            radius_scale=factor,
            offset="shifted" if column.printed else "original",
            safeguard=not column.printed,
            tol=TOL,
        )
        _fit(model, rows, domain)
        return lambda rows: np.asarray(model.predict(rows) > 0)

    def _prices(self, nu: float, C: float | None, n: int) -> tuple[float, float]:
        """Return C of source and target for n target rows."""
        C_source, C_target = self.prices
        smallest = 1.0 / int(np.bincount(self.problem.domain).min())
        if C_source is not None and C_target is not None:
            # The same proportion of rejected rows, though some rows are held out.
            return max(C_source, smallest), C_target * len(self.problem.target) / n
        if COLUMNS[self.method].hard:
            return max(C_SOURCE, smallest), C_TARGET
        C_target = C or (1.0 / (nu * n) if nu else 1.0)
        return max(C_target / RATIO, smallest), C_target


def _fit(model: Any, rows: Array, domain: Array) -> None:
    """Fit with every source, whether or not it is like the target: the protocol takes them all."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnrelatedSourceWarning)
        model.fit(rows, sample_domain=domain)


def _augmented(rows: Array, domain: Array, gamma: float, C_source: float, C_target: float) -> Any:
    """Fit TLOC-SVM with the kernel of (33) to (36): the RBF kernel of augmented vectors.

    All tasks share one weight vector there, which is what a coupling without end means.
    """
    names = [*dict.fromkeys(domain[domain >= 0].tolist()), -1]
    own = np.array([C_source] * (len(names) - 1) + [C_target]) / len(names)

    def augmented(rows: Array, domain: Array) -> Array:
        return augmented_rows(rows, np.array([names.index(name) for name in domain]), own)

    sizes = {name: int((domain == name).sum()) for name in names}
    model = TransferOneClassSVM(
        nu=1.0 / max(1.0, C_target * sizes[-1]),
        source_nu=1.0 / max(1.0, C_source * min(sizes[name] for name in names[:-1])),
        coupling=ENDLESS,
        source_coupling=ENDLESS,
        gamma=gamma,
        radius=0.0,
        offset="original",
        relation="keep",
        tol=TOL,
    )
    _fit(model, augmented(rows, domain), domain)
    return lambda rows: model.predict(augmented(rows, np.full(len(rows), -1))) > 0


def _untuned(problem: Problem, advised: bool) -> dict[str, float]:
    """Return F of the library's own machine with nothing chosen, or with what it advises."""
    rows = np.concatenate([problem.source, problem.target])
    domain = np.concatenate([problem.domain, np.full(len(problem.target), -1)])
    model = TransferOneClassSVM()
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always", ScarceDataWarning)
        model.fit(rows, sample_domain=domain)
    for warning in raised:
        advice = re.search(r"ask for false_alarms=([\d.]+)", str(warning.message))
        if advised and advice:
            model.set_params(false_alarms=float(advice[1])).fit(rows, sample_domain=domain)
        elif not advised:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    return _f1(problem, model.predict(problem.test) > 0)


def _f1(problem: Problem, accepted: Array) -> dict[str, float]:
    return {"f1": 100.0 * float(f1_score(problem.is_target, accepted, zero_division=0.0))}


def _setting(task: str, noise: float) -> dict[str, Any]:
    return {"task": task, "noise": noise, "data": _data(task)}


def _data(task: str) -> str:
    return ONE_CLASS_TASKS[task].dataset.split(".")[0]


STUDIED = (
    "RT.orgs(1)",
    "RT.people(1)",
    "RT.place(1)",
    "MR.edible(1)",
    "MR.poisonous(2)",
    "NG.os",
    "NG.hockey",
    "NG.crypt",
)


def _draw_times(table: Table, records: list[Record]) -> tuple[Figure, ...]:
    # Figures of the other protocols contain their cross-validation.
    plain = [record for record in records if record.outcome.protocol == FIXED]
    return (running_times(table, plain, f"{table.key}-times"),)


def _draw_noise(table: Table, records: list[Record]) -> tuple[Figure, ...]:
    figures = []
    for task in STUDIED:
        places = {_level(task, level): 100.0 * level for level in LEVELS}
        if any(setting in places for setting in table.settings):
            figures.append(
                along_settings(
                    table,
                    key=f"noise-{task}",
                    title=f"{task}: F as more rows are noisy",
                    x=places,
                    x_label="noisy training rows, %",
                    metric="f1",
                    protocol=BEST_OF_GRID,
                )
            )
    return tuple(figures)


def _draw_prices(table: Table, records: list[Record]) -> tuple[Figure, ...]:
    return tuple(
        along_settings(
            table,
            key=f"price-{varied}",
            title=f"F along {varied}",
            x=places,
            x_label=f"{varied} ({rest})",
            metric="f1",
            protocol=BEST_OF_GRID,
            log_x=True,
        )
        for varied, rest, places in (
            ("C_source", "C_target = 1", {_pair(C, 1.0): C for C in PRICES}),
            ("C_target", "C_source = 0.1", {_pair(0.1, C): C for C in PRICES}),
        )
    )


def _level(task: str, level: float) -> str:
    return f"{task}, {100 * level:.0f} % noisy"


def _pair(C_source: float, C_target: float) -> str:
    return f"C_source = {C_source:g}, C_target = {C_target:g}"


F1 = {"f1": "F of the target class, %"}
_study = partial(Experiment, metrics=F1, reference="UOCT-SVM", repetitions=10, quick_repetitions=1)


def _comparison(
    key: str, title: str, caption: str, tasks: tuple[str, ...], noise: float, quick: tuple[str, ...]
) -> Experiment:
    return _study(
        key=key,
        title=title,
        caption=caption,
        methods=METHODS,
        settings={task: _setting(task, noise) for task in tasks},
        run=compare,
        quick_settings=quick,
        quick_methods=QUICK_METHODS,
        printed=printed_figures("uoct", tasks, METHODS, F1),
        draw=_draw_times,
    )


PAPER = Paper(
    "uoct",
    "One-class transfer learning with uncertain data (UOCT-SVM)",
    "Y. Xiao, B. Liu, P. S. Yu, Z. Hao: A robust one-class transfer learning method with uncertain "
    "data. Knowledge and Information Systems, 2014.",
    (
        _comparison(
            "one-source",
            "Table 2: one source task, 40 % noisy rows",
            f"{SPLIT}; {BALANCE}. {NOISY} {TEXTS} Reuters: a document belongs to the rarest of its "
            "top categories, whose sub-categories are dealt to two halves of similar size. "
            "Mushroom: one-hot without stalk-shape; negatives are of the other class and the same "
            f"shape. {PARAMETERS}",
            TABLE_2,
            NOISE,
            ("MR.edible(1)",),
        ),
        _comparison(
            "several-sources",
            "Table 3: several source tasks, 40 % noisy rows",
            f"{SPLIT}; {BALANCE}, drawn from the other top categories. {NOISY} {TEXTS} Headers "
            f"are removed. {AS_IN_TABLE_2}",
            TABLE_3,
            NOISE,
            ("NG.os",),
        ),
        _comparison(
            "uncertain",
            "Table 4: data that are uncertain as they are",
            f"{SPLIT}. No noise is added. Isolet: 300 negatives of letters outside the pair, as in "
            "the paper. LDPA: not the original data but a copy with coordinates cut to one decimal "
            "and without time stamps, every tenth row; a person's normal records, source another "
            "person drawn at random, negatives all abnormal records of the person: not results on "
            f"LDPA. {AS_IN_TABLE_2}",
            TABLE_4,
            0.0,
            ("LDPA(1)",),
        ),
        _study(
            key="noise",
            title="Noise study",
            caption="As Tables 2 and 3 with 20 to 100 % of the training rows noisy. "
            f"{AS_IN_TABLE_2} The paper prints curves without figures.",
            methods=METHODS,
            settings={
                _level(task, level): _setting(task, level) for task in STUDIED for level in LEVELS
            },
            run=compare,
            quick_settings=tuple(_level("MR.edible(1)", level) for level in (0.2, 1.0)),
            quick_methods=QUICK_METHODS,
            draw=_draw_noise,
        ),
        _study(
            key="prices",
            title="C of source and target: MR.edible(1)",
            caption="As Table 2 with the paper's parameters C given and only the width chosen. "
            "Selected: as in Table 2. The paper reports C_source = 0.1 and C_target = 1 as best, "
            "without figures.",
            methods=PRICED,
            settings={
                _pair(*pair): {
                    "task": "MR.edible(1)",
                    "C_source": pair[0],
                    "C_target": pair[1],
                    "data": "mushroom",
                }
                for pair in [*((C, 1.0) for C in PRICES), *((0.1, C) for C in PRICES if C != 1.0)]
            },
            run=prices,
            quick_settings=(_pair(0.1, 1.0), _pair(0.1, 0.01)),
            draw=_draw_prices,
        ),
    ),
)
