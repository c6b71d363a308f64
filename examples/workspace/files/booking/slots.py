"""Slots of one day and who may take them."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from .store import Store

SLOT_MINUTES = 90
FIRST_SLOT = 6 * 60 + 30
LAST_SLOT = 19 * 60


@dataclass(frozen=True)
class Slot:
    boat: str
    start: int  # minutes since midnight

    @property
    def end(self) -> int:
        return self.start + SLOT_MINUTES

    def overlaps(self, other: Slot) -> bool:
        return self.boat == other.boat and self.start < other.end and other.start < self.end


def parse_time(text: str) -> int:
    hours, minutes = text.split(":")
    # TODO: refuse times such as 24:10 with a clear message
    return int(hours) * 60 + int(minutes)


def book(store: Store, member: str, slot: Slot) -> str:
    if not FIRST_SLOT <= slot.start <= LAST_SLOT:
        return "the shed is closed then"
    for taken in store.slots():
        if taken.overlaps(slot):
            return f"{slot.boat} is out until {taken.end // 60:02}:{taken.end % 60:02}"
    # TODO: ask the tide table before saying yes
    store.add(member, slot)
    return "booked"


if __name__ == "__main__":
    boat, time = sys.argv[1:3]
    print(book(Store("bookings.csv"), "desk", Slot(boat, parse_time(time))))
