"""mlflow keeps a model in its default format and gives it back, without a network."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import scarce

ROWS = np.random.default_rng(0).normal(size=(40, 2))


@pytest.fixture
def mlflow(tmp_path, monkeypatch):
    # Without a database, which the small distribution of mlflow does not bring.
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.chdir(tmp_path)
    mlflow = pytest.importorskip("mlflow")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    yield mlflow
    mlflow.set_tracking_uri(None)


@pytest.mark.filterwarnings("ignore")  # mlflow's own
def test_a_model_comes_back(mlflow):
    detector = scarce.CalibratedOneClass(scarce.OneClassSVM(gamma="neighbors"), cv=4)
    model = make_pipeline(StandardScaler(), detector).fit(ROWS)
    with mlflow.start_run():
        kept = mlflow.sklearn.log_model(
            model,
            name="model",
            skops_trusted_types=list(scarce.TRUSTED_TYPES),
            pip_requirements=["scikit-learn"],
        )
    assert kept.flavors["sklearn"]["serialization_format"] == "skops"  # by default
    again = mlflow.sklearn.load_model(kept.model_uri)
    new = 2.0 * ROWS
    np.testing.assert_array_equal(again.decision_function(new), model.decision_function(new))
    answers = mlflow.pyfunc.load_model(kept.model_uri).predict(new)
    np.testing.assert_array_equal(answers, model.predict(new))


@pytest.mark.filterwarnings("ignore")  # mlflow's own
def test_no_list_of_types_is_needed(mlflow):
    model = make_pipeline(StandardScaler(), scarce.OneClassSVM(nu=0.1)).fit(ROWS)
    with mlflow.start_run():
        kept = scarce.log_model(model, "model")
    assert kept.flavors["sklearn"]["serialization_format"] == "skops"
    again = mlflow.sklearn.load_model(kept.model_uri)
    np.testing.assert_array_equal(again.decision_function(ROWS), model.decision_function(ROWS))


@pytest.mark.filterwarnings("ignore")  # mlflow's own
def test_the_lines_of_the_guide(mlflow):
    page = (Path(__file__).parents[2] / "docs" / "guide" / "handing_over.md").read_text("utf-8")
    (lines,) = re.findall(r"```python\n(import mlflow.*?)```", page, re.DOTALL)
    names = {"scarce": scarce, "model": scarce.OneClassSVM(nu=0.1).fit(ROWS)}
    exec(lines, names)
    np.testing.assert_array_equal(names["again"].predict(ROWS), names["model"].predict(ROWS))


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow.sklearn", None)
    with pytest.raises(ImportError, match="log_model needs mlflow: python -m pip install mlflow"):
        scarce.log_model(scarce.OneClassSVM().fit(ROWS), "model")
