"""What a run was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Options:
    """`quick`: small sizes, to see that everything runs; `only`: how contenders' names begin, empty: all."""

    quick: bool = False
    only: tuple[str, ...] = ()

    def size(self, full: int, quick: int) -> int:
        return quick if self.quick else full

    def wants(self, contender: str) -> bool:
        return not self.only or contender.startswith(self.only)

    def chosen(self, contenders: Mapping[str, T]) -> dict[str, T]:
        return {name: value for name, value in contenders.items() if self.wants(name)}
