"""Fits by chunks: reads, gap, CPU time, memory and bytes to the driver.

``python -m benchmarks.scale [--only CASE] [rows ...]`` writes ``results/scale.json``, in place of
what was there of the same case and rows. Rows are generated chunk by chunk, again at every read,
and the time that takes in one process is measured on its own and taken off.
"""

import json
import pickle
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDOneClassSVM

from benchmarks import spark_peer
from scarce import SVC, SVMC, OneClassSVM
from scarce._by_chunks import planned
from scarce.chunks import LinearFeatures
from scarce.chunks._array import LocalChunks
from scarce.chunks._chunks import Part
from scarce.chunks._dask import DaskChunks

RESULTS = Path(__file__).parent / "results" / "scale.json"
FRESH = Path(tempfile.gettempdir()) / "scarce_scale_scores.json"  # of one process, to compare with
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

    def reduce(self, function, join, *broadcast):
        result = super().reduce(function, join, *broadcast)
        self.sent += len(pickle.dumps(result))
        return result


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
        "scores": model.decision_function(generated(10**6)[0]).tolist() if "one" in name else [],
    }


def by_descent(n_rows):
    """Nystroem and stochastic descent over the same chunks, one pass, as a user would."""
    seen = np.concatenate([generated(i)[0] for i in range(2)])
    began = time.process_time()
    gamma = 1.0 / (COLUMNS * float(seen.var()))
    features = Nystroem(gamma=gamma, n_components=LANDMARKS, random_state=0).fit(seen)
    model = SGDOneClassSVM(nu=0.1, random_state=0)
    for index in range(n_rows // STEP):
        model.partial_fit(features.transform(generated(index)[0]))
    spent = time.process_time() - began
    scores = model.decision_function(features.transform(generated(10**6)[0]))
    return {
        "case": "Nystroem + SGDOneClassSVM, one pass",
        "rows": n_rows,
        "cpu_s_with_generating": round(spent, 2),
        "rejected": float(np.mean(scores < 0)),
        "scores": scores.tolist(),
    }


def as_features(n_rows, landmarks):
    """What a pass sees of the rows: the columns, or features of some landmarks."""
    if not landmarks:
        return LinearFeatures(COLUMNS)
    model = SVC(approximation="nystroem", n_components=landmarks, random_state=0)
    plan = planned(model, Generated(n_rows))
    return plan.features


def primal_value(coef, intercept, features, n_rows, C=1.0):
    """Objective of a C-SVC over all rows."""
    slack = 0.0
    for index in range(n_rows // STEP):
        X, y = generated(index)
        scores = features.rows(X) @ coef + intercept
        slack += float(np.maximum(1.0 - np.where(y == 1, 1.0, -1.0) * scores, 0.0).sum())
    return 0.5 * float(coef @ coef) + C * slack


def by_spark(name, landmarks, n_rows):
    """Spark's `LinearSVC` on the same features, and by how much its objective is above ours."""
    features = as_features(n_rows, landmarks)
    width = features.rank
    with tempfile.TemporaryDirectory() as folder:
        for index in range(n_rows // STEP):
            X, y = generated(index)
            rows = features.rows(X)
            table = {f"x{j}": rows[:, j].astype(np.float32) for j in range(width)}
            pq.write_table(pa.table({**table, "y": y}), f"{folder}/{index:05d}.parquet")
        found = spark_peer.linear_svc(folder, width, 1.0, n_rows)
    low_rank = {"approximation": "nystroem", "n_components": landmarks, "random_state": 0}
    ours = SVC(tol=1e-6, **(low_rank if landmarks else {"kernel": "linear"}))
    best = ours.fit(Generated(n_rows)).objective_
    value = primal_value(found.pop("coef"), found.pop("intercept"), features, n_rows)
    return {"case": name, "rows": n_rows, **found, "objective_above_ours": value / best - 1.0}


class Counted(DaskChunks):
    """Rows on workers that count what comes back from them."""

    sent = 0

    def map(self, function, *broadcast, only=None):
        results = super().map(function, *broadcast, only=only)
        self.sent += sum(len(pickle.dumps(result)) for result in results)
        return results

    def reduce(self, function, join, *broadcast):
        result = super().reduce(function, join, *broadcast)
        self.sent += len(pickle.dumps(result))
        return result


def high_water():
    """The largest resident memory of this process so far, in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1e3
    return 0.0


@contextmanager
def cluster(n_workers):
    """A client of a scheduler and workers in processes of their own.

    In this process the scheduler's time, idle or not, would be taken for the driver's.
    """
    from dask.distributed import Client

    with tempfile.TemporaryDirectory() as folder, ExitStack() as running:
        place = ["--scheduler-file", f"{folder}/scheduler.json", "--dashboard-address", ":0"]
        worker = ["worker", *place, "--nthreads", "1", "--memory-limit", "2GB", "--no-nanny"]
        for arguments in (["scheduler", *place, "--port", "0"], *[worker] * n_workers):
            started = running.enter_context(
                subprocess.Popen([sys.executable, "-m", "dask", *arguments], cwd=folder)
            )
            running.callback(started.terminate)
        with Client(scheduler_file=place[1]) as client:
            client.wait_for_workers(n_workers)
            yield client


class Spent:
    """CPU seconds of the driver, of the scheduler, and of all workers, while inside."""

    def __init__(self, client):
        self.client = client

    def now(self):
        workers = sum(self.client.run(time.process_time).values())
        scheduler = self.client.run_on_scheduler(time.process_time)
        return np.array([time.process_time(), scheduler, workers])

    def __enter__(self):
        self.spent = self.now()
        return self

    def __exit__(self, *_):
        self.spent = self.now() - self.spent

    def entries(self):
        names = ("cpu_s_driver", "cpu_s_scheduler", "cpu_s_workers_with_generating")
        return dict(zip(names, self.spent.round(2).tolist(), strict=True))


def on_workers(n_workers, n_rows):
    """One-class on worker processes; labels of fresh rows against a fit in one process."""
    import dask
    import dask.array as da

    blocks = [
        da.from_delayed(dask.delayed(lambda i: generated(i)[0])(i), (STEP, COLUMNS), np.float32)
        for i in range(n_rows // STEP)
    ]
    with cluster(n_workers) as client:
        next(machines())[1].fit(da.concatenate(blocks[:2]))  # the workers' libraries are loaded
        with Peak() as peak, Spent(client) as spent:
            model = next(machines())[1]
            chunks = Counted(da.concatenate(blocks))
            began = time.perf_counter()
            model.fit(chunks)
            wall = time.perf_counter() - began
        memory = sorted(client.run(high_water).values())
    return {
        "case": f"one-class on {n_workers} workers",
        "rows": n_rows,
        "reads": model.n_reads_,
        "gap": model.dual_gap_,
        "band_rows": model.history_["band_rows"][-1],
        "wall_s_busy_machine": round(wall, 1),
        **spent.entries(),
        "mb_to_driver": round(chunks.sent / 1e6, 1),
        "driver_peak_mb_beside": round(peak.largest - peak.first),
        "worker_peak_mb": [round(value) for value in memory],
        "scores": model.decision_function(generated(10**6)[0]).tolist(),
    }


def heap(index, columns=8, share=0.05):
    """Unlabelled rows of one chunk, of which some are of the class, and which."""
    random = np.random.default_rng([8, index])
    X = random.uniform(-6.0, 6.0, size=(STEP, columns)).astype(np.float32)
    member = random.random(STEP) < share
    X[member] = random.standard_normal((int(member.sum()), columns), dtype=np.float32)
    return X, member


def labelled_heap(index, labelled):
    """The same; in the first chunk so many rows are of the class, and labelled."""
    X, member = heap(index)
    if index == 0:
        random = np.random.default_rng(9)
        X[:labelled] = random.standard_normal((labelled, X.shape[1]), dtype=np.float32)
        member[:labelled] = True
    return X, member


def mapping_on_workers(name, model, labelled, n_rows, n_workers=2):
    """`SVMC` to its end on worker processes of 2 GB."""
    import dask
    import dask.array as da

    blocks = [
        da.from_delayed(dask.delayed(lambda i: labelled_heap(i, labelled)[0])(i), (STEP, 8), "f4")
        for i in range(n_rows // STEP)
    ]
    y = np.zeros(n_rows, np.int8)
    y[:labelled] = 1
    with cluster(n_workers) as client:
        with Peak() as peak, Spent(client) as spent, warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            began = time.perf_counter()
            model.fit(da.concatenate(blocks), y)
            wall = time.perf_counter() - began
        memory = sorted(client.run(high_water).values())
    found = right = members = 0
    for index in range(0, n_rows // STEP, max(1, n_rows // STEP // 20)):
        X, member = labelled_heap(index, labelled)
        accepted = model.predict(X) == 1
        found, right = found + accepted.sum(), right + (accepted & member).sum()
        members += member.sum()
    return {
        "case": name,
        "rows": n_rows,
        "labelled": labelled,
        "rounds": model.n_rounds_,
        "round_kept": model.round_kept_,
        "converged": model.converged_,
        "negatives": model.history_["negatives"],
        "rejected": model.history_["rejected"],
        "support_vectors": model.history_["support_vectors"],
        "warnings": [str(each.message) for each in said],
        "wall_s_busy_machine": round(wall),
        **spent.entries(),
        "driver_peak_mb": round(peak.largest),
        "driver_peak_mb_beside": round(peak.largest - peak.first),
        "worker_peak_mb": [round(value) for value in memory],
        "precision": round(float(right / max(1, found)), 4),
        "recall": round(float(right / members), 4),
    }


def cases(n_rows):
    """Every case of so many rows as name and function."""
    for name, model in machines():
        yield name, lambda name=name, model=model: by_chunks(name, model, n_rows)
    yield "Nystroem + SGDOneClassSVM, one pass", lambda: by_descent(n_rows)
    for landmarks in (0, LANDMARKS):
        name = f"Spark's LinearSVC, C 1, {landmarks or 'no'} landmarks"
        if spark_peer.is_here():
            yield name, lambda name=name, m=landmarks: by_spark(name, m, n_rows)
        else:
            print(f"{name}: left out, there is no pyspark here", flush=True)
    for n_workers in (1, 2):
        yield f"one-class on {n_workers} workers", lambda n=n_workers: on_workers(n, n_rows)
    for more, labelled in (({}, 200), ({"stop": "held_out"}, 2000)):
        name = f"SVMC on 2 workers, {labelled} labelled{', held out' if more else ''}"
        model = SVMC(diagnose=False, **more)
        yield (
            name,
            lambda name=name, model=model, labelled=labelled: mapping_on_workers(
                name, model, labelled, n_rows
            ),
        )


def compared(entry, one_process):
    """Replace the scores of fresh rows by the share of labels that differ from one process'."""
    own, theirs = np.array(entry.pop("scores", [])), np.array(one_process)
    if own.size and theirs.size:
        entry["labels_that_differ"] = float(np.mean((own < 0) != (theirs < 0)))
    return entry


def main(arguments):
    only = None
    if arguments[:1] == ["--only"]:
        only, arguments = arguments[1], arguments[2:]
    rows = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    next(machines())[1].set_params(n_components=10).fit(generated(0)[0][:3000])  # warms up
    for n_rows in [int(float(each)) for each in arguments] or [10**6]:
        for name, run in cases(n_rows):
            if only is not None and only not in name:
                continue
            entry = run()
            if name.startswith("one-class, "):
                FRESH.write_text(json.dumps(entry["scores"]))
            entry = compared(entry, json.loads(FRESH.read_text()) if FRESH.exists() else [])
            rows = [each for each in rows if (each["case"], each["rows"]) != (name, n_rows)]
            rows.append(entry)
            RESULTS.write_text(json.dumps(rows, indent=1) + "\n")
            print(entry, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
