"""What galleries and answers on the web do with `svm`, with only the import line changed."""

import numpy as np
import pytest
import sklearn.svm
from sklearn.base import clone

from scarce import svm

HEAD = """
import numpy as np
from sklearn.datasets import (load_iris, load_digits, load_diabetes, load_wine, load_breast_cancer,
    make_blobs, make_moons, make_circles, make_classification, make_regression)
from sklearn.model_selection import (GridSearchCV, StratifiedKFold, cross_val_predict,
    cross_val_score, train_test_split)
from sklearn.pipeline import make_pipeline, Pipeline
from sklearn.preprocessing import StandardScaler, MinMaxScaler
X, y = load_iris(return_X_y=True)
Xs = StandardScaler().fit_transform(X)
t = np.sort(5 * np.random.RandomState(0).rand(40, 1), axis=0)
wave = np.sin(t).ravel()
wave[::5] += 3 * (0.5 - np.random.RandomState(1).rand(8))
blob = 0.3 * np.random.RandomState(42).randn(100, 2)
ring = np.r_[blob + 2, blob - 2]
"""

# Each ends with `answer`: labels, or numbers.
SNIPPETS = {
    "two points": "answer = svm.SVC().fit([[0, 0], [1, 1]], [0, 1]).predict([[2.0, 2.0]])",
    "support vectors": "answer = svm.SVC().fit([[0, 0], [1, 1]], [0, 1]).support_vectors_",
    "one against one": """
clf = svm.SVC(decision_function_shape="ovo").fit([[0], [1], [2], [3]], [0, 1, 2, 3])
answer = clf.decision_function([[1]])""",
    "one against the rest": """
clf = svm.SVC(decision_function_shape="ovo").fit([[0], [1], [2], [3]], [0, 1, 2, 3])
clf.decision_function_shape = "ovr"
answer = clf.decision_function([[1]])""",
    "linear svc": "answer = svm.LinearSVC(random_state=0).fit(Xs, y).predict(Xs)",
    "linear svr": "answer = svm.LinearSVR(random_state=0, max_iter=10**5).fit(t, wave).predict(t)",
    "iris, first two columns": """
answer = np.r_[[m.fit(X[:, :2], y).predict(X[:, :2]) for m in (
    svm.SVC(kernel="linear", C=1.0), svm.SVC(kernel="rbf", gamma=0.7, C=1.0),
    svm.SVC(kernel="poly", degree=3, gamma="auto", C=1.0))]]""",
    "decision boundary on a grid": """
xx, yy = np.meshgrid(np.linspace(4, 8, 20), np.linspace(2, 5, 20))
answer = svm.SVC(gamma=0.7).fit(X[:, :2], y).predict(np.c_[xx.ravel(), yy.ravel()])""",
    "maximum margin": """
P, labels = make_blobs(n_samples=40, centers=2, random_state=6)
clf = svm.SVC(kernel="linear", C=1000).fit(P, labels)
w = clf.coef_[0]
answer = np.array([-w[0] / w[1], -clf.intercept_[0] / w[1]])""",
    "unbalanced classes": """
P, labels = make_blobs(n_samples=[200, 20], centers=[[0, 0], [2, 2]], cluster_std=[1.5, 0.5],
                       random_state=0, shuffle=False)
answer = svm.SVC(kernel="linear", class_weight={1: 10}).fit(P, labels).predict(P)""",
    "balanced": """
P, labels = make_blobs(n_samples=[200, 20], centers=[[0, 0], [2, 2]], random_state=0)
answer = svm.SVC(class_weight="balanced").fit(P, labels).decision_function(P)""",
    "weighted samples": """
rng = np.random.RandomState(0)
P = np.r_[rng.randn(10, 2) + [1, 1], rng.randn(10, 2)]
labels, weights = [1] * 10 + [-1] * 10, np.abs(rng.randn(20))
weights[15:] *= 5
answer = svm.SVC(gamma=1).fit(P, labels, sample_weight=weights).decision_function(P)""",
    "kernel of one's own": """
def my_kernel(A, B):
    return np.dot(np.dot(A, np.array([[2, 0], [0, 1.0]])), B.T)
answer = svm.SVC(kernel=my_kernel).fit(X[:, :2], y).predict(X[:, :2])""",
    "gram matrix": """
gram = Xs @ Xs.T
clf = svm.SVC(kernel="precomputed").fit(gram[::2][:, ::2], y[::2])
answer = clf.predict(gram[1::2][:, ::2])""",
    "exclusive or": """
P = np.random.RandomState(0).randn(150, 2)
answer = svm.NuSVC(gamma="auto").fit(P, np.logical_xor(P[:, 0] > 0, P[:, 1] > 0)).predict(P)""",
    "nu in a pipeline": """
clf = make_pipeline(StandardScaler(), svm.NuSVC())
answer = clf.fit([[-1, -1], [-2, -1], [1, 1], [2, 1]], [1, 1, 2, 2]).predict([[-0.8, -1]])""",
    "scaled": "answer = make_pipeline(StandardScaler(), svm.SVC(C=2)).fit(X, y).predict(X)",
    "digits": """
digits = load_digits()
D = digits.images.reshape(1797, -1)[:600]
answer = svm.SVC(gamma=0.001).fit(D[:400], digits.target[:400]).predict(D[400:])""",
    "regression by three kernels": """
models = (svm.SVR(kernel="rbf", C=100, gamma=0.1, epsilon=0.1), svm.SVR(kernel="linear", C=10),
          svm.SVR(kernel="poly", C=1, gamma="auto", degree=2, epsilon=0.1, coef0=1))
answer = np.r_[[m.fit(t, wave).predict(t) for m in models]]""",
    "regression from two points": """
answer = svm.SVR().fit([[0, 0], [2, 2]], [0.5, 2.5]).predict([[1, 1]])""",
    "nu regression": "answer = svm.NuSVR(nu=0.3, C=10.0).fit(t, wave).predict(t)",
    "diabetes": """
D, target = load_diabetes(return_X_y=True)
clf = make_pipeline(StandardScaler(), svm.SVR(C=100.0, epsilon=5.0))
answer = clf.fit(D[:200], target[:200]).predict(D[200:])""",
    "linear regression": """
P, target = make_regression(n_samples=60, n_features=3, noise=3.0, random_state=0)
answer = svm.SVR(kernel="linear", C=10.0).fit(P, target).coef_""",
    "novelty": """
clf = svm.OneClassSVM(nu=0.1, kernel="rbf", gamma=0.1).fit(ring)
new = np.random.RandomState(1).uniform(-4, 4, size=(200, 2))
answer = clf.predict(new)""",
    "novelty, scores": """
clf = svm.OneClassSVM(gamma="auto", nu=0.5).fit([[0], [0.44], [0.45], [0.46], [1]])
answer = clf.score_samples([[0], [0.44], [0.45], [0.46], [1]])""",
    "novelty on a grid": """
xx, yy = np.meshgrid(np.linspace(-5, 5, 15), np.linspace(-5, 5, 15))
clf = svm.OneClassSVM(nu=0.1, gamma=0.1).fit(ring)
answer = clf.decision_function(np.c_[xx.ravel(), yy.ravel()])""",
    "search": """
grid = {"C": [0.1, 1, 10], "gamma": [0.01, 0.1]}
search = GridSearchCV(svm.SVC(), grid, cv=3).fit(Xs, y)
answer = search.cv_results_["mean_test_score"]""",
    "search in a pipeline": """
pipe = Pipeline([("scale", StandardScaler()), ("svc", svm.SVC(kernel="linear"))])
search = GridSearchCV(pipe, {"svc__C": [0.01, 1, 100]}, cv=3).fit(X, y)
answer = search.predict(X)""",
    "cross-validation": "answer = cross_val_score(svm.SVC(kernel='linear', C=1), X, y, cv=5)",
    "held-out labels": "answer = cross_val_predict(svm.SVC(), Xs, y, cv=StratifiedKFold(4))",
    "train and test": """
A, B, a, b = train_test_split(X, y, test_size=0.4, random_state=0)
answer = svm.SVC(kernel="linear", C=1).fit(A, a).predict(B)""",
    "moons": """
P, labels = make_moons(120, noise=0.2, random_state=0)
answer = svm.SVC(gamma=2, C=1).fit(P, labels).decision_function(P)""",
    "circles": """
P, labels = make_circles(120, factor=0.5, noise=0.1, random_state=0)
answer = svm.SVC(kernel="poly", degree=2, coef0=1).fit(P, labels).predict(P)""",
    "bagging": """
from sklearn.ensemble import BaggingClassifier
answer = BaggingClassifier(svm.SVC(), n_estimators=5, random_state=0).fit(Xs, y).predict(Xs)""",
    "stacking by votes": """
from sklearn.ensemble import VotingClassifier
members = [("a", svm.SVC()), ("b", svm.SVC(kernel="linear")), ("c", svm.NuSVC(nu=0.2))]
answer = VotingClassifier(members).fit(Xs, y).predict(Xs)""",
    "one against the rest, wrapped": """
from sklearn.multiclass import OneVsRestClassifier
answer = OneVsRestClassifier(svm.SVC(kernel="linear")).fit(Xs, y).predict(Xs)""",
    "calibrated": """
from sklearn.calibration import CalibratedClassifierCV
answer = CalibratedClassifierCV(svm.SVC(), ensemble=False, cv=3).fit(Xs, y).predict_proba(Xs)""",
    "without shrinking": "answer = svm.SVC(shrinking=False).fit(Xs, y).predict(Xs[::3])",
    "recursive elimination": """
from sklearn.feature_selection import RFE
answer = RFE(svm.SVC(kernel="linear"), n_features_to_select=2).fit(Xs, y).ranking_""",
    "permuted columns": """
from sklearn.inspection import permutation_importance
clf = svm.SVC().fit(Xs, y)
answer = permutation_importance(clf, Xs, y, n_repeats=3, random_state=0).importances_mean""",
    "wine": """
P, labels = load_wine(return_X_y=True)
answer = make_pipeline(MinMaxScaler(), svm.SVC(C=10.0)).fit(P, labels).predict(P)""",
    "texts": """
from sklearn.feature_extraction.text import TfidfVectorizer
texts = ["red apple", "green apple", "fast car", "slow car", "ripe apple", "old car"] * 3
clf = make_pipeline(TfidfVectorizer(), svm.SVC(kernel="linear"))
answer = clf.fit(texts, ["fruit", "fruit", "car", "car", "fruit", "car"] * 3).predict(texts)""",
    "several targets": """
from sklearn.multioutput import MultiOutputRegressor
answer = MultiOutputRegressor(svm.SVR()).fit(t, np.c_[wave, -wave]).predict(t)""",
    "margins of two penalties": """
np.random.seed(0)
P = np.r_[np.random.randn(20, 2) - [2, 2], np.random.randn(20, 2) + [2, 2]]
lines = []
for penalty in (1, 0.05):
    clf = svm.SVC(kernel="linear", C=penalty).fit(P, [0] * 20 + [1] * 20)
    w = clf.coef_[0]
    margin = 1 / np.sqrt(np.sum(clf.coef_**2))
    lines.append([-w[0] / w[1], -clf.intercept_[0] / w[1], margin])
answer = np.array(lines)""",
    "columns chosen by an F test": """
from sklearn.feature_selection import SelectPercentile, f_classif
noisy = np.c_[X, 2 * np.random.RandomState(0).random((150, 36))]
clf = Pipeline([("anova", SelectPercentile(f_classif)), ("scaler", StandardScaler()),
                ("svc", svm.SVC(gamma="auto"))])
scores = []
for percentile in (1, 5, 10, 30, 100):
    clf.set_params(anova__percentile=percentile)
    scores.append(cross_val_score(clf, noisy, y).mean())
answer = np.array(scores)""",
    "ties are broken": """
P, labels = make_blobs(random_state=27)
xx, yy = np.meshgrid(np.linspace(P[:, 0].min(), P[:, 0].max(), 40),
                     np.linspace(P[:, 1].min(), P[:, 1].max(), 40))
answer = np.r_[[
    svm.SVC(kernel="linear", C=1, break_ties=ties, decision_function_shape="ovr")
    .fit(P, labels).predict(np.c_[xx.ravel(), yy.ravel()]) for ties in (False, True)]]""",
    "widths and costs": """
from sklearn.model_selection import StratifiedShuffleSplit
two = StandardScaler().fit_transform(X[:, :2])
cv = StratifiedShuffleSplit(n_splits=3, test_size=0.2, random_state=42)
grid = {"C": np.logspace(-2, 4, 4), "gamma": np.logspace(-5, 2, 4)}
answer = GridSearchCV(svm.SVC(), grid, cv=cv).fit(two, y).cv_results_["mean_test_score"]""",
    "principal components and a random search": """
from sklearn.decomposition import PCA
from sklearn.model_selection import RandomizedSearchCV
digits = load_digits()
D, labels = digits.data[:400] / 16, digits.target[:400]
D = PCA(n_components=20, svd_solver="full", whiten=True).fit_transform(D)
D = D * np.sign(D[np.abs(D).argmax(axis=0), range(20)])
grid = {"C": [1e0, 1e1, 1e2], "gamma": [0.01, 0.1]}
search = RandomizedSearchCV(svm.SVC(class_weight="balanced"), grid, n_iter=4, random_state=0)
answer = search.fit(D[:300], labels[:300]).predict(D[300:])""",
    "area under the curve, by folds": """
from sklearn.metrics import roc_auc_score
noisy = np.c_[X[y != 2], np.random.RandomState(0).randn(100, 400)]
areas = []
for train, test in StratifiedKFold(n_splits=6).split(noisy, y[y != 2]):
    clf = svm.SVC(kernel="linear").fit(noisy[train], y[y != 2][train])
    areas.append(roc_auc_score(y[y != 2][test], clf.decision_function(noisy[test])))
answer = np.array(areas)""",
    "outliers among clusters": """
rng = np.random.RandomState(42)
P, _ = make_blobs(centers=[[2, 2], [-2, -2]], cluster_std=[1.5, 0.3], n_samples=85, random_state=0)
P = np.r_[P, rng.uniform(-6, 6, size=(15, 2))]
xx, yy = np.meshgrid(np.linspace(-7, 7, 30), np.linspace(-7, 7, 30))
clf = svm.OneClassSVM(nu=0.15, kernel="rbf", gamma=0.1).fit(P)
answer = clf.predict(np.c_[xx.ravel(), yy.ravel()])""",
}


