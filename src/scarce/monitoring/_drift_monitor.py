"""A drift alarm whose chance of ever being false is bounded."""

from __future__ import annotations

import hashlib
import warnings
from math import isfinite, log
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce.held_out import HeldOutScores
from scarce.monitoring._betting import Capital, one_plain, plain
from scarce.monitoring._ranks import SeenScores, rounded

SMOOTHING = 0.01  # weight of a row in the moving average of rejected rows
VERSION = 3  # of a stored state
LOW = 0.5  # proportion of held-out scores, the lowest, whose order counts
LOWEST = 0.1  # the same where held-out fits do not share one margin
MOST_COUNTED = 100.0  # held-out scores: all of them err together, and more rows would show it
EQUAL = 40  # binary digits of the scores of equal rows that are the same
ZERO = 1e-10  # of what support vectors could add up to, below which a weight vector is rounding
MOST_ROWS = 2**53  # that a state may count: beyond it floating point numbers skip some
HISTORY = ("n_rows", "capital", "rejected_proportion")


class DriftMonitor:
    """Watch rows as they come, and raise an alarm when they are no longer like those of the fit.

    Each row gets a p-value among the held-out scores of the model and the scores of all rows before
    it in the stream. As long as the rows are exchangeable with those of the fit, these p-values are
    uniform, and no bet against that has an expected gain. The monitor bets, several ways mixed; its
    capital begins at 1. For exchangeable scores it reaches ``1 / alpha`` with a probability of at
    most `alpha` in the whole life of the monitor, however often one looks; see the notes.

    Parameters
    ----------
    model : estimator instance
        A fitted detector with held-out scores, or a pipeline that ends with one: `OneClassSVM` or
        `SVDD` with `false_alarms`, `TransferOneClassSVM`, `OneClassSTM`, `CalibratedOneClass`.
        Scalers and other steps that are fitted to the rows belong inside a `CalibratedOneClass`.
    alpha : float, default=0.01
        Probability of ever raising an alarm while nothing changes, in (0, 1).
    random_state : int, default=0
        Decides the places of equal scores, which are drawn.

    Attributes
    ----------
    capital_ : float
        What the bets have come to: the evidence for a change.
    alarm_ : int or None
        The first row at which the capital had reached ``1 / alpha``, counted from 0 over all
        calls; None while it has not. It stays: after a change fit a new model, and begin a new
        monitor.
    n_rows_ : int
        Rows seen.
    rejected_proportion_ : float
        Moving average of the proportion of rejected rows, over about the last hundred; it begins
        with the proportion that the model was asked for. For plots: it bounds nothing.
    history_ : dict of str to list
        After each call of `update`: ``"n_rows"``, ``"capital"`` and ``"rejected_proportion"``.

    See Also
    --------
    CalibratedOneClass : Gives any detector held-out scores.

    Notes
    -----
    The bound is exact for scores that are exchangeable. Low held-out scores are nearly so, and
    count for at most 100 rows, for less if there are few. High ones are less so: of held-out scores
    only the order of the lower half counts, and the number of the others; of the lowest tenth for
    models with landmarks and for ``method="cv+"``. Those of rows that repeat are not exchangeable
    at all: equal rows are held out together (a weight above 1 says the same). Nor are those behind
    a scaler that was fitted to all rows. Where more rows repeat than the root of their number, and
    behind a step of a pipeline that was fitted, a warning says so, and the monitor begins without
    held-out scores.

    A capital of 20 is as surprising as a p-value of 0.05. The scores that were seen are kept with
    16 binary digits and the number of times each was seen, so that memory stays small however many
    rows come.

    References
    ----------
    Vovk, Petej, Nouretdinov, Ahlberg, Carlsson, Gammerman, "Retrain or not retrain: conformal test
    martingales for change-point detection", COPA 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce import DriftMonitor, OneClassSVM
    >>> random = np.random.default_rng(0)
    >>> model = OneClassSVM(nu=0.1, false_alarms=0.1).fit(random.normal(size=(200, 3)))
    >>> monitor = DriftMonitor(model)
    >>> capital = monitor.update(random.normal(size=(300, 3)))
    >>> monitor.alarm_ is None
    True
    >>> capital = monitor.update(random.normal(loc=1.0, size=(300, 3)))
    >>> 300 <= monitor.alarm_ < 600
    True
    """

    model: Any
    alpha: float
    random_state: int
    n_rows_: int
    alarm_: int | None
    rejected_proportion_: float
    history_: dict[str, list[Any]]
    _model_hash: str
    _seen: SeenScores
    _capital: Capital

    def __init__(self, model: Any, *, alpha: float = 0.01, random_state: int = 0) -> None:
        if not (isinstance(alpha, Real) and 0.0 < alpha < 1.0):
            raise ValueError(f"alpha must be a number between 0 and 1, got {alpha!r}")
        if not isinstance(random_state, Integral) or random_state < 0:
            raise ValueError(
                f"random_state must be an int of at least 0, which a state can store, got "
                f"{random_state!r}"
            )
        self.model, self.alpha, self.random_state = model, float(alpha), int(random_state)
        left_out = held_out_scores(model)
        if weights_are_zero(
            _last_step(getattr(_last_step(model), "estimator_", _last_step(model)))
        ):
            raise ValueError(
                "model has a weight vector of zero, as its fit has warned: all scores are zero up "
                'to rounding, and no change can show in them. Fit a model with kernel="rbf"'
            )
        self._model_hash = _hash_of(left_out)
        counts = counted(left_out.weights)
        cause = ""
        if rows_repeat(left_out):
            cause = (
                "Rows of the fit repeat (or their held-out scores do). A new row that equals one "
                "of them scores higher than that one did when it was held out"
            )
        elif (step := step_that_saw_all(model)) is not None:
            cause = (
                f"{type(step).__name__} was fitted to all rows, also to those whose scores were "
                "held out after it, so that new rows score lower than these did: give "
                "CalibratedOneClass(the pipeline)"
            )
        if cause:
            counts = np.zeros_like(counts)
            warnings.warn(
                f"{cause}. So the monitor compares rows only with those that it saw before: a "
                "change between the fit and the first rows is not noticed",
                UserWarning,
                stacklevel=2,
            )
        self._seen = SeenScores(left_out.scores, counts, left_out.threshold(part_in_order(model)))
        self._capital = Capital()
        self.n_rows_ = 0
        self.alarm_ = None
        self.rejected_proportion_ = float(_last_step(model).false_alarms_)
        self.history_ = {}

    def __repr__(self) -> str:
        """Return the model, and what was seen."""
        seen = f"{self.n_rows_:,} rows seen, capital {self.capital_:.3g}"
        return f"DriftMonitor({self.model!r}, alpha={self.alpha:g}): {seen}"

    @property
    def capital_(self) -> float:
        """What the bets have come to."""
        return one_plain(self._capital.log_capital)

    def update(self, X: Any) -> Array:
        """Take further rows, in the order in which they came.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...)
            The rows, as for the model's `predict`; how they are divided over calls makes no
            difference.

        Returns
        -------
        ndarray of shape (n_samples,)
            The capital after each row.
        """
        scores = np.asarray(self.model.score_samples(X), dtype=np.float64)
        return self.update_scores(scores, np.asarray(self.model.predict(X)) == -1)

    def update_scores(self, scores: Array, rejected: Array) -> Array:
        """Take rows that the model has answered already.

        Parameters
        ----------
        scores : array-like of shape (n_samples,)
            What `score_samples` of the model returned.
        rejected : array-like of bool of shape (n_samples,)
            Which rows `predict` of the model rejected.

        Returns
        -------
        ndarray of shape (n_samples,)
            The capital after each row.
        """
        scores, rejected = np.asarray(scores, np.float64), np.asarray(rejected)
        if rejected.dtype != bool and rejected.size:
            raise ValueError(
                "rejected must be True or False for each row, such as model.predict(X) == -1, got "
                f"{rejected.dtype} {rejected.ravel()[:1].tolist()}"
            )
        if scores.ndim != 1 or scores.shape != rejected.shape:
            raise ValueError(
                "scores and rejected must have one value per row, got shapes "
                f"{scores.shape} and {rejected.shape}"
            )
        if np.isnan(scores).any():
            raise ValueError("scores must be numbers, got NaN")
        p_values = self._seen.p_values(scores, self._drawn(scores.size))
        capital = self._capital.bet(p_values)
        passed = np.flatnonzero(capital >= -log(self.alpha))
        if self.alarm_ is None and passed.size:
            self.alarm_ = self.n_rows_ + int(passed[0])
        self.n_rows_ += scores.size
        fading = (1.0 - SMOOTHING) ** np.arange(scores.size - 1, -1, -1.0)
        kept = (1.0 - SMOOTHING) ** scores.size * self.rejected_proportion_
        self.rejected_proportion_ = float(kept + SMOOTHING * (fading @ rejected))
        for name in HISTORY:
            self.history_.setdefault(name, []).append(getattr(self, f"{name}_"))
        return plain(capital)

    def _drawn(self, number: int) -> Array:
        """Return the uniform numbers of the next rows, the same however calls divide them."""
        stream = np.random.PCG64(self.random_state)
        stream.advance(self.n_rows_)
        return np.random.Generator(stream).random(number)

    # Between processes.

    def to_state(self) -> dict[str, Any]:
        """Return what the monitor has seen, as what JSON can store; not the model.

        Returns
        -------
        dict
            For `from_state`.
        """
        return {
            "version": VERSION,
            "model": self._model_hash,
            "alpha": self.alpha,
            "random_state": self.random_state,
            "n_rows": self.n_rows_,
            "alarm": self.alarm_,
            "log_capital": self._capital.log_capital,
            "parts": self._capital.parts.tolist(),
            "rejected_proportion": self.rejected_proportion_,
            "history": self.history_,
            "scores": self._seen.values.tolist(),
            "counts": self._seen.counts.tolist(),
        }

    @classmethod
    def from_state(cls, model: Any, state: Any) -> Self:
        """Return the monitor that a state was taken from.

        Parameters
        ----------
        model : estimator instance
            The same fitted model.
        state : dict
            What `to_state` returned.

        Returns
        -------
        DriftMonitor
            It goes on where that one was.
        """
        fresh = cls(model)
        if not isinstance(state, dict) or state.get("version") != VERSION:
            seen = state.get("version") if isinstance(state, dict) else state
            raise ValueError(f"state must be one of version {VERSION}, got {seen!r}")
        if state.get("model") != fresh._model_hash:
            raise ValueError(
                "state belongs to another model: its held-out scores are not those of this one. "
                "Begin a new monitor"
            )
        try:
            monitor = cls(model, alpha=state["alpha"], random_state=state["random_state"])
            monitor._restore(state)
        except (KeyError, OverflowError, TypeError, ValueError) as error:
            raise ValueError(f"state is damaged: {error!r}") from None
        return monitor

    def _restore(self, state: dict[str, Any]) -> None:
        scores: Array = np.array(state["scores"], np.float64)
        counts: Array = np.array(state["counts"], np.float64)
        parts = np.array(state["parts"], np.float64)
        sound = scores.ndim == 1 and scores.shape == counts.shape and (np.diff(scores) > 0).all()
        if not sound or not ((counts >= 0.0) & (counts <= MOST_ROWS)).all():
            raise ValueError(f"scores must ascend, each with a count of at most {MOST_ROWS:g}")
        shape = self._capital.parts.shape
        proportions = (parts >= 0.0) & (parts <= 1.0)
        if parts.shape != shape or not proportions.all() or abs(parts.sum() - 1.0) > 1e-6:
            raise ValueError(f"parts must be of shape {shape}, not negative, and sum to 1")
        if not isfinite(state["log_capital"]) or not 0.0 <= state["rejected_proportion"] <= 1.0:
            raise ValueError("log_capital must be finite, rejected_proportion between 0 and 1")
        for name in ("n_rows", "alarm"):
            value = state[name]
            if name == "alarm" and value is None:
                continue
            if not (type(value) is int and 0 <= value <= MOST_ROWS):
                raise ValueError(f"{name} must be a whole number, got {value!r}")
        history = state["history"]
        if not isinstance(history, dict) or not history.keys() <= set(HISTORY):
            raise ValueError(f"history must hold {', '.join(HISTORY)}")
        for name, values in history.items():
            if not isinstance(values, list) or not all(
                type(each) in (int, float) for each in values
            ):
                raise ValueError(f"history must hold numbers, got {name} {values!r}")
        self._seen.values, self._seen.counts = scores, counts
        self._capital = Capital(parts, float(state["log_capital"]))
        self.n_rows_, self.alarm_ = state["n_rows"], state["alarm"]
        self.rejected_proportion_ = float(state["rejected_proportion"])
        self.history_ = {name: list(values) for name, values in history.items()}


