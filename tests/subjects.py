"""The public estimators, each ready to be fitted to data that suit it."""

from sklearn.base import BaseEstimator

import scarce
from scarce.testing import Subject

SUBJECTS = [
    Subject.of(estimator)
    for estimator in (
        scarce.OneClassSVM(nu=0.2),
        scarce.SVDD(nu=0.2),
        scarce.TransferOneClassSVM(),
        # Rows stay where they are: sparse ones and those of a precomputed kernel cannot be moved.
        scarce.UOCTSVM(C_target=0.1, radius=0.0),
        scarce.CalibratedOneClass(),
        scarce.OpenSetClassifier(),
        scarce.PerGroup(),
        scarce.OneClassSTM(),
        scarce.STM(),
        scarce.SVC(),
        scarce.NuSVC(nu=0.3),
        scarce.SVR(),
        scarce.NuSVR(nu=0.3),
        scarce.SVMC(),
        scarce.MappingConvergence(),
        scarce.PositiveUnlabeledSVC(n_bags=5, random_state=0),
        scarce.PositiveUnlabeledClassifier(n_bags=5, random_state=0),
        scarce.UnbiasedPUSVC(class_prior=0.2),
        scarce.ProjectionMMDSVM(),
        scarce.TransductiveSVM(),
        scarce.LocallyWeightedEnsemble(),
        scarce.GroupProbabilitySVM(),
        scarce.TransferGroupProbabilitySVM(),
    )
]


def public_estimators() -> dict[str, type]:
    """Return the estimator classes among the public names."""
    found = {name: getattr(scarce, name) for name in scarce.__all__}
    return {
        name: kind
        for name, kind in found.items()
        if isinstance(kind, type) and issubclass(kind, BaseEstimator)
    }
