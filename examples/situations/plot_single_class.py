"""
The boundary of one class
=========================

Two clouds of rows of the class lie among three of others, of which no model but the last sees any.

* `CalibratedOneClass` chooses the width of its kernel from the rows and the threshold from held-out
  scores, for a rate of false alarms of a tenth.
* A one-class SVM with a wide kernel has a boundary that is too smooth and takes in what lies
  between the clouds; with a narrow one it is too tight and clings to the rows it has seen.
* With all labels known an SVM draws the boundary between the clouds.
"""

import matplotlib.pyplot as plt
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.metrics import f1_score

from scarce import SVC, CalibratedOneClass, OneClassSVM
from scarce.datasets import make_positive_unlabeled_clouds

# %%
# The data
# --------
X, y, truth = make_positive_unlabeled_clouds(150, 900, distance=4.5, random_state=0)
positives = X[y == 1]

# %%
# Four boundaries
# ---------------
models = {
    "CalibratedOneClass": CalibratedOneClass(false_alarms=0.1).fit(positives),
    "One-class SVM, too smooth": OneClassSVM(nu=0.05, gamma=0.01).fit(positives),
    "One-class SVM, too tight": OneClassSVM(nu=0.05, gamma=20.0).fit(positives),
    "SVM, all labels known": SVC(gamma=0.3).fit(X, truth),
}
figure, panels = plt.subplots(2, 2, figsize=(9.0, 9.0), layout="constrained")
for panel, (title, model) in zip(panels.flat, models.items(), strict=True):
    panel.scatter(*X[y == 0].T, s=5, color="0.65", linewidths=0)
    panel.scatter(*positives.T, s=10, color="#d55e00", linewidths=0)
    DecisionBoundaryDisplay.from_estimator(
        model,
        X,
        response_method="decision_function",
        plot_method="contour",
        levels=[0],
        colors=["#08306b"],
        ax=panel,
    )
    # On the rows that no one-class model has seen.
    found = f1_score(truth[y == 0], model.predict(X[y == 0]) == 1)
    panel.set(title=f"{title}: F1 = {found:.2f}", aspect="equal")

plt.show()
