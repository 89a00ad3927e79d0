"""How far multipliers are from optimal, from the arrays of a program alone."""

from dataclasses import dataclass

import numpy as np

from tests.oracles.program import Program

NOISE = 1e-12  # share of the absolute terms of a sum below which it is not known
AT_BOUND = 1e-10  # share of box and group's mass within which a multiplier is at the bound
SMALLEST_SCALE = 1e-12  # share of the terms of an optimum below which it is zero


@dataclass(frozen=True)
class Truth:
    """What is certain of a point, in the scale of its program."""

    objective: float  # 1/2 a'Qa + p'a
    noise: float  # of the objective
    violation: float  # at least this
    gap: float  # at least this, absolute
    largest_gap: float  # at most this, at the offsets asked for
    relative_gap: float
    least_multipliers: np.ndarray  # m and M of each group: its multiplier lies between
    largest_multipliers: np.ndarray
    reach: np.ndarray  # by which m and M may be off
    infeasibility: float  # relative to the multipliers


def field(program, alpha, kernel):
    """Return ``sum_j A[g_i, g_j] K_ij y_j a_j`` for every row."""
    weighted = program.kernel_signs * alpha
    total = np.zeros(len(alpha))
    for group in range(len(program.totals)):
        members = program.groups == group
        part = kernel[:, members] @ weighted[members]
        total += program.coupling[program.groups, group] * part
    return total


def both_terms(theta, upper):
    """Return the size of the terms of a sum over differences of two multipliers, up to `upper`.

    Of both only the difference is stored, and `NOISE` of a thousandth is a few units in the last
    place of the largest that they may be.
    """
    return np.abs(theta) + 1e-3 * upper


def judge(program: Program, alpha, magnitudes, multipliers=None):
    """Return the truth about multipliers; `magnitudes` bounds the terms of the kernel values."""
    own = program.kernel_signs * field(program, alpha, program.kernel)
    positive = Program(**{**vars(program), "kernel_signs": np.ones(len(alpha))})
    size = field(positive, np.abs(alpha), magnitudes)
    self_terms = np.diag(magnitudes) * np.diag(program.coupling)[program.groups]
    return judge_gradient(program, alpha, own, size, float(alpha**2 @ self_terms), multipliers)


def judge_gradient(program: Program, alpha, own, size, terms, multipliers=None):
    """Return the truth where ``Qa`` is known, of terms of the given size, and ``sum a_i^2 Q_ii``.

    Multipliers of the equalities may be given: the largest gap is then the one that they give.
    """
    signs, groups, n_groups = program.signs, program.groups, len(program.totals)
    gradient = own + program.linear
    noise = NOISE * (size + np.abs(program.linear))

    width = np.where(np.isfinite(program.upper), program.upper, np.abs(alpha).max(initial=0.0))
    masses = np.bincount(groups, np.abs(alpha), minlength=n_groups)
    room = AT_BOUND * np.minimum(width, masses[groups])
    below, above = alpha < program.upper - room, alpha > program.lower + room
    grows, shrinks = np.where(signs > 0, below, above), np.where(signs > 0, above, below)
    pull = -signs * gradient
    m, M = np.full(n_groups, -np.inf), np.full(n_groups, np.inf)
    certain_m, certain_M, reach = m.copy(), M.copy(), np.zeros(n_groups)
    np.maximum.at(m, groups[grows], pull[grows])
    np.minimum.at(M, groups[shrinks], pull[shrinks])
    np.maximum.at(certain_m, groups[grows], (pull - noise)[grows])
    np.minimum.at(certain_M, groups[shrinks], (pull + noise)[shrinks])
    np.maximum.at(reach, groups, noise)

    objective = float(0.5 * alpha @ own + program.linear @ alpha)
    objective_noise = float(np.abs(alpha) @ noise)
    gap = largest_gap = 0.0
    for group in range(n_groups):
        own_rows = groups == group
        kinks = Kinks(
            *(
                each[own_rows]
                for each in (gradient, noise, signs, alpha, program.lower, program.upper)
            )
        )
        gap += kinks.gap(kinks.best(-1.0), -1.0)
        asked = kinks.best(0.0) if multipliers is None else multipliers[group]
        largest_gap += kinks.gap(asked, 1.0)
    scale = max(abs(objective), abs(objective - gap), SMALLEST_SCALE * terms)
    sums = np.bincount(groups, signs * alpha, minlength=n_groups)
    off = np.abs(sums - program.totals) / np.maximum(
        np.maximum(masses, abs(program.totals)), 1e-300
    )
    outside = np.maximum(program.lower - alpha, alpha - program.upper) / np.where(
        width > 0, width, 1.0
    )
    return Truth(
        objective=objective,
        noise=objective_noise,
        violation=float(max(0.0, (certain_m - certain_M).max())),
        gap=gap,
        largest_gap=largest_gap,
        relative_gap=gap / scale if 0 < scale < np.inf else gap,
        least_multipliers=np.minimum(m, M),
        largest_multipliers=np.maximum(m, M),
        reach=reach,
        infeasibility=float(max(off.max(), outside.max(), 0.0)),
    )


@dataclass(frozen=True)
class Kinks:
    """A group's part of the duality gap as a function of its multiplier ``beta``.

    ``sum_i (a_i - l_i) max(R_i, 0) + (u_i - a_i) max(-R_i, 0)`` with ``R_i = G_i + s_i beta``:
    convex and piecewise linear, with kinks at ``-s_i G_i``. Gradients within the noise have at
    least the sum with both terms less it, whose minimum over ``beta`` no gap is below.
    """

    gradient: np.ndarray
    noise: np.ndarray
    signs: np.ndarray
    alpha: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    def rooms(self):
        """Return how far each may fall and rise.

        Rows without an upper bound have no part in the gap: their bound proves nothing.
        """
        up = np.where(np.isinf(self.upper), 0.0, self.upper - self.alpha)
        return np.maximum(self.alpha - self.lower, 0.0), np.maximum(up, 0.0)

    def best(self, side):
        """Return the place where `gap` is least, for a side that keeps it convex: 0 or -1.

        By trisection: the slopes, summed up, would lose the boxes that are small beside others.
        Places halfway between kinks are tried too: rounding of a kink counts over a wide box.
        """
        middle, width = -self.signs * self.gradient, -side * self.noise
        kinks = np.unique(np.concatenate([middle - width, middle + width]))
        low, high = 0, len(kinks) - 1
        while high - low > 2:
            third = (high - low) // 3
            left, right = low + third, high - third
            if self.gap(kinks[left], side) <= self.gap(kinks[right], side):
                high = right
            else:
                low = left
        near = kinks[max(low - 1, 0) : high + 2]
        tried = np.concatenate([near, 0.5 * (near[1:] + near[:-1])])
        return min(tried, key=lambda beta: self.gap(beta, side))

    def gap(self, beta, side):
        """Return the gap, its terms less (side -1) or more (side 1) their noise."""
        reduced = self.gradient + self.signs * beta
        over = np.maximum(reduced + side * self.noise, 0.0)
        under = np.maximum(-reduced + side * self.noise, 0.0)
        down, up = self.rooms()
        return float(down @ over + up @ under)
