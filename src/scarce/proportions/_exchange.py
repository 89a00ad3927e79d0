"""Source knowledge files: a source model without its rows, safe to load from a stranger.

The file is an uncompressed zip of plain ``.npy`` arrays and one JSON header, nothing else. It is
read without pickle and without evaluating the arrays' headers, no array is allocated before its
size is known to be in the file, and compressed members are refused, so that a small file cannot
fill the memory.
"""

from __future__ import annotations

import io
import json
import math
import re
import warnings
import zipfile
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_random_state

from scarce._arrays import Array, check_sparse
from scarce._model_files import LARGEST_DEGREE
from scarce.kernels import Kernel, RBFKernel, formula_names, kernel_type, landmark_root, make_kernel
from scarce.proportions._source import (
    ExpansionSource,
    FourierSource,
    LinearSource,
    Source,
    read_sources,
)

FORMAT = "scarce source"
VERSION = 1
HEADER = "header.json"
LARGEST_HEADER = 10_000  # bytes
# What NumPy writes before the values, matched and not evaluated as NumPy's own reader does.
ARRAY = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '<f8', 'fortran_order': False, "
    rb"'shape': \((\d{1,19}),(?: (\d{1,19}))?\), \} *\n",
    re.DOTALL,
)
ARRAYS = {
    "linear": {"coef": 1},
    "expansion": {"vectors": 2, "coefficients": 1},
    "fourier": {"frequencies": 2, "phases": 1, "coefficients": 1},
}
FAR = 0.25  # difference between file and model, in standard deviations, that gives a warning
# The header names all three parameters, whether or not the kernel has them.
UNUSED = {"gamma": 1.0, "degree": 3.0, "coef0": 0.0}


class SourceModel(BaseEstimator):
    """A source model read from a file, to be given as `source`; see `load_source`.

    Parameters
    ----------
    sources : list
        Its parts as `load_source` has read them, one for each problem.
    """

    def __init__(self, sources: Any) -> None:
        self.sources = sources

    def __sklearn_clone__(self) -> Self:
        return self

    @property
    def intercept_(self) -> Array:
        """The offset ``b_s``."""
        return np.array([source.intercept for source in self.sources])

    def decision_function(self, X: Any) -> Array:
        """Return the source's scores of new rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The scores.
        """
        if sparse.issparse(X):
            check_sparse(X, "X")
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
        return np.asarray(self.sources[0].function(X) + self.sources[0].intercept)


def export_source(
    model: Any,
    path: Any,
    *,
    landmarks: ArrayLike | None = None,
    n_features: int | None = None,
    training_rows: bool = False,
    random_state: Any = None,
) -> float:
    """Write what the target's side needs of a source model, and nothing more.

    A linear model is written as its weights. A kernel model is a sum over training rows, and these
    are not written unless asked for: it is written as a sum over `landmarks` of your choice (the
    nearest such function), or as random Fourier features.

    Parameters
    ----------
    model : object
        A fitted classifier of two classes, or a pair ``(coef, intercept)``; as `source` of
        `TransferGroupProbabilitySVM`.
    path : str or path-like
        File to write.
    landmarks : array-like of shape (n_landmarks, n_features), default=None
        Rows to stand for the training rows of a kernel model: public ones, the common rows, or
        drawn at random. Support vectors among them are refused; other training rows the model does
        not know, and cannot recognise.
    n_features : int, default=None
        Number of random Fourier features, in place of landmarks, for an RBF kernel. The error falls
        with its square root only; good landmarks need far fewer.
    training_rows : bool, default=False
        Allow rows of the training data in the file. Without landmarks and features the support
        vectors themselves are written, and the file is exact.
    random_state : int, RandomState instance or None, default=None
        Draws the random features.

    Returns
    -------
    float
        Root mean square difference between the scores of the file and of the model on the model's
        support vectors, divided by the standard deviation of the latter; 0 for an exact file.
        A warning says when it is above 1/4.

    See Also
    --------
    load_source : Read the file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> from scarce.proportions import export_source, load_source
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(60, 2))
    >>> model = SVC(gamma=0.5).fit(X, X[:, 0] > 0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "source.npz"
    ...     error = export_source(model, path, landmarks=random.normal(size=(100, 2)))
    ...     source = load_source(path)
    >>> error < 0.01
    True
    >>> scores = source.decision_function(X)
    >>> bool(np.mean((scores > 0) == model.predict(X)) > 0.95)
    True
    """
    kernel = getattr(getattr(model, "estimator", model), "kernel", "linear")
    source = read_sources(model, _any_rows(model), make_kernel(kernel), 1)[0]
    given = (landmarks is not None, n_features is not None)
    if isinstance(source, LinearSource):
        if any(given) or training_rows:
            raise ValueError(
                "landmarks, n_features and training_rows are for kernel models; a linear model is "
                "written as its weights"
            )
        _write(path, "linear", source.intercept, None, {"coef": source.coef})
        return 0.0
    if not isinstance(source, ExpansionSource) or source.kernel is None:
        raise ValueError(
            f"only linear models and sums of kernel functions can be written, got {model!r}; the "
            "steps of a pipeline are applied by each side itself"
        )
    if not source.kernel.has_formula:
        raise ValueError(
            "a kernel given as a function cannot be written to a file; use a named one"
        )
    if given == (False, False) and not training_rows:
        raise ValueError(
            "a kernel model is a sum over training rows. Choose what leaves instead: landmarks= "
            "rows of your choice, n_features= a number of random features (rbf only), or "
            "training_rows=True to write the support vectors themselves"
        )
    if given == (True, True):
        raise ValueError("give landmarks or n_features, not both")
    written = source
    if landmarks is not None:
        written = _seen_through(source, landmarks, training_rows)
    elif n_features is not None:
        return _write_features(path, source, n_features, random_state)
    vectors = written.vectors
    dense = vectors.toarray() if sparse.issparse(vectors) else np.asarray(vectors)
    arrays = {"vectors": dense, "coefficients": written.coefficients}
    _write(path, "expansion", written.intercept, written.kernel, arrays)
    return 0.0 if written is source else _difference(source, written, 3)


