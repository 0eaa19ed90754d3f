"""The kind that the package registers; importing this module does not load torch."""

from pydantic import BaseModel, ConfigDict, Field

from streamplace.learning.policy.registry import PolicyKind


class Sizes(BaseModel):
    """Sizes of the policy; every size must have a default."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    hidden: int = Field(16, ge=1, le=1024)


KIND = PolicyKind(sizes=Sizes, policy="toy_streams.policy:LoadAware")
