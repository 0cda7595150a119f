"""The difference between an argument that was not given and one that is null."""

from enum import Enum
from typing import Final, Literal


class _Unset(Enum):
    UNSET = "UNSET"

    def __bool__(self) -> bool:
        return False


Unset = Literal[_Unset.UNSET]
UNSET: Final = _Unset.UNSET