def _any_rows(model: Any) -> Array:
    """Return some rows as wide as the model's, to see whether a pipeline is linear in them."""
    width = int(getattr(model, "n_features_in_", 1))
    return np.random.default_rng(0).normal(size=(64, width))


def _seen_through(source: ExpansionSource, landmarks: Any, training_rows: bool) -> ExpansionSource:
    """Return the nearest function that is a sum over the landmarks."""
    assert source.kernel is not None
    rows = check_array(landmarks, dtype=np.float64, input_name="landmarks")
    vectors = source.vectors
    dense = vectors.toarray() if sparse.issparse(vectors) else np.asarray(vectors)
    if rows.shape[1] != dense.shape[1]:
        raise ValueError(f"landmarks must have {dense.shape[1]} features, got {rows.shape[1]}")
    # In the model's precision, which may have rounded the rows; + 0.0 makes -0 the same as 0.
    known = {row.tobytes() for row in dense + dense.dtype.type(0)}
    shown = sum(row.tobytes() in known for row in (rows + 0.0).astype(dense.dtype))
    if shown and not training_rows:
        raise ValueError(
            f"{shown} of the {len(rows)} landmarks are support vectors of the model, rows of the "
            "training data; choose others, or pass training_rows=True to let them leave"
        )
    among = source.kernel.values(rows, rows)
    root = landmark_root(among).root
    coefficients = root @ (root.T @ source.function(rows))
    return ExpansionSource(rows, coefficients, source.intercept, source.kernel)


def _write_features(path: Any, source: ExpansionSource, n: Any, random_state: Any) -> float:
    kernel = source.kernel
    assert kernel is not None
    if not isinstance(kernel, RBFKernel):
        raise ValueError(
            f'random Fourier features are of kernel="rbf", the model has {kernel.name!r}; give '
            "landmarks"
        )
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise ValueError(f"n_features must be a positive integer, got {n!r}")
    random = check_random_state(random_state)
    width = source.vectors.shape[1]
    frequencies = np.sqrt(2 * kernel.gamma) * random.normal(size=(n, width))
    phases = random.uniform(0, 2 * np.pi, size=n)
    # k(x, z) is the mean of 2 cos(w'x + b) cos(w'z + b).
    angles = np.asarray(source.vectors @ frequencies.T) + phases
    coefficients = (2.0 / n) * (source.coefficients @ np.cos(angles))
    written = FourierSource(frequencies, phases, coefficients, source.intercept, kernel)
    arrays = {"frequencies": frequencies, "phases": phases, "coefficients": coefficients}
    _write(path, "fourier", source.intercept, kernel, arrays)
    return _difference(source, written, 4)


def _difference(source: Source, written: Source, level: int) -> float:
    """Return how far the file is from the model; warn the caller, ``level`` frames up, if far."""
    assert isinstance(source, ExpansionSource)
    exact = source.function(source.vectors)
    error = float(np.sqrt(np.mean((written.function(source.vectors) - exact) ** 2)))
    spread = float(exact.std())
    share = error / spread if spread > 0 else error
    if share > FAR:
        warnings.warn(
            f"the file's scores of the support vectors differ from the model's by {share:.0%} of "
            "their standard deviation; give more landmarks, nearer to the training rows, or more "
            "features",
            UserWarning,
            stacklevel=level,
        )
    return share


