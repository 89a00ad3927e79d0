"""An interrupt while threads share the work leaves neither threads nor traces."""

import threading

import pytest

from scarce.kernels import Prepared
from tests.subjects import SUBJECTS

WITH_KERNELS = [subject for subject in SUBJECTS if "kernel" in subject.traits]


@pytest.mark.filterwarnings("ignore::scarce.ScarceDataWarning")
@pytest.mark.parametrize("subject", WITH_KERNELS, ids=lambda subject: subject.name)
def test_interrupt_in_a_tile(subject, monkeypatch):
    X, y = subject.make(3000)
    model = subject.new(kernel="laplacian")  # every value of which goes through `write`
    before, threads = dict(vars(model)), threading.active_count()
    finish, calls = Prepared.write, []

    def fail_later(*arguments):
        calls.append(threading.current_thread())
        if len(calls) > 5 and calls[-1] is threading.main_thread():
            raise KeyboardInterrupt
        finish(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Prepared, "write", fail_later)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    assert vars(model) == before
    assert threading.active_count() == threads
    model.fit(X, y)
