"""Transductive support vector classification (docs/theory/baselines.md)."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from scarce._arrays import Array
from scarce._frame import Interval, checked_costs, fit_frame, fit_task, keep_quality, note
from scarce.baselines._label_switching import LabelSwitching
from scarce.baselines._parameters import SHARED
from scarce.classification import BinaryMachine


class TransductiveSVM(BinaryMachine):
    """Separate two classes where few rows are labelled, through a gap among the unlabelled ones.

    The hyperplane and the labels of the unlabelled rows are chosen together, so as to make small::

        1/2 |w|^2 + C sum of slacks + C_unlabeled sum of slacks of unlabelled rows

    with a given number of unlabelled rows in each class. That is a search among labellings; what is
    found is one that no exchange of two labels by the rule below improves, not the best of all.
    Without unlabelled rows this is :class:`SVC`.

    Parameters
    ----------
    C : float, default=1.0
        Cost of one unit of slack of a labelled row.
    C_unlabeled : float or None, default=None
        The same of an unlabelled row; None means `C`.
    unlabeled : int, float, str or None, default=None
        The value in `y` that marks unlabelled rows; -1 is scikit-learn's convention for
        semi-supervised learning. None: every row is labelled, and -1 is a label like any other.
    positive_share : float or None, default=None
        Proportion of the unlabelled rows that are put into ``classes_[1]``. None means the
        proportion among the labelled rows, counted by their weights.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        The kernel.
    degree : int, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the rbf, poly and sigmoid kernels. "scale" is
        ``1 / (n_features * X.var())`` over all rows, counted by their weights.
    coef0 : float, default=0.0
        Independent term of the poly and sigmoid kernels.
    max_rounds : int, default=1000
        Largest number of rounds, each one solution of a margin problem.
    tol : float, default=1e-3
        Largest violation of the optimality conditions in a round. Labels are exchanged when their
        slacks are off by more than this.
    cache_size : float, default=200
        Memory for kernel values in MB.
    class_weight : dict, "balanced" or None, default=None
        Factors of `C` per class, for labelled rows.
    verbose : bool, default=False
        Print one line per block of variables solved.
    max_iter : int, default=-1
        Limit on the number of pairwise steps of a round; -1 for none.
    approximation : {None, "nystroem"}, default=None
        "nystroem" replaces the kernel by its projection on `n_components` random rows.
    n_components : int, default=500
        Number of rows of the approximation.
    random_state : int, RandomState instance or None, default=None
        Choice of the rows of the approximation.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; decision values are positive for the second.
    class_weight_ : ndarray of shape (2,)
        Factors of `C` per class.
    transduction_ : ndarray of shape (n_samples,)
        Labels of all training rows: those given, and those found for the unlabelled rows.
    support_ : ndarray of shape (n_SV,)
        Indices of the support vectors, those of the first class first.
    support_vectors_ : ndarray or CSR of shape (n_SV, n_features)
        Support vectors; empty for a precomputed kernel.
    n_support_ : ndarray of shape (2,)
        Number of support vectors of each class.
    dual_coef_ : ndarray or CSR of shape (1, n_SV)
        Signed multipliers.
    coef_ : ndarray or CSR of shape (1, n_features)
        Weights of the features, for a linear kernel.
    intercept_ : ndarray of shape (1,)
        Constant of the decision function.
    history_ : dict of list
        Per round: "objective", "negative_cost" and "positive_cost" of unlabelled rows, "switched"
        (pairs of labels exchanged before the round), "n_iter". The first round is that of the
        labelled rows alone. While the costs stay the same the objective falls.
    converged_ : bool
        Whether no pair was left to exchange at the full cost.
    n_rounds_ : int
        Number of rounds.
    fit_status_ : int
        0 when the tolerance was met in the last round.
    n_iter_ : int
        Pairwise steps of all rounds.
    objective_ : float
        The objective above after the last round.
    dual_gap_ : float
        Relative duality gap of the last round, for its labels.
    kkt_violation_ : float
        Violation of the optimality conditions in the last round, to be compared with `tol`.
    shape_fit_ : tuple of int
        Shape of the training data.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during fit, when they are all strings.

    See Also
    --------
    SVC : Labelled rows only.
    sklearn.semi_supervised.SelfTrainingClassifier : Labels the rows it is sure of, one by one.

    Notes
    -----
    The algorithm is that of Joachims [1]_. Labels are guessed by the model of the labelled rows.
    The costs of unlabelled rows start at 1e-5 and double up to `C_unlabeled`. At each cost, a row
    labelled positive and one labelled negative exchange their labels when both have slack and their
    slacks add up to more than 2; this lowers the objective, so that the rounds end.

    Chosen here: all pairs that qualify are exchanged in one round, the largest slacks of both sides
    first, instead of one pair a round. At a given model the gains of separate pairs add up, so that
    the objective still falls from round to round. The rounds also run at the full cost, where the
    printed loop ends one doubling earlier. An unlabelled row of weight 2 costs as much as two rows,
    but has one label.

    References
    ----------
    .. [1] T. Joachims, "Transductive inference for text classification using support vector
       machines", ICML 1999.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import TransductiveSVM
    >>> X = np.array([[0.0], [1.0], [1.5], [2.0], [5.0], [5.5], [6.0], [4.0]])
    >>> y = [0, -1, -1, -1, -1, -1, -1, 1]  # two labels; the gap is not in the middle of them
    >>> model = TransductiveSVM(kernel="linear", unlabeled=-1, C=10.0).fit(X, y)
    >>> model.transduction_
    array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> model.decision_function([[3.0]]).round(2) + 0.0
    array([0.])
    """

    _allowed_values: ClassVar[dict[str, Any]] = {
        **SHARED,
        "C_unlabeled": [Interval(Real, 0.0, None, closed="neither"), None],
        "unlabeled": [Real, str, None],
        "positive_share": [Interval(Real, 0.0, 1.0, closed="both"), None],
        "max_rounds": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        C_unlabeled: float | None = None,
        unlabeled: Any = None,
        positive_share: float | None = None,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        max_rounds: int = 1000,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool = False,
        max_iter: int = -1,
        approximation: str | None = None,
        n_components: int = 500,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.C_unlabeled = C_unlabeled
        self.unlabeled = unlabeled
        self.positive_share = positive_share
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.max_rounds = max_rounds
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.approximation = approximation
        self.n_components = n_components
        self.random_state = random_state

    @fit_frame
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find labels of the unlabelled rows and the separating surface.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            All rows, labelled or not; for a precomputed kernel, the kernel matrix.
        y : array-like of shape (n_samples,)
            Labels, two different ones, and the value `unlabeled` for unlabelled rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of the cost of a row's slack; a row of weight 0 or less takes no part.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        labelled = self._labelled(y)
        X, signs, weights = self._prepared(X, y, sample_weight, labelled)
        known = np.ones(X.shape[0], bool) if labelled is None else labelled.ravel()
        sample = self._sample(X, weights)
        rows = sample.rows
        # An infinite cost is for rows that are labelled for certain.
        goal = self.C if self.C_unlabeled is None else self.C_unlabeled
        unlabelled = np.flatnonzero(~known[rows])
        if unlabelled.size and np.isinf(goal):
            raise ValueError(
                "C=inf needs a finite C_unlabeled, the cost of slack of rows whose labels are "
                f"guessed; got C_unlabeled={self.C_unlabeled}"
            )
        checked_costs("C_unlabeled", goal, sample.weights[unlabelled])
        factors = self._row_factors(signs[rows])
        with fit_task(self) as task:
            search = LabelSwitching(
                operator=sample.operator,
                signs=signs[rows],
                costs=checked_costs("C", self.C, sample.weights * factors),
                unlabelled=unlabelled,
                weights=sample.weights[unlabelled],
                solve=lambda program, start: self._solve(program, start, task),
                room=self.tol,
                max_rounds=self.max_rounds,
            )
            n_positive = self._n_positive(signs[known], weights[known], unlabelled.size)
            self.converged_ = search.run(goal, n_positive)
        self.history_ = search.history
        self.n_rounds_ = len(search.history["objective"])
        self.n_iter_ = max(1, sum(search.history["n_iter"]))
        self.objective_ = search.model.objective
        self._keep_expansion(sample, search.signs, search.model.coefficients)
        self.intercept_ = np.array([search.model.intercept])
        signs[rows] = search.signs
        self.transduction_ = self.classes_[(signs > 0).astype(np.intp)]
        left_out = np.flatnonzero(~known & (weights == 0))
        if left_out.size:
            self.transduction_[left_out] = self.classes_[
                (self.decision_function(X[left_out]) > 0).astype(np.intp)
            ]
        keep_quality(self, [search.solution])
        if not self.converged_ and search.solution.status != "stopped":
            note(
                f"max_rounds={self.max_rounds} ended the fit before all labels were settled: "
                f"unlabelled rows cost {search.history['negative_cost'][-1]:.3g} and "
                f"{search.history['positive_cost'][-1]:.3g} in the last round, and should cost "
                f"{goal:.3g}. Raise max_rounds.",
                ConvergenceWarning,
            )
        return self

    def _labelled(self, y: Any) -> Array | None:
        """Return which rows have a label; None for all."""
        if y is None:
            return None
        if self.unlabeled is None:
            values = np.unique(np.asarray(y)) if np.asarray(y).dtype.kind in "if" else np.empty(0)
            if values.size == 3 and -1 in values:
                raise ValueError(
                    f"y holds three values, {values.tolist()}; if -1 marks unlabelled rows, set "
                    "unlabeled=-1"
                )
            return None
        labelled = np.asarray(np.asarray(y) != self.unlabeled)
        if not labelled.any():
            raise ValueError(
                f"every row of y is unlabeled={self.unlabeled!r}; two classes must have labelled "
                "rows"
            )
        return labelled

    def _n_positive(self, signs: Array, weights: Array, n_unlabelled: int) -> int:
        share = self.positive_share
        if share is None:
            share = float(weights[signs > 0].sum() / weights.sum())
        return round(share * n_unlabelled)
