"""Estimated proportions of groups, with intervals from held-out groups."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from scarce._arrays import Array

FEWEST = 3  # groups from which a line has a residual


class ShareEstimates(NamedTuple):
    """Estimated proportions of groups.

    Attributes
    ----------
    groups : list
        Ids of the groups.
    share : ndarray of shape (n_groups,) or (n_groups, n_classes)
        Estimated proportions: of the second of two classes, or of every class.
    lower, upper : ndarray of the same shape
        Ends of the intervals.
    """

    groups: list[Any]
    share: Array
    lower: Array
    upper: Array


class ShareLines(NamedTuple):
    """Lines from mean probabilities to proportions, one a column, and how far groups are off."""

    # intercepts, slopes: (n_columns,): the lines
    intercepts: Array
    slopes: Array
    # between, within: (n_columns,): variance of a group around its line: ``between + within / n``
    # for ``n`` rows
    between: Array
    within: Array
    # (n_groups, n_columns): how far every group is off the line of the others, in standard
    # deviations, sorted
    misses: Array
    # (n_columns,): the largest ``n`` there was; nothing says that larger groups are nearer to their
    # line
    largest: Array

    def estimates(self, means: Array, sizes: Array, level: float) -> tuple[Array, Array, Array]:
        """Return proportions and ends of intervals for groups of given mean probabilities."""
        share = np.clip(self.intercepts + self.slopes * means, 0.0, 1.0)
        if share.shape[1] > 1:
            share = share / np.maximum(share.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        n_groups = self.misses.shape[0]
        # As split conformal prediction: the miss of a new group is as likely to have any rank among
        # those of the left-out groups.
        rank = int(np.ceil((n_groups + 1) * level))
        if rank > n_groups:
            return share, np.zeros_like(share), np.ones_like(share)
        rows = np.minimum(sizes[:, None], self.largest)
        half = self.misses[rank - 1] * np.sqrt(self.between + self.within / rows)
        return share, np.clip(share - half, 0.0, 1.0), np.clip(share + half, 0.0, 1.0)


def share_lines(left_out: Array, shares: Array, sizes: Array, unsure: Array) -> ShareLines:
    """Return the lines of held-out groups, each group's miss from the line of the others.

    ``left_out``, ``shares``: mean probabilities of held-out groups, and proportions. ``unsure``:
    mean of ``p (1 - p)`` over the rows: the variance of a label whose probability is known.
    """
    n_groups = shares.shape[0]
    overall = np.average(shares, axis=0, weights=sizes)
    found = []
    for m, q, known, mean in zip(left_out.T, shares.T, unsure, overall, strict=True):
        intercept, slope, off = 0.0, 1.0, q - m
        if n_groups >= FEWEST and np.ptp(m) > 0:
            intercept, slope, off = _line(m, q, sizes)
        # Groups of one size do not say which part of their misses is larger in smaller groups.
        # A proportion of n labels is off by the first figure over n, and under prior shift, where
        # the line is steep, by so many times more. A flat line knows the mean proportion only.
        part = min(max(slope, 0.0), 1.0)
        label = max(slope, 1.0) * (part * known + (1.0 - part) * mean * (1.0 - mean))
        total, sampling = float(np.mean(off**2)), float(np.mean(label / sizes))
        beyond = max(0.0, total - sampling)
        label *= min(1.0, total / sampling) if sampling > 0 else 0.0
        deviation = np.sqrt(np.maximum(beyond + label / sizes, np.finfo(float).tiny))
        found.append((intercept, slope, beyond, label, np.sort(np.abs(off) / deviation)))
    intercepts, slopes, between, within, misses = map(np.array, zip(*found, strict=True))
    largest = np.full(shares.shape[1], float(sizes.max()))
    return ShareLines(intercepts, slopes, between, within, misses.T, largest)


def _line(m: Array, q: Array, sizes: Array) -> tuple[float, float, Array]:
    """Return a weighted line of proportions in means, and what is off the lines of the others."""
    design = np.column_stack([np.ones(m.size), m - np.average(m, weights=sizes)])
    root = np.sqrt(sizes / sizes.sum())
    basis, triangle = np.linalg.qr(root[:, None] * design)
    constant, slope = np.linalg.solve(triangle, basis.T @ (root * q))
    leverage = np.minimum((basis**2).sum(axis=1), 0.9)
    off = (q - design @ [constant, slope]) / (1.0 - leverage)
    return float(constant - slope * np.average(m, weights=sizes)), float(slope), off
