"""What each column adds to the score of a row."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array, check_sparse
from scarce._frame import safe_indexing
from scarce._kernel_sum import KernelSum
from scarce.inspection._baseline import nearest_points, support_vectors
from scarce.inspection._layers import Layers, dense, layers_of
from scarce.inspection._shapley import additive_shares, sampled_shares, separable_shares
from scarce.inspection._trees import kernel_and_trees, tree_shares
from scarce.kernels import kernel_type
from scarce.tensor import TensorMachine, unit_rows


def shares_of_entries(layers: Layers, X: Any, reference: Any) -> dict[str, Any]:
    """Return the fields of an explanation of a tensor machine.

    ``layers``: the estimator, and what is around it. ``X``, ``reference``: samples, and those to
    compare with; None for a sample of zeros, to which the weights add nothing.
    """
    estimator = layers.last
    samples = layers.transformed(X)
    rows, weights = _entries(estimator, samples), estimator._entry_weights()
    scores = layers.scores(samples)
    if reference is None:
        own = float(np.ravel(estimator.intercept_)[0])
        if layers.offset is not None:
            own = -layers.offset
        baseline, of_baseline = np.zeros_like(rows), np.full(rows.shape[0], own)
    else:
        given = layers.transformed(reference)
        points = _entries(estimator, given)
        chosen, of_points = nearest_points(
            estimator, rows, points, scores, lambda some: layers.scores(safe_indexing(given, some))
        )
        baseline, of_baseline = points[chosen], of_points[:, 0]
    shares = weights * (rows - baseline)
    shape = np.shape(samples)[1:]
    names = np.array([_name(index) for index in np.ndindex(shape)], dtype=object)
    return {
        "values": shares.reshape(-1, *shape),
        "scores": scores[:, 0],
        "baseline": baseline.reshape(-1, *shape),
        "baseline_scores": of_baseline,
        "residual": scores[:, 0] - of_baseline - shares.sum(axis=1),
        "feature_names": names.reshape(shape),
        "exact": True,
        "outputs": np.zeros(rows.shape[0], dtype=np.intp),
    }


def _entries(estimator: TensorMachine, samples: Any) -> Array:
    """Return samples as rows, as the weights meet them."""
    rows: Array = TensorMachine._validated(estimator, samples, reset=False)
    return unit_rows(rows) if estimator._by_norm else rows.astype(np.float64)


def _name(index: tuple[int, ...]) -> str:
    return f"x{index[0]}" if len(index) == 1 else str(list(index))


@dataclass(frozen=True, repr=False)
class Explanation:
    """What `explain` found.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_columns) or (n_samples, d1, ..., dN)
        What each column, or entry of a tensor, adds to the row's score: how much of the difference
        to the score of the baseline is due to it.
    scores : ndarray of shape (n_samples,)
        Scores of the rows.
    baseline : ndarray of shape (n_samples, ...)
        What each row is compared with, as the last estimator sees it, behind the steps of a
        pipeline.
    baseline_scores : ndarray of shape (n_samples,)
        Scores of these.
    residual : ndarray of shape (n_samples,)
        ``scores - baseline_scores`` less the sum of the values, which should be rounding errors.
    feature_names : ndarray of shape (n_columns,) or (d1, ..., dN)
        Names of the columns.
    exact : bool
        Whether the values are the mean over all orders of the columns, or over some.
    outputs : ndarray of int of shape (n_samples,)
        Of several decision values, the one that was explained: the row's largest.
    data : array or frame
        The rows.
    """

    values: Array
    scores: Array
    baseline: Array
    baseline_scores: Array
    residual: Array
    feature_names: Array
    exact: bool
    outputs: Array
    data: Any = None

    def __repr__(self) -> str:
        """Return what moved the first rows most."""
        lines = [f"Explanation of shape {self.values.shape}, largest values:"]
        for row, (names, values) in enumerate(zip(*self.largest(3), strict=True)):
            if row == 3:
                return "\n".join([*lines, "..."])
            parts = [f"{name} {value:+.3g}" for name, value in zip(names, values, strict=True)]
            lines.append(f"row {row}, score {self.scores[row]:.3g}: {', '.join(parts)}")
        return "\n".join(lines)

    def to_shap(self) -> Any:
        """Return the same as an object of shap, for its plots.

        Returns
        -------
        shap.Explanation
            With the scores of the baselines as base values. Entries of tensors are columns.
        """
        try:
            shap = import_module("shap")
        except ImportError as error:
            message = "to_shap needs shap: python -m pip install shap"
            raise ImportError(message) from error
        n = self.values.shape[0]
        data = (
            None
            if self.data is None
            else np.asarray(
                self.data.toarray() if sparse.issparse(self.data) else self.data
            ).reshape(n, -1)
        )
        return shap.Explanation(
            self.values.reshape(n, -1),
            base_values=self.baseline_scores,
            data=data,
            feature_names=[str(name) for name in self.feature_names.ravel()],
        )

    def largest(self, k: int) -> tuple[Array, Array]:
        """Return the `k` columns that moved each row's score most, and how much.

        Parameters
        ----------
        k : int
            How many, at least 1.

        Returns
        -------
        names, values : ndarray of shape (n_samples, min(k, n_columns))
            The one that moved it most first.
        """
        if not k >= 1:
            raise ValueError(f"k must be at least 1, got {k!r}")
        values = self.values.reshape(self.values.shape[0], -1)
        order = np.argsort(-np.abs(values), axis=1, kind="stable")[:, :k]
        return self.feature_names.ravel()[order], np.take_along_axis(values, order, axis=1)


def explain(model: Any, X: Any, *, reference: Any = None) -> Explanation:
    """Say what each column adds to the scores of rows.

    A row is compared with the nearest point that a detector accepts, or that a classifier decides
    otherwise, among the support vectors of the model. The difference of the two scores is divided
    among the columns: a column's value is what the score changes when the column is taken from the
    row instead of the point, on average over all orders in which columns can be taken (its Shapley
    value). The values add up to the difference.

    Linear, RBF and Laplacian kernels have a closed form, in the table's own columns also behind a
    pipeline whose steps treat each column by itself: scalers, imputers, encoders, selections and a
    `ColumnTransformer` of these. For other models the mean over some orders is taken, each with its
    reverse; it adds up too. For tensor models each entry adds its own term.

    Parameters
    ----------
    model : estimator
        A fitted model, or a pipeline, search or `CalibratedOneClass` that ends in one.
    X : array-like of shape (n_samples, n_columns) or (n_samples, d1, ..., dN)
        Rows as the model takes them.
    reference : array-like, default=None
        Rows to compare with in place of support vectors. By default models that keep no support
        vectors, and pipelines that mix columns, are compared with rows of `X`, samples of tensor
        models with one of zeros. The values of regressors are compared with the row nearest to
        the middle.

    Returns
    -------
    Explanation
        Values and scores.

    Examples
    --------
    >>> import numpy as np
    >>> import scarce
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = scarce.OneClassSVM(nu=0.05).fit(X)
    >>> found = scarce.explain(model, [[0.1, 5.0, 0.3]])
    >>> found.largest(1)[0]
    array([['x1']], dtype=object)
    >>> bool(np.allclose(found.values.sum(axis=1), found.scores - found.baseline_scores))
    True
    """
    check_is_fitted(model)
    layers = layers_of(model)
    kernel = getattr(layers.last, "kernel", None)
    if kernel is not None and kernel_type(kernel).pairwise:
        raise ValueError(
            "explain needs rows of columns, and those of a precomputed kernel are values with the "
            "training rows; fit with a kernel by name, an object of scarce.kernels or a callable"
        )
    X = _own_columns(layers, _table(X, "X"))
    if reference is not None:
        reference = _own_columns(layers, _table(reference, "reference"))
    if isinstance(layers.last, TensorMachine):
        return Explanation(**shares_of_entries(layers, X, reference), data=X)
    names, rows = _names(model, X), layers.transformed(X)
    scores = layers.scores(rows)
    outputs = scores.argmax(axis=1)
    made_from = layers.origins(names.size)
    points = None if reference is None else layers.transformed(reference)
    if points is None and made_from is not None:
        points = support_vectors(layers.last)
    given = X if points is None else reference
    points = rows if points is None else points
    chosen, of_points = nearest_points(
        layers.last,
        dense(rows),
        dense(points),
        scores,
        lambda some: layers.scores(safe_indexing(points, some)),
    )
    baseline, all_rows = dense(points)[chosen], np.arange(outputs.size)
    if made_from is not None:
        shares, exact = _by_columns(layers, dense(rows), baseline, outputs, made_from, names.size)
    else:
        compared = safe_indexing(given, chosen)
        shares = sampled_shares(
            lambda mixed: layers.scores(layers.transformed(mixed)),
            lambda which, taken: _mixed(X, compared, which, taken),
            outputs.size,
            names.size,
            outputs,
        )
        exact = False
    found, of_baseline = scores[all_rows, outputs], of_points[all_rows, outputs]
    return Explanation(
        values=shares,
        scores=found,
        baseline=baseline,
        baseline_scores=of_baseline,
        residual=found - of_baseline - shares.sum(axis=1),
        feature_names=names,
        exact=exact,
        outputs=outputs,
        data=X,
    )


def _by_columns(
    layers: Layers, rows: Array, baseline: Array, outputs: Array, made_from: Array, n_columns: int
) -> tuple[Array, bool]:
    """Return contributions of columns that steps treat one by one, and whether they are exact."""
    members = np.zeros((rows.shape[1], n_columns))
    members[np.arange(made_from.size), made_from] = 1.0
    both, formula = kernel_and_trees(layers.last), layers.kernel_sum()
    found = _by_formula(formula if both is None else both.kernel, rows, baseline, outputs, members)
    if found is None:
        shares = sampled_shares(
            layers.scores,
            lambda which, taken: np.where(taken[:, made_from], rows[which], baseline[which]),
            outputs.size,
            n_columns,
            outputs,
        )
        return shares, False
    if both is None:
        return found
    pair = both.of_trees(rows), both.of_trees(baseline)
    trees = tree_shares(both.trees, *pair, made_from, n_columns)
    return found[0] + both.factor * trees, found[1]


def _by_formula(
    formula: KernelSum | None, rows: Array, baseline: Array, outputs: Array, members: Array
) -> tuple[Array, bool] | None:
    """Return contributions of columns to a sum of kernel functions, None without a closed form."""
    if formula is None or formula.voted:
        return None
    if formula.factors is not None:
        # Shapley values of the scaled columns are those of the columns.
        rows, baseline = rows * formula.factors, baseline * formula.factors
    if formula.kernel.explicit:
        return additive_shares(formula, rows, baseline, outputs) @ members, True
    if formula.kernel.separable:
        return separable_shares(formula, rows, baseline, outputs, members)
    return None


def _table(X: Any, name: str) -> Any:
    """Return rows that can be taken by number: frames of pandas, arrays and CSR."""
    if sparse.issparse(X):
        check_sparse(X, name)
        return X.tocsr()
    if not hasattr(X, "iloc"):
        X = X.to_pandas() if hasattr(X, "to_pandas") else np.asarray(X)
    if X.ndim < 2:
        raise ValueError(
            f"{name} must have rows, of shape (n_samples, n_columns), got shape {X.shape}; a "
            f"single row is {name}.reshape(1, -1), of a frame {name}.iloc[[i]]"
        )
    return X


def _own_columns(layers: Layers, X: Any) -> Any:
    """Return the columns of the fit, in its order, where a model picks them by name."""
    first = layers.steps[0] if layers.steps else None
    names = list(getattr(first, "feature_names_in_", ()))
    if isinstance(first, ColumnTransformer) and names and hasattr(X, "columns"):
        return X[names] if set(names) <= set(X.columns) else X
    return X


def _names(model: Any, X: Any) -> Array:
    names = getattr(X, "columns", getattr(model, "feature_names_in_", None))
    if names is None or len(names) != X.shape[1]:
        names = [f"x{number}" for number in range(X.shape[1])]
    return np.array([str(name) for name in names], dtype=object)


def _mixed(X: Any, compared: Any, which: Array, taken: Array) -> Any:
    """Return rows, each column from `X` where it is taken, else from what it is compared with."""
    ours, theirs = safe_indexing(X, which), safe_indexing(compared, which)
    if not hasattr(X, "iloc"):
        return np.where(taken, dense(ours), dense(theirs))
    mixed = theirs.reset_index(drop=True)
    for place, name in enumerate(mixed.columns):
        column = ours.iloc[:, place].reset_index(drop=True)
        mixed[name] = column.where(taken[:, place], mixed.iloc[:, place])
    return mixed
