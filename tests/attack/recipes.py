"""Hostile data by recipe: a few numbers that Hypothesis draws, and can make simpler."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist

from tests.attack.kernels import dense


def indefinite_rbf(A, B):
    """A callable that no feature map has: a difference of two widths."""
    squares = cdist(dense(A), dense(B), "sqeuclidean")
    return np.exp(-0.2 * squares) - 0.7 * np.exp(-3.0 * squares)


@dataclass(frozen=True)
class Recipe:
    """Everything a data set and a kernel are made of."""

    seed: int = 0
    n: int = 20
    d: int = 2
    cluster: float = 0.0  # share of the rows that lie far away
    distance: float = 0.0  # how far, in standard deviations of a feature
    tight: float = 1.0  # their spread, in the same unit
    place: str = "last"  # where they stand among the rows
    offset: float = 3.0  # of all rows
    decades: float = 0.0  # over which the weights range
    single: bool = False  # float32
    csr: bool = False
    ties: bool = False  # rows on a coarse grid, many of them equal
    kernel: str = "rbf"  # or a name with "matrix" or "callable" in it
    gamma: float | str = 0.5
    degree: int = 3
    coef0: float = 0.0
    share: float = 0.1  # nu, or what stands for it
    cost: float = 1.0
    tol: float = 1e-3

    def random(self, salt=0):
        return np.random.default_rng([self.seed, salt])

    @property
    def rows(self):
        """Rows in the precision and container of the recipe."""
        random = self.random()
        rows = random.normal(size=(self.n, self.d))
        if self.ties:
            rows = np.round(2.0 * rows) / 2.0
        size = min(self.n - 1, round(self.cluster * self.n))
        far = {
            "first": np.arange(size),
            "last": np.arange(self.n - size, self.n),
            "scattered": random.permutation(self.n)[:size],
        }[self.place]
        rows[far] *= self.tight
        direction = random.normal(size=self.d)
        rows[far] += self.distance * direction / np.linalg.norm(direction)
        rows += self.offset
        if self.single:
            rows = rows.astype(np.float32)
        return sparse.csr_array(rows) if self.csr else rows

    @property
    def weights(self):
        """Weights, or None for none."""
        if self.decades == 0:
            return None
        return 10.0 ** self.random(1).uniform(-self.decades / 2, self.decades / 2, size=self.n)

    @property
    def labels(self):
        """Two classes of about equal size, told apart by one feature and by chance."""
        random = self.random(2)
        first = dense(self.rows)[:, 0]
        order = np.argsort(np.argsort(first))
        labels = (order >= self.n // 2).astype(int)
        flipped = random.random(self.n) < 0.1
        labels[flipped] = 1 - labels[flipped]
        labels[:2] = [0, 1]
        return labels

    @property
    def parameters(self):
        """Parameters of the kernel, but for `kernel` itself."""
        return {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}

    def matrix(self):
        """Return a symmetric matrix: of an RBF kernel, at random, or of a sigmoid one."""
        rows = dense(self.rows) - self.offset
        if self.kernel == "definite matrix":
            return np.exp(-0.5 * cdist(rows, rows, "sqeuclidean"))
        if self.kernel == "sigmoid matrix":
            return np.tanh(rows @ rows.T / self.d - 0.5)
        entries = self.random(3).normal(size=(self.n, self.n))
        return (entries + entries.T) / 2


FORMULAS = ("rbf", "linear", "poly", "sigmoid", "laplacian")
MATRICES = ("definite matrix", "sigmoid matrix", "random matrix")
CALLABLES = ("callable",)
DECADES = (0.0, 0.0, 1.0, 4.0, 16.0)


@st.composite
def recipes(draw, kernels=(*FORMULAS, *MATRICES, *CALLABLES), decades=DECADES, large=True):
    """Draw a recipe; most have few rows, some enough for the single precision solver.

    `large` may be the smallest and the largest number of rows.
    """
    sizes = st.integers(4, 80)
    if isinstance(large, tuple):
        sizes = st.integers(*large)
    elif large:
        # One case of many rows takes as long as fifty others.
        some, many = st.integers(81, 400), st.integers(600, 3000)
        sizes = st.one_of(*(11 * [sizes]), *(4 * [some]), many)
    kernel = draw(st.sampled_from((*(3 * ("rbf",)), *kernels)))
    n = draw(sizes)
    if "callable" in kernel or "matrix" in kernel:
        n = min(n, 300)
    far = draw(st.booleans())
    powers = st.integers(-8, 8).map(lambda power: 10.0**power)
    widths = st.one_of(st.floats(0.05, 2.0), powers, st.just("scale"))
    return Recipe(
        seed=draw(st.integers(0, 9999)),
        n=n,
        d=draw(st.sampled_from([1, 2, 5, 20])),
        cluster=draw(st.sampled_from([0.01, 0.05, 0.1, 0.25, 0.5])) if far else 0.0,
        distance=draw(st.integers(0, 12).map(lambda power: 10.0 ** (power / 2))) if far else 0.0,
        tight=draw(st.sampled_from([1.0, 0.1, 1e-3])) if far else 1.0,
        place=draw(st.sampled_from(["last", "first", "scattered"])),
        offset=draw(st.sampled_from([3.0, 0.0, 1e2, 1e4, 1e6])),
        decades=draw(st.sampled_from(decades)),
        single=draw(st.booleans()),
        csr=draw(st.booleans()) if kernel in FORMULAS else False,
        ties=draw(st.booleans()),
        kernel=kernel,
        gamma=draw(widths)
        if kernel in ("rbf", "laplacian")
        else draw(st.sampled_from([0.3, 0.01, 1.0])),
        degree=draw(st.sampled_from([3, 2])),
        coef0=draw(st.sampled_from([0.0, 1.0, -0.5])) if kernel in ("poly", "sigmoid") else 0.0,
        share=draw(st.sampled_from([0.1, 0.01, 0.5, 0.3, 0.9])),
        cost=draw(st.sampled_from([1.0, 100.0, 0.01])),
        tol=draw(st.sampled_from([1e-3, 1e-3, 1e-5, 1e-2])),
    )
