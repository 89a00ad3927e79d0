"""Files of every fitted class, and what is asked of the model that comes back."""

import contextlib
import io
import tempfile
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import scarce
from scarce.cli import main
from tests.cli.tables import customers, districts
from tests.subjects import SUBJECTS

ASKED = (
    "predict",
    "decision_function",
    "score_samples",
    "predict_proba",
    "p_values",
    "transform",
    "scores",
)
VARIANTS = (
    {},
    {"kernel": "linear"},
    {"kernel": "poly"},
    {"kernel": "precomputed"},
    {"approximation": "nystroem", "n_components": 8},
)
N_ROWS = 24


def victims(only=""):
    """Yield names, contents of files, and rows to score with the methods that answer.

    Every class in several shapes; ``only`` is what names must hold.
    """
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "model.skops"
        for name, model, rows, given in (*_subjects(), *_others()):
            if only in name:
                scarce.save(model.fit(rows, **given), path)
                asked = tuple(answers(scarce.load(path), rows, _answered))
                yield name, path.read_bytes(), (rows, asked)
        for table, options in COMMANDS.items():
            if only in f"scarce fit {table}":
                TABLES[table]().to_csv(Path(folder) / table, index=False)
                run(["fit", str(Path(folder) / table), "--out", str(path), "--force", *options])
                yield f"scarce fit {table}", path.read_bytes(), (Path(folder) / table).read_text()


TABLES = {"customers.csv": lambda: customers(40), "districts.csv": lambda: districts(6, 8)}
COMMANDS = {
    "customers.csv": ["--id", "customer"],
    "districts.csv": ["--group", "district", "--share", "share"],
}


def _subjects():
    for subject in SUBJECTS:
        X, y = subject.make(N_ROWS)
        for container in subject.containers:
            for variant in VARIANTS:
                if not variant.keys() <= subject.traits:
                    continue
                rows = container(X)
                if variant.get("kernel") == "precomputed":
                    if sparse.issparse(rows):
                        continue
                    rows = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
                kind = "csr" if sparse.issparse(rows) else "dense"
                model = subject.new(**variant)
                yield f"{subject.name} {kind} {variant}", model, rows, {"y": y}


def _others():
    random = np.random.default_rng(0)
    X = random.normal(size=(N_ROWS, 3))
    three = np.arange(N_ROWS) % 3
    words = np.array(["a", "b"])[three % 2]
    tasks = {"sample_domain": np.where(np.arange(N_ROWS) < 12, -1, three)}
    groups = np.arange(N_ROWS) % 4
    shares = np.array([0.1, 0.4, 0.6, 0.9])[groups]
    several = np.c_[shares, (1 - shares) / 2, (1 - shares) / 2]
    grouped = {"y": shares, "groups": groups}
    images = 1.0 + 0.3 * random.normal(size=(N_ROWS, 3, 4))
    scaled = make_pipeline(StandardScaler(), scarce.OneClassSVM())
    linear = LogisticRegression().fit(X, X[:, 0] > 0)
    narrow = scarce.SVC(gamma=0.5).fit(X, X[:, 0] > 0)
    transfer = scarce.TransferGroupProbabilitySVM
    for rows in (X, sparse.csr_array(X)):
        yield "SVC of three classes", scarce.SVC(), rows, {"y": three}
        yield "SVC of words", scarce.SVC(), rows, {"y": words}
    yield "TransferOneClassSVM of tasks", scarce.TransferOneClassSVM(radius=0.1), X, tasks
    yield "OneClassSVM left out", scarce.OneClassSVM(offset="left_out"), X, {}
    yield "CalibratedOneClass cv+", scarce.CalibratedOneClass(scaled, method="cv+"), X, {}
    yield "GroupProbabilitySVM of groups", scarce.GroupProbabilitySVM(), X, grouped
    of_three = {"y": several, "groups": groups}
    yield "GroupProbabilitySVM of three", scarce.GroupProbabilitySVM(), X, of_three
    yield "Transfer, linear", transfer(source=linear, kernel="linear"), X, grouped
    yield "Transfer, kernel", transfer(source=narrow, gamma=0.5), X, grouped
    yield "OneClassSTM of matrices", scarce.OneClassSTM(rank=2), images, {}
    yield "STM of matrices", scarce.STM(rank=2), images, {"y": three % 2}


def run(arguments):
    """Run the command; return its exit code and what it wrote to the screen."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    return code, out.getvalue(), err.getvalue()


def _answered(method, rows):
    """Return an answer, or None from a model that was not fitted to give this one."""
    try:
        return method(rows)
    except ValueError:
        return None


def answers(model, rows, ask=lambda method, rows: method(rows), asked=ASKED):
    """Return what a model answers to rows, by the name of the method."""
    methods = {name: getattr(model, name) for name in asked if hasattr(model, name)}
    found = {name: ask(method, rows) for name, method in methods.items()}
    return {name: np.asarray(each) for name, each in found.items() if each is not None}
