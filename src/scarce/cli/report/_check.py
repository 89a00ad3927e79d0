"""Whether a report can be made here."""

from __future__ import annotations

from importlib.util import find_spec


def check_can_draw() -> None:
    """Raise an error that names the extra if something is missing: before the work."""
    absent = [name for name in ("matplotlib", "jinja2") if find_spec(name) is None]
    if absent:
        raise ImportError(
            f"a report needs {' and '.join(absent)}: python -m pip install 'scarce[cli]'"
        )
