"""Models as ONNX graphs: what onnxruntime answers is what Python answers."""

import json
import sys

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.decomposition import PCA
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

import scarce
from tests.subjects import SUBJECTS

CLOSE = {"float32": 1e-4, "float64": 1e-9}  # of the range of the scores
DTYPES = list(CLOSE)


def run(graph, rows):
    """Answers of onnxruntime by name; rows are an array, or a frame with a column an input."""
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    feeds = {}
    for each in session.get_inputs():
        values = rows if each.name == "X" else rows[each.name].to_numpy()[:, None]
        if each.type == "tensor(string)":
            feeds[each.name] = np.where(pd.isna(values), "", values).astype(object)
        else:
            kind = np.float32 if each.type == "tensor(float)" else np.float64
            feeds[each.name] = np.asarray(values).astype(kind)
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds), strict=True))


def band_of(graph):
    return float({each.key: each.value for each in graph.metadata_props}["scarce.band"])


def check(model, rows, dtype):
    """Compare all answers, as exactly as the precision allows; return those of ONNX."""
    graph = scarce.to_onnx(model, dtype=dtype)
    if dtype == "float32" and not isinstance(rows, pd.DataFrame):
        rows = np.asarray(rows).astype(np.float32).astype(np.float64)  # what both are asked
    found = run(graph, rows)
    if is_regressor(model):
        expected = model.predict(rows)
        room = CLOSE[dtype] * np.ptp(expected)
        np.testing.assert_allclose(found["values"], expected, atol=room)
        return found
    scores = model.decision_function(rows)
    assert found["scores"].shape == scores.shape
    np.testing.assert_allclose(found["scores"], scores, atol=CLOSE[dtype] * np.ptp(scores))
    if scores.ndim == 1:
        clear = np.abs(scores) > band_of(graph)
    else:
        best = np.sort(scores, axis=1)
        clear = best[:, -1] - best[:, -2] > CLOSE[dtype]
    assert clear.mean() > 0.5
    np.testing.assert_array_equal(found["labels"][clear], model.predict(rows)[clear])
    if "probabilities" in found:
        expected = model.predict_proba(rows)
        np.testing.assert_allclose(found["probabilities"], expected, atol=10 * CLOSE[dtype])
    return found


NO_FORMULA = (
    "OneClassSTM",
    "STM",
    "LocallyWeightedEnsemble",
    "PositiveUnlabeledClassifier",
    "OpenSetClassifier",
    "PerGroup",
)


def kernel_subjects():
    for subject in SUBJECTS:
        if subject.name in NO_FORMULA:
            continue
        has_kernel = "kernel" in subject.estimator.get_params(deep=False)
        for kernel in ("linear", "rbf", "poly", "sigmoid", "laplacian") if has_kernel else (None,):
            if (subject.name, kernel) == ("SVMC", "sigmoid"):
                continue  # leaves no margin on these rows
            marks = () if kernel != "sigmoid" else (pytest.mark.filterwarnings("ignore"),)
            yield pytest.param(subject, kernel, id=f"{subject.name}-{kernel}", marks=marks)


@pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")
@pytest.mark.filterwarnings("ignore:The solution is trivial")
@pytest.mark.parametrize(("subject", "kernel"), list(kernel_subjects()))
def test_every_kernel_estimator(subject, kernel):
    X, y, *_ = subject.make(60)
    given = {} if kernel is None else {"kernel": kernel}
    if kernel in ("poly", "sigmoid"):
        given |= {"gamma": 0.05} | ({"coef0": 1.0} if kernel == "poly" else {})
    model = subject.new(**given).fit(X, y)
    new = np.r_[X[:40], X[:20] + 0.3]
    for dtype in DTYPES:
        check(model, new, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", ["rbf", "linear", "laplacian"])
def test_weights_of_columns(kernel, dtype):
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 4)) * [1.0, 10.0, 0.1, 1.0]
    X[:60, 0] += 4.0
    y = np.repeat([1, 0], [30, 170])
    weights = [1.0, 0.02, 0.5, 0.0]
    model = scarce.PositiveUnlabeledSVC(
        kernel=kernel, feature_weights=weights, n_bags=5, random_state=0
    ).fit(X, y)
    np.testing.assert_array_equal(model.feature_weights_, weights)
    found = check(model, X, dtype)
    without = X * [1.0, 1.0, 1.0, 0.0]  # a column of weight 0 has no part
    np.testing.assert_allclose(
        run(scarce.to_onnx(model, dtype=dtype), without)["scores"], found["scores"], atol=1e-4
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "break_ties"), [("ovr", False), ("ovr", True), ("ovo", False)])
def test_several_classes(dtype, shape, break_ties):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = scarce.SVC(decision_function_shape=shape, break_ties=break_ties).fit(X, names)
    new = X + np.random.default_rng(0).normal(0.0, 0.5, X.shape)
    new = new.astype(np.float32).astype(float)
    found = run(scarce.to_onnx(model, dtype=dtype), new)
    scores = model.decision_function(new)
    np.testing.assert_allclose(found["scores"], scores, atol=CLOSE[dtype] * np.ptp(scores))
    assert (found["labels"] == model.predict(new)).mean() > 0.99


