"""The choice between noise and a gain, by hand and in a search."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV

from scarce import SVC
from scarce.model_selection import ClearlyBetter


def results(*scores):
    """Return results of candidates 0, 1, ... from their scores on each split."""
    table = np.array(scores)
    return {
        "params": [{"C": float(place)} for place in range(len(table))],
        "mean_test_score": table.mean(axis=1),
        **{f"split{place}_test_score": line for place, line in enumerate(table.T)},
    }


def test_a_gain_above_its_standard_error_counts():
    # Gains .1, .2 and .3: mean .2, standard error .1 / sqrt(3) = .058.
    found = results([0.5, 0.5, 0.5], [0.6, 0.7, 0.8])
    assert ClearlyBetter({"C": 0.0})(found) == 1
    # Gains 0, .1 and .2: the same error, and less than twice that above zero.
    found_less = results([0.5, 0.5, 0.5], [0.5, 0.6, 0.7])
    assert ClearlyBetter({"C": 0.0})(found_less) == 0
    assert ClearlyBetter({"C": 0.0}, errors=1.0)(found_less) == 1
    assert ClearlyBetter({"C": 0.0}, errors=3.4)(found) == 1
    assert ClearlyBetter({"C": 0.0}, errors=3.5)(found) == 0


def test_noise_does_not():
    # Gains .3, -.2 and -.07: mean .01, standard error .15.
    assert ClearlyBetter({"C": 0.0})(results([0.5, 0.5, 0.5], [0.8, 0.3, 0.43])) == 0


def test_the_reference_may_be_the_best():
    assert ClearlyBetter({"C": 1.0})(results([0.1, 0.2], [0.5, 0.6])) == 1


def test_a_reference_that_was_not_tried_is_told():
    with pytest.raises(ValueError, match=r"reference=\{'C': 7.0\} is not among the 2 candidates"):
        ClearlyBetter({"C": 7.0})(results([0.1, 0.2], [0.5, 0.6]))


def test_a_search_takes_it():
    X, y = make_classification(200, random_state=0)
    search = GridSearchCV(SVC(), {"C": [1e-3, 1.0]}, refit=ClearlyBetter({"C": 1e-3}), cv=4)
    assert search.fit(X, y).best_params_ == {"C": 1.0}
