"""More common rows than groups, the usual case when few groups have shares."""

import numpy as np
import pytest

from scarce import SVC, TransferGroupProbabilitySVM


@pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")
def test_calibration_with_more_common_rows_than_groups():
    X = np.random.default_rng(0).normal(size=(160, 3))
    labels = (X[:, 0] > 0).astype(int)
    groups = np.r_[np.arange(96) // 8, np.full(64, -1)]
    share = np.array([labels[groups == g].mean() if g >= 0 else np.nan for g in groups])
    weights = np.r_[np.zeros(3), np.ones(157)]  # rows of no weight belong to no unit
    model = TransferGroupProbabilitySVM(source=SVC(gamma=0.3).fit(X, labels), gamma=0.3)
    model.fit(X, share, groups=groups, sample_weight=weights)
    assert model.score(X, labels) > 0.9
