"""Probabilities of a calibrated classifier in ONNX are those of Python."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import scarce

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]


@pytest.mark.parametrize("ensemble", [True, False])
@pytest.mark.parametrize("rows", [slice(50, None), slice(None)], ids=["two", "three"])
@pytest.mark.parametrize("around", [False, True], ids=["inside", "around"])
def test_probabilities_are_those_of_python(ensemble, rows, around):
    runtime = pytest.importorskip("onnxruntime")
    inner, scaler = scarce.SVC(), StandardScaler()
    if around:
        model = make_pipeline(scaler, CalibratedClassifierCV(inner, ensemble=ensemble, cv=3))
    else:
        model = CalibratedClassifierCV(make_pipeline(scaler, inner), ensemble=ensemble, cv=3)
    model.fit(X[rows], NAMES[rows])
    graph = scarce.to_onnx(model, dtype="float64")
    session = runtime.InferenceSession(graph.SerializeToString())
    labels, chances = session.run(["labels", "probabilities"], {"X": X})
    np.testing.assert_allclose(chances, model.predict_proba(X), atol=1e-9)
    assert labels.tolist() == model.predict(X).tolist()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (CalibratedClassifierCV(scarce.SVC(), method="isotonic"), 'sigmoid" can'),
        (CalibratedClassifierCV(scarce.SVC(decision_function_shape="ovo")), 'of "ovr" it can'),
    ],
)
def test_what_cannot_be_exported_is_told(model, message):
    pytest.importorskip("onnx")
    with pytest.raises(ValueError, match=message):
        scarce.to_onnx(model.fit(X, NAMES))
