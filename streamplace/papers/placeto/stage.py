"""The stage of Placeto's training."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from streamplace.learning.training.stages import StepReinforceStage
from streamplace.problem.objective import Objective


class PlacetoStage(StepReinforceStage):
    """REINFORCE per step with the penalty for memory of Placeto (Addanki et al. 2019)."""

    path: ClassVar[str] = "streamplace.papers.placeto.algorithm:PlacetoReinforce"
    algorithm: Literal["placeto"]  # type: ignore[assignment]  # another name
    memory_penalty: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        0.0,
        description="added to the log of a makespan per GB by which the largest memory of a device "
        "at any time exceeds `memory_limit_gb`",
    )
    memory_limit_gb: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        8.0, description="see `memory_penalty`"
    )
    reversed_rewards: bool = Field(
        False,
        description="reproduce a fault of the released code of the study of traversal orders, "
        "whose rewards have the wrong sign",
    )

    @model_validator(mode="after")
    def _is_simulated(self) -> Self:
        if self.measurements and self.memory_penalty:
            raise ValueError("memory_penalty: running times are measured; leave it out")
        return self

    def fault_under(self, objective: Objective) -> tuple[str, str, str] | None:
        """Return the fault of the model, the start or the penalty, if there is one; see `Stage`."""
        if self.memory_penalty and objective.has_rates:
            return "memory_penalty", "only a pass has outputs to hold", "leave it out"
        return super().fault_under(objective)
