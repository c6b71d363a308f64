"""Bookings in a CSV file: one line each, appended, never rewritten."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Iterator

if TYPE_CHECKING:
    from .slots import Slot


class Store:
    def __init__(self, path: str) -> None:
        self.path = Path(path)

    def slots(self) -> Iterator[Slot]:
        from .slots import Slot

        if not self.path.exists():
            return
        with self.path.open(newline="", encoding="utf-8") as file:
            for row in csv.reader(file):
                yield Slot(boat=row[1], start=int(row[2]))

    def add(self, member: str, slot: Slot) -> None:
        # TODO: lock the file; two desks can book the same boat at once
        with self.path.open("a", newline="", encoding="utf-8") as file:
            csv.writer(file).writerow([member, slot.boat, slot.start])