def test_shares_of_several_classes():
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 2))
    shares = np.eye(3)[np.digitize(X[:, 0], [-0.5, 0.5])]
    for calibrate in ("shares", None):
        model = scarce.GroupProbabilitySVM(calibrate=calibrate).fit(X, shares)
        for dtype in DTYPES:
            assert check(model, X, dtype)["probabilities"].shape == (120, 3)


@pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")
def test_a_source_of_the_same_kernel():
    random = np.random.default_rng(0)
    X, groups = random.normal(size=(200, 2)), np.arange(200) // 10
    y = (X[:, 0] > 0).astype(int)
    share = np.array([y[groups == g].mean() for g in groups])
    source = scarce.SVC(gamma=0.5).fit(X + 0.3, y)
    model = scarce.TransferGroupProbabilitySVM(source=source, gamma=0.5, calibrate=None)
    model.fit(X, share, groups)
    for dtype in DTYPES:
        check(model, X, dtype)
    other = scarce.TransferGroupProbabilitySVM(
        source=make_pipeline(StandardScaler(), scarce.SVC()).fit(X, y),
        source_kernel="any",
        gamma=0.5,
        calibrate=None,
    ).fit(X, share, groups)
    with pytest.raises(ValueError, match="source"):
        scarce.to_onnx(other)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("order", ["C", "F"])
def test_tensor_machines(dtype, normalize, order):
    random = np.random.default_rng(0)
    rows = 1.0 + random.normal(size=(60, 5))
    model = scarce.OneClassSTM(tensor_shape=(2, 3), order=order, normalize=normalize).fit(rows)
    new = np.r_[rows, random.normal(size=(40, 5)), np.zeros((1, 5))]
    check(model, new, dtype)
    images, y = rows[:, :4].reshape(-1, 2, 2), np.arange(60) % 2
    images[y == 1] += 0.5
    check(scarce.STM().fit(images, y), images, dtype)
    check(make_pipeline(StandardScaler(), scarce.STM()).fit(rows, y), new, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "step",
    [
        StandardScaler(),
        StandardScaler(with_mean=False),
        MinMaxScaler(clip=True),
        MaxAbsScaler(),
        RobustScaler(),
        PCA(3, whiten=True),
        VarianceThreshold(0.5),
        FunctionTransformer(),
        make_pipeline(MinMaxScaler((-1, 1)), PCA(2)),
        make_column_transformer((StandardScaler(), [2, 0]), ("drop", [1]), remainder="passthrough"),
    ],
    ids=lambda step: type(step).__name__,
)
def test_steps(step, dtype):
    random = np.random.default_rng(0)
    X = 7.0 + random.normal(size=(80, 4)) * [0.1, 1.0, 3.0, 2.0]
    model = make_pipeline(clone(step), scarce.OneClassSVM(nu=0.1)).fit(X)
    check(model, np.r_[X, X + 1.0], dtype)


