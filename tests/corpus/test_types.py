from __future__ import annotations

import json

from firstlight.corpus.reports import Finding, Plan, Status, VerifyReport
from firstlight.corpus.types import FileError, Rename, SyncReport


def test_reports_have_one_json_shape() -> None:
    plan = Plan(added=("a.md",), renamed=(Rename("b.md", "c.md"),), unchanged=2)
    assert plan.to_dict()["renamed"] == [{"old": "b.md", "new": "c.md"}]
    assert plan.to_dict()["added"] == ["a.md"]
    assert (plan.files, plan.is_empty, Plan().is_empty) == (4, False, True)
    report = SyncReport(added=1, errors=(FileError("x.md", "bad"),))
    assert report.to_dict()["errors"] == [{"path": "x.md", "reason": "bad"}]
    finding = Finding("chunk", "7", "a.md", "gone")
    verify = VerifyReport(missing=(finding,), repaired=1)
    assert verify.to_dict()["missing"] == [{"what": "chunk", "id": "7", "path": "a.md", "reason": "gone"}]
    assert verify.ok
    for each in (plan, report, verify, Status()):
        assert json.loads(json.dumps(each.to_dict())) == each.to_dict()


def test_status_has_the_fields_of_the_design() -> None:
    assert {
        "documents", "chunks", "embedded", "failed", "model", "generation",
        "mode", "state", "stale", "errors", "queue", "rate",
    } <= set(Status().to_dict())  # fmt: skip
