"""Objectives in placement files."""

from typing import Any

from streamplace.errors import ProblemError, StreamplaceError, UsageError
from streamplace.files.schema import ProblemForm
from streamplace.problem.objective import Objective, Throughput
from streamplace.problem.objectives import check_text, make_objective, text_of
from streamplace.util.plugins import is_custom


def objective_to(objective: Objective) -> dict[str, str]:
    """Return an objective as the entry of a JSON object; for throughput, nothing.

    Raises
    ------
    UsageError
        If its options could not be read back.
    """
    text = text_of(objective)
    if text == Throughput.quantity:
        return {}
    check_text(objective)
    if not objective.has_rates:
        return {"objective": text}
    alike = objective.with_changes(1.0, "bottleneck", 1.0)
    if not is_custom(text) and make_objective(text).with_changes(1.0, "bottleneck", 1.0) != alike:
        raise UsageError(f"objective {text!r}: a placement file cannot hold its options")
    return {"objective": text}


def stored_objective(own: ProblemForm, instead: Objective | None) -> Objective:
    """Return the objective of a file, or another one with the file's rates and model."""
    kind = _objective_of(own) if instead is None else instead
    rates = () if own.source_rate is None else (own.source_rate, *own.source_rates)
    return kind.with_stored(rates, own.model, own.target_utilisation)


def _objective_of(own: ProblemForm) -> Objective:
    if is_custom(own.objective):
        raise ProblemError(
            "problem.objective: the placement was made under a user's objective; pass --objective "
            f"{own.objective} to simulate, explain, diff or place --start, --objective throughput "
            "to report, or objective=… to read_placement in Python; for other commands, store it "
            "under throughput by place GRAPH --start FILE --objective throughput --max-moves 0"
        )
    try:
        return make_objective(own.objective, from_file=True)
    except UsageError as error:
        raise ProblemError(f"problem.objective: {error}") from None


def objective_in(value: Any) -> Objective | None:
    """Return the objective of a placement file; None if the file holds no valid one."""
    text = _stated(value)
    if not isinstance(text, str) or is_custom(text):
        return None
    try:
        return make_objective(text, from_file=True)
    except StreamplaceError:
        return None  # reading the placement reports the fault


def names_a_class(value: Any) -> bool:
    """Return whether a placement file names a user's ``module:Class``, which no file loads."""
    text = _stated(value)
    return isinstance(text, str) and is_custom(text)


def _stated(value: Any) -> Any:
    problem = value.get("problem") if isinstance(value, dict) else None
    return problem.get("objective", "throughput") if isinstance(problem, dict) else None


def throughput_to(objective: Objective) -> dict[str, Any]:
    """Return the entries of source rates, model and target utilisation; none for a pass.

    Raises
    ------
    UsageError
        If the objective has settings of the engine, which a file cannot hold.
    """
    if objective != objective.with_engine(None):
        raise UsageError(
            "a placement file cannot hold engine settings: use an objective with engine=None"
        )
    own = objective.entries()
    several, target = own.pop("source_rates", ()), own.pop("target_utilisation", 1)
    if len(several) > 1:
        own["source_rates"] = several
    if target != 1:
        own["target_utilisation"] = target
    return own