def table(n=90):
    random = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "colour": random.choice(["red", "green", "blue", "grey"], n, p=[0.4, 0.3, 0.25, 0.05]),
            "size": random.normal(50.0, 10.0, n),
            "level": random.integers(0, 3, n),
            "weight": random.normal(size=n),
        }
    )
    frame.loc[::7, "weight"] = np.nan
    frame.loc[::11, "colour"] = None
    return frame


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "settings",
    [
        {"handle_unknown": "ignore"},
        {"handle_unknown": "ignore", "drop": "first"},
        {"handle_unknown": "infrequent_if_exist", "min_frequency": 0.1},
        {"handle_unknown": "ignore", "min_frequency": 0.1},
        {"handle_unknown": "ignore", "sparse_output": True},
    ],
    ids=lambda settings: "-".join(map(str, settings.values())),
)
@pytest.mark.filterwarnings("ignore:Found unknown categories")
def test_tables_with_texts_and_gaps(dtype, settings):
    frame = table()
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    encoder = OneHotEncoder(**{"sparse_output": False, **settings})
    steps = make_column_transformer((encoder, ["level", "colour"]), (numbers, ["weight", "size"]))
    detector = scarce.OneClassSVM(gamma=0.1, nu=0.1, offset="left_out")
    model = make_pipeline(steps, detector).fit(frame)
    new = frame.assign(size=frame["size"] + 20.0)
    new.loc[3, "colour"] = "mauve"
    # Numbers that float32 holds, so that both are asked the same.
    new[["size", "weight"]] = new[["size", "weight"]].astype(np.float32).astype(float)
    check(model, new, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("around", [True, False])
def test_p_values(dtype, around):
    X = np.random.default_rng(0).normal(size=(80, 3))
    if around:
        model = scarce.CalibratedOneClass(make_pipeline(StandardScaler(), scarce.OneClassSVM()))
    else:
        model = scarce.TransferOneClassSVM()
    model.fit(X)
    new = (X * 1.5).astype(np.float32).astype(float)
    found = check(model, new, dtype)
    scores = model.decision_function(new)
    levels = model.left_out_scores_ - np.ravel(model.offset_)[0]
    clear = np.abs(scores[:, None] - levels).min(axis=1) > CLOSE[dtype] * np.ptp(scores)
    assert clear.mean() > 0.5
    np.testing.assert_allclose(found["p_values"][clear], model.p_values(new)[clear], atol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("gamma", ["scale", "auto"])
def test_support_vectors_on_the_boundary_stay_inside(dtype, gamma):
    X = load_breast_cancer().data
    X = StandardScaler().fit_transform(X).astype(np.float32)
    model = scarce.OneClassSVM(gamma=gamma, nu=0.2).fit(X)
    graph = scarce.to_onnx(model, dtype=dtype)
    found = run(graph, X)
    assert (model.decision_function(X) == 0).sum() > 5  # what the band is for
    np.testing.assert_array_equal(found["labels"], model.predict(X))


def test_float32_that_would_not_do_is_computed_in_float64():
    random = np.random.default_rng(0)
    X = np.r_[random.normal(size=(30, 2)), random.normal(size=(30, 2)) + 2e4]
    X = X.astype(np.float32).astype(float)
    model = scarce.SVC(C=1e5, gamma=1.0).fit(X, np.arange(60) % 2)
    check(model, X, "float32")
    kinds = {node.op_type for node in scarce.to_onnx(model).graph.node}
    assert "Cast" in kinds


def test_what_is_written_beside():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 2)), columns=["a", "b"])
    graph = scarce.to_onnx(scarce.OneClassSVM().fit(frame))
    written = {each.key: each.value for each in graph.metadata_props}
    assert written["scarce.estimator"] == "OneClassSVM"
    assert written["scarce.version"] == scarce.__version__
    assert json.loads(written["scarce.columns"]) == ["a", "b"]
    assert float(written["scarce.band"]) > 0
    assert {node.domain for node in graph.graph.node} == {""}  # plain operators


X0 = np.random.default_rng(0).normal(size=(30, 2))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (scarce.OneClassSVM(kernel=lambda a, b: a @ b.T), "callable"),
        (scarce.OneClassSVM(kernel="precomputed"), "precomputed"),
        (make_pipeline(PolynomialFeatures(), scarce.OneClassSVM()), "PolynomialFeatures"),
        (make_pipeline(FunctionTransformer(np.abs), scarce.OneClassSVM()), "callable"),
        (make_pipeline(SimpleImputer(missing_values=-1), scarce.OneClassSVM()), "missing_values"),
        (scarce.CalibratedOneClass(scarce.OneClassSVM(), method="cv+"), "one_model"),
        (StandardScaler(), "not a sum of kernel functions"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.filterwarnings("ignore:The solution is trivial")
def test_what_cannot_be_exported_is_told(model, message):
    rows = X0 @ X0.T if "precomputed" in message else X0
    with pytest.raises(ValueError, match=message):
        scarce.to_onnx(model.fit(rows))


def test_other_refusals(monkeypatch):
    from scipy import sparse

    with pytest.raises(ValueError, match=r"sparse rows.*toarray"):
        scarce.to_onnx(scarce.OneClassSVM().fit(sparse.csr_array(X0)))
    with pytest.raises(ValueError, match="dtype must be one of float32, float64, got 'float16'"):
        scarce.to_onnx(scarce.OneClassSVM().fit(X0), dtype="float16")
    ensemble = scarce.LocallyWeightedEnsemble()
    domain = np.repeat([0, -1], 15)
    ensemble.fit(X0, np.arange(30) % 2, sample_domain=domain)
    with pytest.raises(ValueError, match="LocallyWeightedEnsemble cannot be exported"):
        scarce.to_onnx(ensemble)
    assert is_classifier(ensemble)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"scarce\[onnx\]"):
        scarce.to_onnx(scarce.OneClassSVM().fit(X0))
