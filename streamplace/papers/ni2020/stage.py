"""The stage of the training of Ni et al.'s released code."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from streamplace.learning.training.stages import Stage

Placements = Annotated[int, Field(ge=0, le=2**20)]
Above0 = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class ReplayStage(Stage):
    """REINFORCE with replayed placements, as in the released code of Ni et al. (AAAI 2020)."""

    path: ClassVar[str] = "streamplace.papers.ni2020.algorithm:Replay"
    algorithm: Literal["reinforce-replay"]
    samples: Annotated[Placements, Field(ge=1)] = Field(
        10, description="sampled placements per problem; only distinct ones are learnt from"
    )
    random_samples: Placements = Field(
        20, description="initial number of random placements per problem, which may be replayed"
    )
    random_decay: Above0 = Field(1.0, description="epochs over which that number falls to 1/e")
    random_until: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        0.99, description="reward that a problem must reach before that number falls"
    )
    replayed: Annotated[Placements, Field(ge=1)] = Field(
        5, description="the best placements found of a problem that a step learns from again"
    )
    threshold: float = Field(
        0.8,
        allow_inf_nan=False,
        description="smallest reward of a replayed placement; the best one found is replayed "
        "where none reaches it",
    )
    raise_by: Above0 = Field(10.0, description="factor of advantages above 0")
