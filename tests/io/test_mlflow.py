"""mlflow keeps a model in its default format and gives it back, without a network."""

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
