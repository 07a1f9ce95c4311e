from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from firstlight.errors import FilterError
from firstlight.rank import check_fields, fields, parse_filter

if TYPE_CHECKING:
    from firstlight.rank.filters import Filter


def parsed(text: str) -> Filter:
    where = parse_filter(text)
    assert where is not None
    return where


def test_the_fields_of_a_filter_are_those_it_names() -> None:
    where = parsed("a = 1 and (b in (x) or not c exists) and owner.name all (d) and not 'e f' != 2")
    assert fields(where) == {"a", "b", "c", "owner.name", "e f"}


def test_a_misspelt_field_is_refused_with_the_nearest_and_all_known_ones() -> None:
    with pytest.raises(FilterError) as caught:
        check_fields(parsed("Aera = ai or lvel = 2 or level = 3"), ["level", "area", "tags"])
    assert str(caught.value) == (
        "unknown field 'Aera' (did you mean 'area'?); unknown field 'lvel' (did you mean 'level'?). "
        "The fields are: area, level, tags"
    )


def test_without_a_near_name_the_known_ones_are_still_listed() -> None:
    with pytest.raises(FilterError, match=r"unknown field 'zzz'\. The fields are: area"):
        check_fields(parsed("zzz exists"), {"area"})
    with pytest.raises(FilterError, match="no document has any field"):
        check_fields(parsed("zzz exists"), ())


def test_a_long_list_is_cut() -> None:
    with pytest.raises(FilterError, match="and 40 more"):
        check_fields(parsed("zzz exists"), [f"field{n}" for n in range(100)])


@pytest.mark.parametrize("known", [["owner"], ["owner.name"], ["owner", "owner.name"]])
def test_a_field_inside_a_known_one_is_known(known: list[str]) -> None:
    check_fields(parsed("owner.name = Ada and owner exists"), known)


def test_a_field_that_a_known_mapping_does_not_have_is_unknown() -> None:
    with pytest.raises(FilterError, match=r"did you mean 'owner\.name'"):
        check_fields(parsed("owner.nmae = Ada"), ["owner", "owner.name"])
