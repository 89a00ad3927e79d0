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
from scarce.baselines import ProportionLogistic
from scarce.cli import main
from scarce.kernels import PolynomialKernel
from scarce.model_selection import LeaveOneOutSearch
from tests.cli.tables import customers, districts, images
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
                asked = tuple(answers(scarce.load(path), rows, answered))
                yield name, path.read_bytes(), (rows, asked)
        _write_tables(Path(folder))
        for line in COMMANDS:
            if only in line:
                _, _, table, *options = line.split()
                with contextlib.chdir(folder):
                    code, _, err = run(["fit", table, "--out", str(path), "--force", *options])
                assert code == 0, err
                yield line, path.read_bytes(), (table, (Path(folder) / table).read_bytes())


COMMANDS = (
    "scarce fit customers.csv --id customer",
    "scarce fit customers.csv --id customer --unlabelled others.csv",
    "scarce fit few.csv --id customer --source customers.csv",
    "scarce fit districts.csv --group district --share share",
    "scarce fit others.csv --kind classify --label town",
    "scarce fit customers.csv --kind regress --label age --drop income --id customer",
    "scarce fit images.npz --id name --set tol=0.01",
    "scarce fit pumps.csv --per pump",
    "scarce fit pumps.csv --kind open-set --label pump",
)


def _write_tables(folder):
    customers(40).to_csv(folder / "customers.csv", index=False)
    customers(60, 20.0, seed=1).to_csv(folder / "others.csv", index=False)
    customers(12, seed=2).to_csv(folder / "few.csv", index=False)
    pumps = customers(90, seed=3).drop(columns="customer")
    pumps.assign(pump=[f"p{n % 3}" for n in range(90)]).to_csv(folder / "pumps.csv", index=False)
    districts(6, 8).to_csv(folder / "districts.csv", index=False)
    np.savez(folder / "images.npz", X=images(), name=[f"i{n}" for n in range(10)])


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
    for kernel in ("laplacian", "sigmoid", PolynomialKernel(0.5, 2)):
        yield f"SVC {kernel}", scarce.SVC(kernel=kernel), X, {"y": words}
    yield "ProportionLogistic", ProportionLogistic(), X, grouped
    search = LeaveOneOutSearch(scarce.OneClassSVM(), {"nu": [0.1, 0.2]})
    yield "LeaveOneOutSearch", search, X, {}
    many = random.normal(size=(200, 4)) + 3.0 * (np.arange(200) < 100)[:, None]
    labels = (np.arange(200) < 40).astype(int)
    yield "Trees", scarce.PositiveUnlabeledClassifier(random_state=0), many, {"y": labels}
    yield "OneClassSTM of matrices", scarce.OneClassSTM(rank=2), images, {}
    yield "STM of matrices", scarce.STM(rank=2), images, {"y": three % 2}


def run(arguments):
    """Run the command; return its exit code and what it wrote to the screen."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    return code, out.getvalue(), err.getvalue()


def answered(method, rows):
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
