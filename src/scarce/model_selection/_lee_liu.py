"""Scorers for searches over classifiers of positive and unlabelled rows."""

from __future__ import annotations

from typing import Any

from sklearn.utils.metadata_routing import MetadataRequest

from scarce.positive_unlabeled import lee_liu_score, positive_label


class _LeeLiuScorer:
    """The score as `scoring` of searches; the positive label is the estimator's `pos_label`.

    A scorer of scikit-learn's `make_scorer` knows nothing of that parameter. It would take the
    label that sorts last, and where that is the unlabelled one prefer the worst candidate.
    """

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        return lee_liu_score(
            y,
            estimator.predict(X),
            pos_label=positive_label(estimator),
            sample_weight=sample_weight,
            lower_bound=True,
        )

    def get_metadata_routing(self) -> MetadataRequest:
        request = MetadataRequest(owner=self)
        request.score.add_request(param="sample_weight", alias=True)
        return request

    def __repr__(self) -> str:
        return "lee_liu_scorer"


lee_liu_scorer = _LeeLiuScorer()


class _OutOfBagAUCScorer:
    """How well the labelled rows of the fit rank above the unlabelled ones, each left out.

    It looks at the fit alone, not at the rows it is given: with it a search needs no folds, only
    one split, as ``cv=[(rows, rows[:2])]`` with all ``rows``.
    """

    def __call__(self, estimator: Any, X: Any = None, y: Any = None) -> float:
        last = estimator[-1] if hasattr(estimator, "steps") else estimator
        if not hasattr(last, "out_of_bag_auc_"):
            raise ValueError(
                "out_of_bag_auc_scorer needs a fitted PositiveUnlabeledSVC or "
                "PositiveUnlabeledClassifier, or a pipeline that ends with one, got "
                f"{type(last).__name__}"
            )
        return float(last.out_of_bag_auc_)

    def __repr__(self) -> str:
        return "out_of_bag_auc_scorer"


out_of_bag_auc_scorer = _OutOfBagAUCScorer()
