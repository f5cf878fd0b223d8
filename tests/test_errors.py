from __future__ import annotations

import pickle

from glyphrank.errors import DataError


def test_an_error_is_its_own_only_fault() -> None:
    assert DataError("a: no rows").faults == ("a: no rows",)


def test_faults_survive_the_way_from_a_worker_process() -> None:
    error = pickle.loads(pickle.dumps(DataError("2 faults", ["a: x", "a: y"])))
    assert (str(error), error.faults) == ("2 faults", ("a: x", "a: y"))
