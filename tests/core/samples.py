"""Arguments for every function of the core: drawn as declared, then made to belong together."""

import numpy as np

from tests.core import reference
from tests.core.declared import FUNCTIONS, draw


def boxes(given, random):
    """Make bounds, a point between them, and groups that are whole."""
    n = given["lower"].size
    width = random.choice([0.5, 1.0, 3.0], n)
    given["lower"] = random.choice([0.0, -1.0], n)
    given["upper"] = given["lower"] + width
    share = random.choice([0.0, 0.25, 0.7, 1.0], n)
    for name in ("x", "at"):
        if name in given and given[name].dtype == np.float64:
            given[name] = given["lower"] + share * width
            share = random.permutation(share)
    if "widths" in given:
        given["widths"] = width
    if "starts" in given:
        given["starts"][0], given["starts"][-1] = 0, n
        given["starts"].sort()
    if "totals" in given:
        for g, (first, last) in enumerate(
            zip(given["starts"][:-1], given["starts"][1:], strict=True)
        ):
            own = slice(first, last)
            low, high = given["lower"][own].sum(), given["upper"][own].sum()
            given["totals"][g] = low + 0.4 * (high - low)


def matrix(given, random):
    """Make a positive definite matrix, of which the rows and columns of the program are a part."""
    n = given["x"].size
    name = "source" if "source" in given else "values"
    whole = random.normal(size=(2 * n + 1, 6))
    K = np.exp(-0.1 * ((whole[:, None] - whole) ** 2).sum(axis=2)) + 0.1 * np.eye(2 * n + 1)
    given[name] = np.ascontiguousarray(K)
    given["lines"] = random.permutation(2 * n + 1)[:n]
    given["columns"] = given["lines"].copy()
    given["signs"] = random.choice([-1.0, 1.0], n)
    scale = "scale" if "scale" in given else "coupling"
    g = given[scale].shape[0]
    given[scale] = 0.5 * np.eye(g) + 0.5
    given["extra"] = random.choice([0.0, 0.3], n)


def groups_of(given):
    starts = given["starts"]
    return np.repeat(np.arange(starts.size - 1), np.diff(starts))


def prepare_steps(given, random):
    boxes(given, random)
    matrix(given, random)
    n, groups = given["x"].size, groups_of(given)
    real = given["values"].dtype
    given["values"], given["where"] = np.full((n, n), np.nan, real), np.full(n, -1)
    own = np.diag(given["source"])[given["lines"]]
    given["diagonal"] = given["scale"][groups, groups] * own + given["extra"]
    given["met"] = np.array([-1, -1, -1])
    given["tol"], given["most"] = 1e-3, 40


def prepare_exact(given, random):
    boxes(given, random)
    matrix(given, random)
    given["most_free"] = 200


def prepare_follow(given, random):
    boxes(given, random)
    matrix(given, random)
    given["moved"] = np.abs(given["moved"])


def prepare_small(given, random):
    boxes(given, random)
    matrix(given, random)
    n = given["x"].size
    given["diagonal"] = np.diag(given["values"])[given["lines"]]
    given["extra"] = np.zeros(n)
    given["space"] = np.full(n * n, np.nan)
    given["errors"] = np.zeros_like(given["errors"])
    given["tol"], given["most"] = 1e-4, 100_000


def prepare_active(given, random):
    """Make a point of all rows, whose field is known for other values of the active ones."""
    boxes(given, random)
    n, active, groups = given["x"].size, given["row_of"].size, given["groups"]
    given["row_of"] = rows = random.permutation(n)[:active]
    given["linear"] *= 10.0  # most are at the right bound
    given["linear"][rows] *= 0.1
    X = random.normal(size=(n, 4))
    K = np.exp(-0.2 * ((X[:, None] - X) ** 2).sum(axis=2))
    given["square"] = np.ascontiguousarray(K[np.ix_(rows, rows)])
    given["signs"] = random.choice([-1.0, 1.0], n)
    before = given["x"].copy()
    before[rows] = given["lower"][rows]
    given["last"] = before[rows]
    given["field"] = K @ (given["signs"] * before)
    given["active"] = K[rows] @ (given["signs"] * given["x"])
    given["quadratic"] = float(before @ (given["signs"] * given["field"]))
    given["level"] = float(given["linear"] @ given["x"])
    low, high = (
        np.bincount(groups[rows], (given[side] - given["x"])[rows], given["lacking"].size)
        for side in ("lower", "upper")
    )
    given["lacking"] = low + random.choice([0.3, 0.6]) * (high - low)
    given |= {"value_error": 1e-15, "error": 1e-13, "largest": 1.0, "tol": 1e-3, "most": 10**5}
    given["space"] = np.full(active * active, np.nan)


