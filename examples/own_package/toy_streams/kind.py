"""The kind that the package registers; it is read without loading torch."""

from pydantic import BaseModel, ConfigDict, Field

from streamplace.policy.registry import PolicyKind


class Sizes(BaseModel):
    """Sizes of the policy; every size has a default."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    hidden: int = Field(16, ge=1, le=1024)


KIND = PolicyKind(sizes=Sizes, policy="toy_streams.policy:LoadAware")
