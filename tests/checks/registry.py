from sklearn.base import BaseEstimator
import scarce
def public_estimators():
    found = {name: getattr(scarce, name) for name in scarce.__all__}
    return {n: k for n, k in found.items() if isinstance(k, type) and issubclass(k, BaseEstimator)}