def held_out_scores(model: Any) -> HeldOutScores:
    """Return the held-out scores of a fitted detector, which a monitor compares with."""
    last = _last_step(model)
    if not hasattr(last, "_left_out"):
        raise ValueError(
            f"model must have held-out scores to compare with, and {type(last).__name__} has none: "
            "give a detector with false_alarms, or put CalibratedOneClass(...) around it"
        )
    check_is_fitted(last)
    found: HeldOutScores = last._left_out()
    return found


def part_in_order(model: Any) -> float:
    """Return the proportion of held-out scores, the lowest, whose order is that of new rows.

    Scores of fits without a part are moved to one margin, but for "cv+"; landmarks, of which a fit
    has few, put more scores of new rows on the margin than of rows that were held out.
    """
    last = _last_step(model)
    detector = _last_step(getattr(last, "estimator_", last))
    own_margins = getattr(last, "method", None) == "cv+"
    return LOWEST if own_margins or getattr(detector, "approximation", None) else LOW


def step_that_saw_all(model: Any) -> Any:
    """Return the first step before the detector of a pipeline that was fitted to the rows."""
    steps = model.steps[:-1] if hasattr(model, "steps") else []
    for _, step in steps:
        if step is None or step == "passthrough":
            continue
        # A step without tags may be fitted.
        if not hasattr(step, "__sklearn_tags__") or get_tags(step).requires_fit:
            return step
    return None


