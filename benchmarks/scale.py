"""Fits by chunks: reads, gap, CPU time, memory and bytes to the driver.

``python -m benchmarks.scale [rows ...]`` writes ``results/scale.json``. Rows are generated chunk by
chunk, again at every read, and the time that takes is measured on its own and taken off.
"""

import json
import pickle
import sys
import threading
import time
from pathlib import Path

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDOneClassSVM

from scarce import SVC, OneClassSVM
from scarce.chunks._array import LocalChunks
from scarce.chunks._chunks import Part
from scarce.chunks._dask import DaskChunks

RESULTS = Path(__file__).parent / "results" / "scale.json"
COLUMNS, LANDMARKS, STEP = 20, 100, 50_000


def generated(index):
    """Rows and labels of one chunk, always the same."""
    random = np.random.default_rng([7, index])
    X = random.standard_normal((STEP, COLUMNS), dtype=np.float32)
    X *= np.linspace(1.0, 0.3, COLUMNS, dtype=np.float32)
    noise = random.standard_normal(STEP, dtype=np.float32)
    return X, (X[:, 0] + 0.3 * X[:, 1] ** 2 + 0.5 * noise > 0.2).astype(np.int8)


class Generated(LocalChunks):
    """Rows that no disk holds."""

    n_features, dtype, feature_names, lazy = COLUMNS, np.dtype(np.float32), None, True

    def __init__(self, n_rows):
        self.sizes = (STEP,) * (n_rows // STEP)
        self.sent = 0

    def read(self, index):
        X, y = generated(index)
        return Part(index, index * STEP, X, {"y": y})

    def map(self, function, *broadcast, only=None):
        results = super().map(function, *broadcast, only=only)
        self.sent += sum(len(pickle.dumps(result)) for result in results)
        return results


class Peak:
    """The largest anonymous memory of this process, in MB, while inside."""

    def __enter__(self):
        self.first = self.largest = anonymous()
        self.going = True
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def watch(self):
        while self.going:
            self.largest = max(self.largest, anonymous())
            time.sleep(0.02)

    def __exit__(self, *_):
        self.going = False
        self.thread.join()


def anonymous():
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) / 1e3
    return 0.0


def machines():
    low_rank = {"approximation": "nystroem", "n_components": LANDMARKS, "random_state": 0}
    yield "one-class, nu 0.1", OneClassSVM(nu=0.1, **low_rank)
    yield "C-SVC, C 1", SVC(**low_rank)
    yield "linear C-SVC, C 1", SVC(kernel="linear")


def by_chunks(name, model, n_rows):
    chunks = Generated(n_rows)
    began = time.process_time()
    chunks.map(lambda part: None)
    generating = time.process_time() - began
    chunks.sent = 0
    with Peak() as peak:
        began = time.process_time()
        model.fit(chunks)
        spent = time.process_time() - began - model.n_reads_ * generating
    return {
        "case": name,
        "rows": n_rows,
        "reads": model.n_reads_,
        "gap": model.dual_gap_,
        "violation": model.kkt_violation_,
        "band_rows": model.history_["band_rows"][-1],
        "cpu_s": round(spent, 2),
        "cpu_s_per_million_rows_and_landmark": round(spent / n_rows * 1e6 / LANDMARKS, 5),
        "mb_to_driver": round(chunks.sent / 1e6, 1),
        "peak_mb": round(peak.largest, 0),
        "peak_mb_beside": round(peak.largest - peak.first, 0),
    }


def by_descent(n_rows, fitted):
    """Nystroem and stochastic descent over the same chunks, one pass, as a user would."""
    seen = np.concatenate([generated(i)[0] for i in range(2)])
    began = time.process_time()
    features = Nystroem(gamma=fitted._gamma, n_components=LANDMARKS, random_state=0).fit(seen)
    model = SGDOneClassSVM(nu=0.1, random_state=0)
    for index in range(n_rows // STEP):
        model.partial_fit(features.transform(generated(index)[0]))
    spent = time.process_time() - began
    fresh = generated(10**6)[0]
    rejected = model.predict(features.transform(fresh)) < 0
    return {
        "case": "Nystroem + SGDOneClassSVM, one pass",
        "rows": n_rows,
        "cpu_s": round(spent, 2),
        "rejected": float(rejected.mean()),
        "rejected_by_the_band_fit": float((fitted.predict(fresh) < 0).mean()),
        "labels_that_differ": float((rejected != (fitted.predict(fresh) < 0)).mean()),
    }


def on_workers(n_workers, n_rows):
    import dask
    import dask.array as da
    from dask.distributed import Client, LocalCluster

    blocks = [
        da.from_delayed(dask.delayed(lambda i: generated(i)[0])(i), (STEP, COLUMNS), np.float32)
        for i in range(n_rows // STEP)
    ]
    with LocalCluster(
        n_workers=n_workers, threads_per_worker=1, memory_limit="2GB", dashboard_address=None
    ) as cluster:
        with Client(cluster) as client:
            model = next(machines())[1]
            began = time.perf_counter()
            model.fit(DaskChunks(da.concatenate(blocks)))
            wall = time.perf_counter() - began
            info = client.scheduler_info(n_workers=-1)["workers"].values()
            memory = [worker["metrics"]["memory"] / 1e6 for worker in info]
    return {
        "case": f"one-class on {n_workers} workers",
        "rows": n_rows,
        "reads": model.n_reads_,
        "gap": model.dual_gap_,
        "wall_s_busy_machine": round(wall, 1),
        "worker_rss_mb_at_the_end": [round(value) for value in memory],
    }


def main(sizes):
    rows = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    next(machines())[1].set_params(n_components=10).fit(generated(0)[0][:3000])  # compile
    for n_rows in sizes:
        for name, model in machines():
            rows.append(by_chunks(name, model, n_rows))
            if name.startswith("one-class"):
                rows.append(by_descent(n_rows, model))
            RESULTS.write_text(json.dumps(rows, indent=1) + "\n")
            print(rows[-1], flush=True)
        if n_rows <= 10**6:
            for n_workers in (1, 2):
                rows.append(on_workers(n_workers, n_rows))
                RESULTS.write_text(json.dumps(rows, indent=1) + "\n")
                print(rows[-1], flush=True)


if __name__ == "__main__":
    main([int(float(each)) for each in sys.argv[1:]] or [10**6])
