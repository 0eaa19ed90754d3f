"""Types and limits of the numbers in training configs."""

from typing import Annotated

from pydantic import Field

from streamplace.policy.config import MOST_PLACEMENTS

LARGEST_SEED = 2**62
MOST = 2**53
"""The largest allowed count."""

Count = Annotated[int, Field(ge=1, le=MOST)]
CountOrZero = Annotated[int, Field(ge=0, le=MOST)]
Placements = Annotated[int, Field(ge=0, le=MOST_PLACEMENTS)]
Share = Annotated[float, Field(ge=0, le=1)]
PositiveFloat = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NonNegativeFloat = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Rate = Annotated[float, Field(gt=0, le=1e30)]  # well below the largest 32-bit float
Seed = Annotated[int, Field(ge=0, le=LARGEST_SEED)]