def prepare_sparse(given, random):
    """Make row pointers and sorted column indices in range."""
    # The panel of a product is transposed: a row a feature, as many columns as there are outputs.
    product = "panel_indptr" in given and "squared" not in given
    for front in ("", "panel_"):
        if front + "indptr" not in given:
            continue
        indptr, data = given[front + "indptr"], given[front + "data"]
        width = given["planes"].shape[1] if "planes" in given else 7
        width = given["out"].shape[1] if product and front else width
        pattern = random.random((indptr.size - 1, width)) < 0.4
        indptr[0], indptr[1:] = 0, np.cumsum(pattern.sum(axis=1))
        given[front + "data"] = random.normal(size=int(indptr[-1])).astype(data.dtype)
        if front + "indices" in given:
            given[front + "indices"] = np.nonzero(pattern)[1].astype(indptr.dtype)


def prepare_packed(given, random):
    X = given["X"] if "X" in given else given["Z"]
    rows = X.shape[0]
    if "weights" in given:
        rows = given["weights"].shape[1]
    elif "rows" in given:
        rows = given["out"].shape[1]
    room = -(-rows // 64) * 64 * X.shape[1]
    given["packed"] = random.normal(size=room)
    if "gamma" in given:
        given["gamma"] = 0.3
    if "start" in given:
        given["start"], given["stop"] = 0, rows
        reference.pack(X, given["packed"])


def prepare_group_sums(given, random):
    n, (p, q) = given["codes"].size, given["tile"].shape
    given["codes"].sort()
    given["first_row"], given["first_column"] = min(2, n - p), n - q
    given["buffer"] = np.full(q, np.nan)


def prepare_next_rows(given, random):
    boxes(given, random)
    given["where"] = random.integers(-1, 2, given["x"].size)
    given["tol"] = 0.1
    given["asked"] = -1 if random.random() < 0.5 or given["x"].size == 0 else 0


def bends_down(given, random):
    given["starts"][0], given["starts"][-1] = 0, given["extra"].size
    given["starts"].sort()
    n = given["extra"].size
    # A matrix of one large diagonal bends nowhere; small ones do.
    given["values"] += (random.choice([0.0, 9.0]) * np.eye(n)).astype(given["values"].dtype)
    given["scale"] = np.abs(given["scale"])


def prepare_trees(given, random):
    """Make trees of all nodes: the children of the first are the second and third, and so on."""
    m = given["feature"].size
    first = 2 * np.arange(m) + 1
    leaf = (first + 1 >= m) | (random.random(m) < 0.1)
    given["left"], given["right"] = (np.where(leaf, 0, first + k) for k in (0, 1))
    given["feature"] = np.where(leaf, -1, random.integers(given["X"].shape[1], size=m))
    given["threshold"] = random.normal(size=m)


PREPARE = {
    "add_trees": prepare_trees,
    "add_tree_shares": prepare_trees,
    "bends_down": bends_down,
    "group_extremes": boxes,
    "extreme_rows": boxes,
    "violation_keys": boxes,
    "next_rows": prepare_next_rows,
    "pairwise_steps": prepare_steps,
    "exact_steps": prepare_exact,
    "follow_steps": prepare_follow,
    "tidy_point": boxes,
    "first_point": boxes,
    "solve_small": prepare_small,
    "solve_active": prepare_active,
    "add_group_sums": prepare_group_sums,
    "sparse_squared_norms": prepare_sparse,
    "project_sparse": prepare_sparse,
    "sparse_product": prepare_sparse,
    "merged_distances": prepare_sparse,
    "pack": prepare_packed,
    "gaussian_rows": prepare_packed,
    "gaussian_square": prepare_packed,
    "gaussian_scores": prepare_packed,
}


def arguments(name, n, random, real="d", index="l"):
    """Return arguments of a function of so many variables, rows or columns."""
    sizes = {letter: n for letter in "anpqmbc"} | {"g": int(random.integers(1, 4)), "k": 5}
    sizes |= {"z": 0, "y": 0, "f": 7, "*": n * n, "t": min(n, 3)}
    if name == "add_group_sums":
        sizes |= {"p": n // 2, "q": n - n // 3}
    if name in {"gather_block", "add_rows", "distances", "gaussian_rows", "gaussian_sums"}:
        sizes |= {"p": n, "q": (n + 1) // 2, "a": n, "b": n, "m": n}
    if name == "solve_active":
        sizes["n"] = 2 * n
    if name == "add_tree_shares":
        sizes |= {"n": min(n, 9), "c": 4}
    given = draw(FUNCTIONS[name], random, sizes, real, index)
    if "squared" in given:
        given["squared"] = int(random.integers(2))
    if name in PREPARE:
        PREPARE[name](given, random)
    return given
