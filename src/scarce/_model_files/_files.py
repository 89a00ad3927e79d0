"""Model files: written whole, read without executing anything of theirs."""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from inspect import isroutine
from pathlib import Path
from typing import Any

from scarce._names import HOMES


def write_whole(path: str | Path, content: bytes | str) -> None:
    """Write a file so that readers see the old one or the new one, never a part.

    ``content``: what it will hold; text as UTF-8.
    """
    with whole_file(path) as draft:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Give a place to write to, which becomes the file when all went well.

    The draft lies beside the file and takes its name once it is on the disk. Drafts that killed
    processes left behind are removed.

    Yields
    ------
    Path
        The draft.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    for left in path.parent.glob(f".{path.name}.*.draft"):
        if not _is_running(left.suffixes[-2][1:]):
            left.unlink(missing_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    try:
        yield draft
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(draft, path)
    except OSError as error:
        # A full disk names no file, or the draft, which nobody has heard of.
        if error.errno is None or error.filename not in (None, str(draft), draft):
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
    finally:
        draft.unlink(missing_ok=True)


def _is_running(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except (ValueError, ProcessLookupError, OverflowError):
        return False
    except OSError:  # it belongs to somebody else
        return True
    return True


FORMAT = 1
CARD = "scarce.json"  # beside what skops writes: readable without building the model
LIBRARIES = ("scarce", "scikit-learn", "numpy", "scipy", "skops")
LARGEST_SHARE = 500  # times its size on disk that a file of much content may unpack to
MUCH = 100_000_000  # bytes

#: Types of this library that `load` builds, besides those that skops trusts of scikit-learn, NumPy
#: and SciPy. It is never read from a file.
LARGEST_DEGREE = 1_000  # of a polynomial; a stranger's could keep the reader busy for ever
TRUSTED_TYPES = (
    # A monitor is no model, and has a state of its own.
    *(f"scarce.{name}" for name in sorted(HOMES) if name[0].isupper() and name != "DriftMonitor"),
    "scarce.baselines.ProportionLogistic",
    "scarce.kernels.LaplacianKernel",
    "scarce.kernels.LinearKernel",
    "scarce.kernels.PolynomialKernel",
    "scarce.kernels.PrecomputedKernel",
    "scarce.kernels.RBFKernel",
    "scarce.kernels.SigmoidKernel",
    "scarce.model_selection.HeldOutPositives",
    "scarce.model_selection.LeaveOneOutSearch",
    "scarce.positive_unlabeled.OneClassMapper",
    "scarce.positive_unlabeled.OneDNFMapper",
    "scarce.positive_unlabeled.RocchioMapper",
    "scarce.positive_unlabeled.OutOfBagMapper",
    "scarce.positive_unlabeled.SpyMapper",
    "scarce.proportions.SourceModel",
    "numpy.dtype",  # of what an imputer was fitted to; read from an empty array
)
# Column numbers of a ColumnTransformer of scikit-learn 1.6, a list that skops does not know.
OF_OLDER_SKLEARN = ("sklearn.compose._column_transformer._RemainderColsList",)


class ModelFileError(ValueError):
    """A file is not a model file of this library, or not one that can be read here."""


def save(model: Any, path: str | Path) -> None:
    """Write a fitted model, or a pipeline that ends in one, to a file.

    The format is that of skops, with the versions of the libraries beside it. The file appears
    whole or not at all, and replaces one of the same name.

    Parameters
    ----------
    model : estimator
        Any estimator or pipeline whose parts `load` may build: see `scarce.TRUSTED_TYPES`.
    path : str or Path
        The file, by custom with the ending ".skops".

    See Also
    --------
    load : The way back.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import scarce
    >>> model = scarce.OneClassSVM(nu=0.1).fit([[0.0], [0.1], [0.2], [0.3]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     scarce.save(model, Path(folder) / "model.skops")
    ...     again = scarce.load(Path(folder) / "model.skops")
    >>> again.predict([[0.1], [9.0]])
    array([ 1, -1])
    """
    if not hasattr(model, "fit"):
        raise TypeError(f"model must be an estimator or a pipeline, got {type(model).__name__}")
    save_described(model, path, {})


def _checker() -> Callable[..., None]:
    """Return what checks a model, loaded with scikit-learn when it is needed and not before."""
    from scarce._model_files._state import check_model

    return check_model


def save_described(model: Any, path: str | Path, description: dict[str, Any]) -> None:
    """Write a model file with something said of the model, which `read_card` gives back."""
    skops, check_model = _skops(), _checker()
    try:
        check_model(model, saving=True)
    except (AttributeError, TypeError, ValueError) as error:
        functions = [name for name, value in model.get_params().items() if isroutine(value)]
        if functions:
            raise ModelFileError(
                f"{', '.join(functions)} of the model is a function, which load would not build: "
                "take a kernel by its name, or pickle, which executes what it reads"
            ) from error
        raise ModelFileError(f"the model was altered, load would refuse it: {error}") from error
    content = io.BytesIO()
    content.write(skops.dumps(model, compression=zipfile.ZIP_DEFLATED))
    strangers = _strangers(content.getvalue())
    if strangers:
        raise ModelFileError(
            f"the model holds {_listed(strangers)}, which load would not build: estimators of "
            "scikit-learn and of scarce.TRUSTED_TYPES can be saved, callables cannot"
        )
    card = {"format": FORMAT, "libraries": {name: version(name) for name in LIBRARIES}}
    card |= description
    with zipfile.ZipFile(content, "a") as archive:
        archive.writestr(CARD, json.dumps(card))
    write_whole(path, content.getvalue())


def load(path: str | Path) -> Any:
    """Read a model that `save` wrote; nothing in the file is executed.

    Only types that skops itself trusts and those of `scarce.TRUSTED_TYPES` are built. The parts of
    the model are compared with each other: types, shapes, ranges, indices of sparse rows.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    estimator
        The model.

    Raises
    ------
    ModelFileError
        If the file is no model file, is damaged, was written by a newer version, holds other
        types, or parts that do not fit together; the message names the first.

    See Also
    --------
    save : An example.
    """
    skops = _skops()
    content = Path(path).read_bytes()
    read_card(path, content)
    try:
        strangers = _strangers(content)
    except Exception as error:  # whatever a damaged description of the model leads to
        raise ModelFileError(f"{path} is damaged: {error}") from error
    if strangers:
        raise ModelFileError(
            f"{path} holds {_listed(strangers)}, which is not among scarce.TRUSTED_TYPES nor "
            "trusted by skops: it is not loaded"
        )
    check_model = _checker()
    try:
        model = skops.loads(content, trusted=[*TRUSTED_TYPES, *OF_OLDER_SKLEARN])
        check_model(model)
    except Exception as error:  # arrays and states that do not fit together fail in many ways
        raise ModelFileError(f"{path} is damaged: {error}") from error
    return model


def read_card(path: str | Path, content: bytes | None = None) -> dict[str, Any]:
    """Return what a model file says of itself, after looking that it can be read.

    ``content``: what it holds, if that is known.
    """
    content = Path(path).read_bytes() if content is None else content
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = archive.namelist()
            _check_size(path, archive, len(content))
            broken = archive.testzip()
            if broken is not None:
                raise ModelFileError(f"{path} is damaged: {broken} has a wrong checksum")
            if CARD not in names:
                raise ModelFileError(f"{path} is not a model file of scarce: it holds no {CARD}")
            card = json.loads(archive.read(CARD))
    except zipfile.BadZipFile as error:
        raise ModelFileError(f"{path} is not a model file of scarce, or it is damaged") from error
    except (ValueError, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"{path} is damaged: {error}") from error
    written = card.get("format") if isinstance(card, dict) else None
    if not isinstance(written, int):
        raise ModelFileError(f"{path} is damaged: its format is {written!r}")
    if written > FORMAT:
        raise ModelFileError(
            f"{path} has format {written}, written by a newer scarce "
            f"({card.get('libraries', {}).get('scarce', 'of unknown version')}); this one reads "
            f"formats up to {FORMAT}"
        )
    return dict(card)


def _check_size(path: str | Path, archive: zipfile.ZipFile, n_bytes: int) -> None:
    """Refuse an archive that would unpack to very much, archives inside it included."""
    size = _unpacked(path, archive, n_bytes, 0)
    for entry in archive.infolist():
        with archive.open(entry) as member:
            head = member.read(2)
            inside = head + member.read() if head == b"PK" else b""
        if inside:  # a sparse matrix of another library
            with zipfile.ZipFile(io.BytesIO(inside)) as inner:
                size = _unpacked(path, inner, n_bytes, size)


def _unpacked(path: str | Path, archive: zipfile.ZipFile, n_bytes: int, before: int) -> int:
    size = before + sum(entry.file_size for entry in archive.infolist())
    if size > MUCH and size > LARGEST_SHARE * n_bytes:
        raise ModelFileError(
            f"{path} unpacks from {n_bytes:.2g} to {size:.2g} bytes: no model does"
        )
    return size


def _strangers(content: bytes) -> list[str]:
    found = _skops().get_untrusted_types(data=content)
    return [name for name in found if name not in (*TRUSTED_TYPES, *OF_OLDER_SKLEARN)]


def _listed(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _skops() -> Any:
    try:
        return import_module("skops.io")
    except ImportError as error:
        message = "model files need skops: python -m pip install 'scarce[persist]'"
        raise ImportError(message) from error
