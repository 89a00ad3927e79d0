"""Explanations as shap has them."""

import numpy as np
import pytest
from scipy import sparse

import scarce

ROWS = np.random.default_rng(0).normal(size=(40, 3))


@pytest.mark.filterwarnings("ignore")  # shap's own, and those of what it loads
def test_plots_of_shap_take_an_explanation():
    shap = pytest.importorskip("shap")
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(ROWS, columns=["a", "b", "c"])
    model = scarce.OneClassSVM(nu=0.1).fit(table)
    new = table.iloc[:5] + 2.0
    found = scarce.explain(model, new)
    theirs = found.to_shap()
    assert isinstance(theirs, shap.Explanation)
    assert theirs.feature_names == ["a", "b", "c"]
    np.testing.assert_array_equal(theirs.data, new)
    # What shap's plots rely on: values add up to the score from the base value.
    total = theirs.base_values + theirs.values.sum(axis=1)
    np.testing.assert_allclose(total, model.decision_function(new), atol=1e-10)
    assert theirs[0].values.shape == (3,)
    samples = 1.0 + ROWS.reshape(20, 3, 2)
    tensors = scarce.explain(scarce.OneClassSTM(tol=1e-2).fit(samples), samples[:4]).to_shap()
    np.testing.assert_array_equal(tensors.data, samples[:4].reshape(4, 6))
    assert tensors.feature_names[3] == "[1, 1]"


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "shap", None)
    rows = sparse.csr_matrix(ROWS)
    found = scarce.explain(scarce.SVC().fit(rows, ROWS[:, 0] > 0), rows[:2])
    with pytest.raises(ImportError, match="to_shap needs shap: python -m pip install shap"):
        found.to_shap()
