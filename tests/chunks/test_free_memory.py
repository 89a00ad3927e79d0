"""How much memory is left, by files as Linux and its containers have them."""

import numpy as np
import pytest

from scarce._data import MEMORY_SHARE, budget
from scarce._free_memory import free_memory

MEMINFO = "MemTotal: 64000 kB\nMemFree: 1000 kB\nMemAvailable: 32000 kB\n"


def system(root, **files):
    for name, text in {"proc/meminfo": MEMINFO, **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(root)


def test_pages_that_can_be_had_back_count(tmp_path):
    assert free_memory(system(tmp_path)) == 32000 * 1024


@pytest.mark.parametrize(
    ("group", "top", "names"),
    [
        ("0::/a/b\n", "sys/fs/cgroup", ("memory.max", "memory.current", "inactive_file")),
        (
            "5:cpu:/\n7:memory:/a/b\n",
            "sys/fs/cgroup/memory",
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        ),
    ],
)
def test_the_limit_of_a_container(tmp_path, group, top, names):
    limit, used, cache = names
    root = system(
        tmp_path,
        **{
            "proc/self/cgroup": group,
            f"{top}/a/b/{limit}": "max\n" if limit == "memory.max" else "9223372036854771712\n",
            f"{top}/a/b/{used}": "500000\n",
            f"{top}/a/{limit}": "2000000\n",  # that of the group above holds too
            f"{top}/a/{used}": "1500000\n",
            f"{top}/a/memory.stat": f"anon 5\n{cache} 300000\nfile 7\n",
        },
    )
    assert free_memory(root) == 2000000 - 1500000 + 300000
    (tmp_path / top / "a" / used).write_text("9000000")
    assert free_memory(root) == 0.0


def test_other_systems(tmp_path):
    assert free_memory(str(tmp_path)) is None or free_memory(str(tmp_path)) > 0


def test_a_fit_takes_a_share():
    free = free_memory()
    assert budget(200) == 200e6
    if free is not None:
        assert np.log(budget(None) / (MEMORY_SHARE * free)) == pytest.approx(0.0, abs=0.5)
