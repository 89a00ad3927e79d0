"""
From a table on disk to a ranked list
=====================================

The commands ``scarce fit`` and ``scarce score``, called from Python: one table of good batches, one
of new batches of unknown quality. The answer is a table again, worst rows
first: a score for each row, a p-value, the decision, and the columns that moved the score most.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from scarce.cli import main

# %%
# Two tables
# ----------
# Pressure and flow go together. In five of the new batches they do not; in three the heat is off.
random = np.random.default_rng(0)


def batches(n):
    """Return a table of good batches."""
    pressure = random.normal(5.0, 1.0, n)
    flow = 20.0 + 4.0 * pressure + random.normal(0.0, 1.0, n)
    return pd.DataFrame({"pressure": pressure, "flow": flow, "heat": random.normal(80, 2, n)})


good, new = batches(120), batches(60)
new.loc[:4, "flow"] -= 7.0
new.loc[5:7, "heat"] += 7.0

with tempfile.TemporaryDirectory() as folder:
    rows, unknown, model, scores = (Path(folder) / name for name in ("g.csv", "n.csv", "m", "s"))
    good.to_csv(rows, index=False)
    new.to_csv(unknown, index=False)
    main(["fit", str(rows), "--out", f"{model}.skops", "--false-alarms", "0.05"])
    main(["score", f"{model}.skops", str(unknown), "--out", f"{scores}.csv", "--explain", "1"])
    ranked = pd.read_csv(f"{scores}.csv")
print(ranked.head(8).to_string(index=False))

# %%
# The list, worst first
# ---------------------
colours = {"pressure": "#0072b2", "flow": "#d55e00", "heat": "#cc79a7"}
figure, axes = plt.subplots(figsize=(9.0, 3.8), layout="constrained")
column = ranked["reason_1"].str.split().str[0].where(ranked["decision"] == "rejected")
axes.bar(range(len(ranked)), ranked["score"], color=column.map(colours).fillna("0.7"))
for name, colour in colours.items():
    if (column == name).any():
        axes.bar(0, 0, color=colour, label=f"rejected, for its {name} above all")
axes.bar(0, 0, color="0.7", label="accepted")
axes.axhline(0.0, color="0.3", linewidth=0.8)
axes.set(xlabel="new batches, worst first", ylabel="score (0 is the threshold)", xticks=[])
axes.legend(frameon=False)

plt.show()
