"""The example handbook is what the demo, the docs and the quality bench search, so its facts are checked."""

from __future__ import annotations

import csv
import json
import re
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
HANDBOOK = EXAMPLES / "handbook"
QUESTIONS = EXAMPLES / "handbook-questions"
PAGES = sorted(path.relative_to(HANDBOOK).as_posix() for path in HANDBOOK.rglob("*.md"))

# Freshness is judged on the day the pages were written for: the test must not age with the calendar.
TODAY = date(2026, 11, 30)
A_YEAR = timedelta(days=365)

VOCABULARY: dict[str, set[Any]] = {
    "area": {"ai", "platform", "edge", "products", "history", "about"},
    "level": {1, 2, 3, 4},
    "source_type": {"doc", "code", "adr", "metric"},
    "confidence": {"delivered", "running", "in-progress", "abandoned", "historic"},
}
TYPES: dict[str, type] = {
    "title": str,
    "area": str,
    "level": int,
    "source_type": str,
    "confidence": str,
    "period": str,
    "artefacts": list,
    "last_verified": date,
}


@cache
def _page(path: str) -> tuple[dict[str, Any], str]:
    """The front matter and the body of a page."""
    opening, fields, body = (HANDBOOK / path).read_text(encoding="utf-8").split("---\n", 2)
    assert opening == "", f"{path} does not begin with front matter"
    return yaml.safe_load(fields), body


def _prose(body: str) -> str:
    """The body without its fenced code, where brackets and hashes mean something else."""
    kept: list[str] = []
    fence = ""
    for line in body.splitlines():
        mark = re.match(r"[\s>]*(`{3,}|~{3,})\s*(.*)", line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2]:
                fence = ""
        elif mark:
            fence = mark[1]
        else:
            kept.append(line)
    assert not fence, "a fence is never closed"
    return "\n".join(kept)


def _anchors(path: str) -> set[str]:
    headings = re.findall(r"^#+ +(.+)$", _prose(_page(path)[1]), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _links(path: str) -> list[str]:
    return re.findall(r"\]\(([^)\s]+)\)", _prose(_page(path)[1]))


def _queries() -> dict[str, str]:
    lines = (QUESTIONS / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    queries = [json.loads(line) for line in lines]
    assert all(set(query) == {"id", "text"} for query in queries)
    assert len({query["id"] for query in queries}) == len(queries)
    return {query["id"]: query["text"] for query in queries}


def _qrels() -> list[dict[str, str]]:
    with (QUESTIONS / "qrels.tsv").open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, delimiter="\t")
        assert reader.fieldnames == ["qid", "docid", "rel"]
        return list(reader)


def test_the_handbook_has_at_least_thirty_pages_and_nothing_else() -> None:
    files = {path.relative_to(HANDBOOK).as_posix() for path in HANDBOOK.rglob("*") if path.is_file()}
    assert len(PAGES) >= 30
    assert files == set(PAGES)


@pytest.mark.parametrize("path", PAGES)
def test_a_page_has_the_eight_fields_and_no_others(path: str) -> None:
    fields, _ = _page(path)
    assert {name: type(value) for name, value in fields.items()} == TYPES
    for name, allowed in VOCABULARY.items():
        assert fields[name] in allowed, name
    assert fields["area"] == path.split("/", 1)[0]
    assert re.fullmatch(r"\d{4}(-Q[1-4]|-\d{4})?", fields["period"])
    assert all(isinstance(artefact, str) for artefact in fields["artefacts"])
    assert fields["last_verified"] <= TODAY


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_long_enough_to_be_worth_finding(path: str) -> None:
    _, body = _page(path)
    assert len(body.splitlines()) >= 60
    assert max(map(len, body.splitlines())) <= 140
    assert re.search(r"^# \S", body, flags=re.MULTILINE)


@pytest.mark.parametrize("path", PAGES)
def test_links_between_pages_lead_to_a_page_and_a_heading(path: str) -> None:
    for link in _links(path):
        target, _, anchor = link.partition("#")
        file = (HANDBOOK / path).parent.joinpath(target).resolve() if target else HANDBOOK / path
        assert file.is_file(), f"{path} links to {link}"
        assert file.is_relative_to(HANDBOOK)
        page = file.relative_to(HANDBOOK).as_posix()
        assert not anchor or anchor in _anchors(page), f"{path} links to {link}"


def test_every_area_source_type_and_confidence_is_present() -> None:
    for name, allowed in VOCABULARY.items():
        assert {_page(path)[0][name] for path in PAGES} == allowed
    for area in VOCABULARY["area"]:
        assert sum(path.startswith(f"{area}/") for path in PAGES) >= 4


def test_deployment_is_a_topic_in_four_areas_or_more() -> None:
    areas = {path.split("/", 1)[0] for path in PAGES if "deployment" in _page(path)[1].lower()}
    assert len(areas) >= 4
    for area in ("platform", "edge", "ai", "products", "history"):
        assert area in areas


def test_five_or_six_pages_are_out_of_date_and_they_are_spread_over_areas() -> None:
    stale = [path for path in PAGES if TODAY - _page(path)[0]["last_verified"] > A_YEAR]
    assert 5 <= len(stale) <= 6
    assert len({path.split("/", 1)[0] for path in stale}) >= 4


def test_some_pages_need_several_chunks() -> None:
    assert sum(len(_page(path)[1].splitlines()) > 290 for path in PAGES) >= 3


def test_there_are_forty_questions_of_two_kinds() -> None:
    kinds = [name[0] for name in _queries()]
    assert kinds.count("k") == 25
    assert kinds.count("p") == 15


def test_judgements_name_existing_questions_and_pages() -> None:
    queries, qrels = _queries(), _qrels()
    for row in qrels:
        assert row["qid"] in queries
        assert row["docid"] in PAGES
        assert row["rel"] in {"1", "2"}
    assert len({(row["qid"], row["docid"]) for row in qrels}) == len(qrels)
    assert {row["qid"] for row in qrels if row["rel"] == "2"} == set(queries)
