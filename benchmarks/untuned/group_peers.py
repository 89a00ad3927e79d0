"""What others take for proportions of groups: EM with boosted trees, the Laplacian mean map."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax
from sklearn.ensemble import HistGradientBoostingClassifier

from benchmarks.untuned.data import Array

FOLDS, ROUNDS = 3, 5
SIMILAR, SMOOTH = 1.0, 1.0  # width of the similarity of groups, weight of the Laplacian
RIDGE = 1.0


def shifted_labels(log_p: Array, codes: Array, shares: Array) -> Array:
    """Return soft labels that meet the proportions, by iterative proportional fitting."""
    counts = np.bincount(codes)
    shift = np.zeros_like(shares)
    wanted = np.clip(shares, 1e-4, 1.0)
    for _ in range(200):
        soft = softmax(log_p + shift[codes], axis=1)
        means = np.array([np.bincount(codes, column) / counts for column in soft.T]).T
        shift += np.log(wanted) - np.log(np.maximum(means, 1e-12))
    return softmax(log_p + shift[codes], axis=1)


class BoostedEM:
    """Boosted trees on soft labels, which out-of-fold probabilities give, from the proportions."""

    def fit(self, X: Array, y: Array, groups: Array) -> BoostedEM:
        """Fit to rows of groups."""
        codes = np.unique(groups, return_inverse=True)[1]
        every = np.column_stack([1.0 - y, y]) if y.ndim == 1 else y
        shares = every[np.unique(codes, return_index=True)[1]]
        self.n_classes = shares.shape[1]
        folds = (np.random.default_rng(0).permutation(len(shares)) % FOLDS)[codes]
        log_p = np.log(np.clip(every, 1e-3, 1.0))
        for _ in range(ROUNDS):
            soft = shifted_labels(log_p, codes, shares)
            p = np.empty_like(soft)
            for fold in range(FOLDS):
                kept = folds != fold
                if kept.all():
                    continue
                p[~kept] = self._trees(X[kept], soft[kept]).predict_proba(X[~kept])
            log_p = np.log(np.clip(p, 1e-6, 1.0))
        self.model = self._trees(X, soft)
        return self

    def _trees(self, X: Array, soft: Array) -> Any:
        rows = np.tile(np.arange(len(X)), self.n_classes)
        labels = np.repeat(np.arange(self.n_classes), len(X))
        weights = soft.T.ravel()
        model = HistGradientBoostingClassifier(max_iter=60, learning_rate=0.1, random_state=0)
        return model.fit(X[rows], labels, sample_weight=weights)

    def predict_proba(self, X: Array) -> Array:
        """Return the probabilities of the classes."""
        return np.asarray(self.model.predict_proba(X))

    def predict(self, X: Array) -> Array:
        """Return the labels."""
        return np.asarray(self.predict_proba(X).argmax(axis=1))


class LaplacianMeanMap:
    """Logistic regression from class means of groups that are alike in similar groups.

    G. Patrini, R. Nock, P. Rivera, T. Caetano, "(Almost) no label no cry", NIPS 2014.
    """

    def fit(self, X: Array, y: Array, groups: Array) -> LaplacianMeanMap:
        """Fit to rows of groups."""
        codes = np.unique(groups, return_inverse=True)[1]
        every = np.column_stack([1.0 - y, y]) if y.ndim == 1 else y
        shares = every[np.unique(codes, return_index=True)[1]]
        counts, (n_groups, n_classes) = np.bincount(codes), shares.shape
        means = np.array([np.bincount(codes, column) / counts for column in X.T]).T
        distances = ((means[:, None] - means) ** 2).sum(axis=2)
        alike = np.exp(-distances / (SIMILAR * max(np.median(distances), 1e-12)))
        laplacian = np.diag(alike.sum(axis=1)) - alike
        # Unknown are the means of every class in every group; their mixtures are the groups' means.
        mixing = np.hstack([np.diag(column) for column in shares.T])
        weights = np.tile(counts / counts.sum(), n_classes)
        system = mixing.T @ (counts[:, None] / counts.sum() * mixing)
        system += SMOOTH / n_groups**2 * np.kron(np.eye(n_classes), laplacian)
        system += 1e-6 * np.diag(weights)
        found = np.linalg.solve(system, mixing.T @ (counts[:, None] / counts.sum() * means))
        by_class = found.reshape(n_classes, n_groups, -1)
        sums = np.einsum("gc,cgd->cd", counts[:, None] * shares, by_class)
        known = np.column_stack([sums, counts @ shares])
        rows = np.column_stack([X, np.ones(len(X))])

        def objective(place: Array) -> tuple[float, Array]:
            W = place.reshape(n_classes, -1)
            logits = rows @ W.T
            value = logsumexp(logits, axis=1).sum() - (known * W).sum()
            gradient = softmax(logits, axis=1).T @ rows - known
            gradient[:, :-1] += RIDGE * W[:, :-1]
            return value + 0.5 * RIDGE * (W[:, :-1] ** 2).sum(), gradient.ravel()

        place = np.zeros(known.size)
        found = minimize(objective, place, jac=True, method="L-BFGS-B", options={"maxiter": 200})
        self.weights = found.x.reshape(n_classes, -1)
        return self

    def predict_proba(self, X: Array) -> Array:
        """Return the probabilities of the classes."""
        return np.asarray(softmax(np.column_stack([X, np.ones(len(X))]) @ self.weights.T, axis=1))

    def predict(self, X: Array) -> Array:
        """Return the labels."""
        return np.asarray(self.predict_proba(X).argmax(axis=1))


class Constant:
    """The overall proportion for every row."""

    def fit(self, X: Array, y: Array, groups: Array) -> Constant:
        """Fit to rows of groups."""
        every = np.column_stack([1.0 - y, y]) if y.ndim == 1 else y
        self.share = every.mean(axis=0)
        return self

    def predict_proba(self, X: Array) -> Array:
        """Return the probabilities of the classes."""
        return np.tile(self.share, (len(X), 1))

    def predict(self, X: Array) -> Array:
        """Return the labels."""
        return np.full(len(X), int(self.share.argmax()))