def answer_of(snippet, module):
    names = {"svm": module}
    exec(HEAD + snippet, names)
    return np.asarray(names["answer"])


def test_there_are_forty():
    assert len(SNIPPETS) >= 40


@pytest.mark.parametrize("name", SNIPPETS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_only_the_import_line_changes(name):
    ours, theirs = (answer_of(SNIPPETS[name], module) for module in (svm, sklearn.svm))
    assert ours.shape == theirs.shape
    if theirs.dtype.kind == "f":
        scale = np.abs(theirs).max()
        np.testing.assert_allclose(ours, theirs, rtol=0.01, atol=0.01 * scale)
    else:  # of labels those on the boundary may differ
        assert (ours == theirs).mean() >= 0.98


def test_all_names_are_there():
    kinds = [name for name in sklearn.svm.__all__ if hasattr(svm, name)]
    assert sorted(kinds) == sorted(sklearn.svm.__all__)


@pytest.mark.parametrize("kind", [svm.SVC, svm.NuSVC])
def test_probability(kind):
    X, y = np.arange(8.0)[:, None], [0, 1] * 2 + [1, 0] * 2
    plain = kind().fit(X, y).decision_function(X)
    model = clone(kind(probability=False)).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), plain)
    assert not hasattr(model, "predict_proba")
    line = rf"CalibratedClassifierCV\({kind.__name__}\(\), ensemble=False\)"
    with pytest.raises(ValueError, match=line):
        kind(probability=True).fit(X, y)
    with pytest.raises(ValueError, match="'probability' parameter of"):
        kind(probability="yes").fit(X, y)