def _write(
    path: Any, kind: str, intercept: float, kernel: Kernel | None, arrays: dict[str, Array]
) -> None:
    header: dict[str, Any] = {"format": FORMAT, "version": VERSION, "kind": kind}
    header["intercept"] = float(intercept)
    if kernel is not None:
        settings = {k: float(v) for k, v in kernel.parameters().items()}
        header["kernel"] = {"name": kernel.name} | UNUSED | settings
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as file:
        file.writestr(HEADER, json.dumps(header))
        for name, values in arrays.items():
            buffer = io.BytesIO()
            plain = np.ascontiguousarray(values, dtype="<f8")
            np.lib.format.write_array(buffer, plain, version=(1, 0), allow_pickle=False)
            file.writestr(f"{name}.npy", buffer.getvalue())


def load_source(path: Any) -> SourceModel:
    """Read a source knowledge file; nothing in it is executed.

    Parameters
    ----------
    path : str or path-like
        File written by `export_source`.

    Returns
    -------
    SourceModel
        To be given as `source` to `TransferGroupProbabilitySVM`.

    Raises
    ------
    ValueError
        When the file is none of these, is damaged, or was written by a newer version.
    """
    path = Path(path)
    size = path.stat().st_size
    try:
        with zipfile.ZipFile(path) as file:
            for member in file.infolist():
                if member.compress_type != zipfile.ZIP_STORED or member.file_size > size:
                    raise ValueError("it holds compressed members")
            header = _read_header(file)
            expected = ARRAYS[header["kind"]]
            members = [HEADER, *(f"{name}.npy" for name in expected)]
            if len(file.namelist()) > len(members):
                raise ValueError(f"it holds more than {', '.join(members)}")
            arrays = {name: _read_array(file, name, n) for name, n in expected.items()}
    # RuntimeError: encrypted members, and what zipfile does not implement.
    except (zipfile.BadZipFile, OSError, EOFError, KeyError, RuntimeError) as error:
        raise ValueError(f"{path} is not a source file, or is damaged: {error}") from None
    except ValueError as error:
        raise ValueError(f"{path} is not a source file that can be read: {error}") from None
    return SourceModel([_built(path, header, arrays)])


def _read_header(file: zipfile.ZipFile) -> dict[str, Any]:
    if file.getinfo(HEADER).file_size > LARGEST_HEADER:
        raise ValueError("its header is too large")
    try:
        header = json.loads(file.read(HEADER))
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        raise ValueError("its header is not JSON") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError(f'its header does not say "{FORMAT}"')
    version = header.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ValueError(f"its version is {version!r}")
    if version > VERSION:
        raise ValueError(
            f"it is of version {version}, this scarce reads up to {VERSION}; upgrade scarce"
        )
    if header.get("kind") not in list(ARRAYS):  # a list: what a stranger writes may have no hash
        raise ValueError(f"it is of the unknown kind {header.get('kind')!r}")
    return header


def _read_array(file: zipfile.ZipFile, name: str, n_dimensions: int) -> Array:
    """Return a member as an array; its header must agree with the bytes that follow."""
    content = file.read(f"{name}.npy")
    found = ARRAY.match(content)
    if found is None:
        raise ValueError(f"its array {name} is not a plain one of float64")
    shape = tuple(int(length) for length in found.groups() if length is not None)
    if len(shape) != n_dimensions or len(content) - found.end() != 8 * math.prod(shape):
        raise ValueError(f"its array {name} is not what the header says")
    values = np.frombuffer(content, dtype="<f8", offset=found.end())
    array = values.astype(np.float64).reshape(shape)  # a copy, wherever the bytes began
    if array.size == 0 or not np.isfinite(array).all():
        raise ValueError(f"its array {name} is empty or not finite")
    return array


def _built(path: Path, header: dict[str, Any], arrays: dict[str, Array]) -> Source:
    """Return the source; the parts of the file must fit each other."""
    try:
        intercept = _number(header, "intercept")
        if header["kind"] == "linear":
            return LinearSource(arrays["coef"], intercept)
        if len({len(array) for array in arrays.values()}) != 1:
            raise ValueError("its arrays are of different lengths")
        given = header["kernel"]
        settings = {name: _number(given, name) for name in ("gamma", "degree", "coef0")}
        if given["name"] not in formula_names() or kernel_type(given["name"]).explicit:
            raise ValueError(f"its kernel is {given['name']!r}")
        if settings["gamma"] < 0:
            raise ValueError(f"its gamma is {settings['gamma']:g}")
        if settings["degree"] not in range(LARGEST_DEGREE + 1):
            raise ValueError(f"its degree is {settings['degree']:g}")
        kernel = make_kernel(given["name"], **settings)
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged: its header lacks {error}") from None
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}") from None
    if header["kind"] == "expansion":
        return ExpansionSource(intercept=intercept, kernel=kernel, **arrays)
    return FourierSource(intercept=intercept, kernel=kernel, **arrays)


def _number(values: Any, name: str) -> float:
    value = values[name]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"its {name} is {value!r}")
    try:
        number = float(value)
    except OverflowError:  # a whole number of any length is JSON
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"its {name} is {number}")
    return number
