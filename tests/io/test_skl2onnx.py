"""Pipelines that skl2onnx converts, with our estimators at their end."""

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)

import scarce

skl2onnx = pytest.importorskip("skl2onnx", exc_type=ImportError)

X = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
KINDS = {
    "one class": (scarce.OneClassSVM(nu=0.2), None),
    "held out": (scarce.OneClassSVM(nu=0.2, offset="left_out"), None),
    "calibrated": (scarce.CalibratedOneClass(scarce.OneClassSVM(nu=0.2), cv=3), None),
    "texts": (scarce.SVC(), np.where(X[:, 0] > 0, "sold", "kept")),
    "three": (scarce.SVC(), np.digitize(X[:, 0], [-0.5, 0.5])),
    "unlabelled": (
        scarce.PositiveUnlabeledSVC(n_bags=3, random_state=0),
        (X[:, 0] > 0.5).astype(int),
    ),
    "numbers": (scarce.SVR(), X[:, 0]),
}


@pytest.fixture(autouse=True, scope="module")
def registered():
    scarce.io.register_skl2onnx()


def answers(graph, feeds):
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds), strict=True))


def check(model, rows, found, room):
    if "values" in found:
        np.testing.assert_allclose(found["values"], model.predict(rows), atol=room)
        return
    scores = model.decision_function(rows)
    np.testing.assert_allclose(found["scores"], scores, atol=room * np.ptp(scores))
    clear = np.abs(scores) > room if scores.ndim == 1 else np.full(len(scores), True)
    assert clear.mean() > 0.5
    np.testing.assert_array_equal(found["labels"][clear], model.predict(rows)[clear])
    if "p_values" in found:
        expected = model[-1].p_values(model[:-1].transform(rows))
        np.testing.assert_allclose(found["p_values"][clear], expected[clear], atol=0.02)


@pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_a_step_that_only_skl2onnx_knows(kind):
    last, y = KINDS[kind]
    model = make_pipeline(PolynomialFeatures(), last).fit(X, y)
    with pytest.raises(ValueError, match="PolynomialFeatures cannot be exported"):
        scarce.to_onnx(model)
    graph = skl2onnx.to_onnx(model, X[:1])
    new = X + np.float32(0.1)  # no training rows, of which many lie on the boundary
    check(model, new, answers(graph, {"X": new}), 1e-4)


@pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_doubles_stay_doubles(kind):
    last, y = KINDS[kind]
    rows = X.astype(np.float64) + 100.0
    model = make_pipeline(StandardScaler(), Normalizer(), last).fit(rows, y)
    graph = skl2onnx.to_onnx(model, rows[:1])
    check(model, rows + 0.1, answers(graph, {"X": rows + 0.1}), 1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ensemble", [True, False])
@pytest.mark.parametrize("classes", [2, 3])
def test_calibrated_probabilities(dtype, ensemble, classes):
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5][: classes - 1])]
    calibrated = CalibratedClassifierCV(scarce.SVC(), ensemble=ensemble, cv=3)
    model = make_pipeline(Normalizer(), calibrated).fit(X, y)
    graph = skl2onnx.to_onnx(model, X[:1].astype(dtype), options={"zipmap": False})
    new = X + np.float32(0.1)
    found = answers(graph, {"X": new.astype(dtype)})
    expected = model.predict_proba(new)
    np.testing.assert_allclose(found["probabilities"], expected, atol=1e-5)
    clear = np.ptp(np.sort(expected, axis=1)[:, -2:], axis=1) > 1e-4
    np.testing.assert_array_equal(found["label"][clear], model.predict(new)[clear])


def test_columns_of_texts_and_of_whole_numbers():
    table = pd.DataFrame(
        {"a": X[:, 0], "n": np.arange(60) % 7, "t": np.where(X[:, 1] > 0, "x", "y")}
    )
    prepared = make_column_transformer((OneHotEncoder(), ["t"]), ("passthrough", ["a"]))
    model = make_pipeline(prepared, scarce.SVC()).fit(table[["a", "t"]], X[:, 2] > 0)
    graph = skl2onnx.to_onnx(model, table[["a", "t"]][:1])
    feeds = {name: table[[name]].to_numpy() for name in ("a", "t")}
    found = answers(graph, {**feeds, "t": feeds["t"].astype(object)})
    np.testing.assert_allclose(
        found["scores"], model.decision_function(table[["a", "t"]]), atol=1e-4
    )
    # Several inputs, one of them of whole numbers, for an estimator that takes one matrix.
    model = scarce.SVC().fit(table[["a", "n"]], X[:, 2] > 0)
    found = answers(
        skl2onnx.to_onnx(model, table[["a", "n"]][:1]), {n: table[[n]].to_numpy() for n in "an"}
    )
    np.testing.assert_allclose(
        found["scores"], model.decision_function(table[["a", "n"]]), atol=1e-4
    )


def test_what_has_no_graph_says_why():
    model = make_pipeline(PolynomialFeatures(), scarce.SVC(kernel=lambda a, b: a @ b.T))
    with pytest.raises(ValueError, match="callable"):
        skl2onnx.to_onnx(model.fit(X, X[:, 0] > 0), X[:1])