def counted(weights: Array) -> Array:
    """Return how much held-out scores count.

    They come from models of fewer rows, so that they are not quite exchangeable with scores of new
    rows: a long stream would betray it, with few rows and with very many.
    """
    n = float(weights.sum())
    return np.asarray(weights * min(max(0.15, 1.0 - 3.0 / n**0.5), MOST_COUNTED / n))


def rows_repeat(left_out: HeldOutScores) -> bool:
    """Say whether so many rows repeat that ranks among held-out scores would show it.

    Equal rows are held out together, as one row with their weight or as several of one score. A
    number of rows below the root of all moves ranks by less than their own noise.
    """
    places = np.unique(rounded(left_out.scores, EQUAL), return_inverse=True)[1]
    weights = np.bincount(places, left_out.weights)
    return bool(weights[weights > 1.0].sum() > weights.sum() ** 0.5)


def weights_are_zero(detector: Any) -> bool:
    """Say whether a linear model has no direction, as where rows lie around the origin."""
    if any(not hasattr(detector, name) for name in ("coef_", "dual_coef_", "support_vectors_")):
        return False
    norms = row_norms(detector.support_vectors_)
    most = float(np.abs(detector.dual_coef_).sum(axis=0) @ norms)
    return float(np.abs(detector.coef_).max()) <= ZERO * most


def _last_step(model: Any) -> Any:
    return model[-1] if hasattr(model, "steps") else model


def _hash_of(left_out: HeldOutScores) -> str:
    parts = (left_out.scores, left_out.weights)
    content = b"".join(np.ascontiguousarray(part, "<f8").tobytes() for part in parts)
    return hashlib.sha256(content).hexdigest()
