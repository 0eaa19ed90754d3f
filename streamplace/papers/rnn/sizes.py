"""Sizes of the RNN placer, validated when they are read."""

from typing import Annotated

from pydantic import Field

from streamplace.learning.policy.config import PolicyKind, StrictModel
from streamplace.problem.objectives import OrderName


class RnnSizes(StrictModel):
    """Sizes of the RNN placer of GiPH (Hu et al. 2023); see `papers.rnn`."""

    hidden: Annotated[int, Field(ge=1, le=8192)] = Field(
        64, description="size of the states of encoder and decoder"
    )
    devices: Annotated[int, Field(ge=1, le=2048)] = Field(
        20, description="the number of devices, which is fixed"
    )
    # the attention of V steps to V operators keeps V x V x `hidden` numbers per sample
    operators: Annotated[int, Field(ge=1, le=512)] = Field(
        64, description="largest number of operators"
    )
    out_streams: Annotated[int, Field(ge=0, le=1024)] = Field(
        32, description="largest number of streams out of an operator"
    )
    labels: list[str] = Field(
        [f"type{number}" for number in range(5)],
        max_length=256,
        description="labels of devices that operators may require; by default, GiPH's types",
    )
    order: OrderName = Field(
        "topo-level", description="traversal order in which the operators are read and placed"
    )
    frozen_attention: bool = Field(
        False,
        description="leave the attention's weights untrained, as the released code does by mistake",
    )


KIND = PolicyKind(RnnSizes, "streamplace.papers.rnn.network:Rnn")
