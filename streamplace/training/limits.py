"""Types and limits of the numbers in training configs."""

from typing import Annotated

from pydantic import Field

from streamplace.policy.config import MAX_PLACEMENTS

LARGEST_SEED = 2**62
MAX_COUNT = 2**53
"""The largest allowed count."""

Count = Annotated[int, Field(ge=1, le=MAX_COUNT)]
CountOrZero = Annotated[int, Field(ge=0, le=MAX_COUNT)]
Placements = Annotated[int, Field(ge=0, le=MAX_PLACEMENTS)]
Share = Annotated[float, Field(ge=0, le=1)]
PositiveFloat = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NonNegativeFloat = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Rate = Annotated[float, Field(gt=0, le=1e30)]  # well below the largest 32-bit float
Window = Annotated[int, Field(ge=1, le=10**6)]
Seed = Annotated[int, Field(ge=0, le=LARGEST_SEED)]
