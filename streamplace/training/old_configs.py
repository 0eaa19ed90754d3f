"""Conversion of streamplace 0.2 configs, which had no stages, to the current format."""

from typing import Any

from streamplace.files.schema_fields import Place

CURRENT_TABLES = {
    "sampling": "[[stage]]",
    "memory": "[stage.memory]",
    "teacher": "[[stage]]",
    "optimiser": "[stage.optimiser]",
}
"""The tables of streamplace 0.2, and the tables that have their settings now."""
OLD_TABLES = tuple(CURRENT_TABLES)
_OF_BOTH = ("problems_per_step", "scores_per_step", "reward")
_OF_LOSS = ("normalise", "entropy", "per_decision")


def is_old(config: dict[str, Any]) -> bool:
    """Return whether a config has tables of streamplace 0.2 and no stage."""
    return "stage" not in config and any(name in config for name in OLD_TABLES)


def with_stages(config: dict[str, Any]) -> dict[str, Any]:
    """Return a config of streamplace 0.2 with its four tables as one stage, or two with a teacher.

    Values are moved but not checked; if one of the four is not a table, the config is returned
    unchanged and refused later.
    """
    if not is_old(config) or not all(isinstance(config.get(t, {}), dict) for t in OLD_TABLES):
        return config
    sampling, memory, teacher, optimiser = (dict(config.get(t, {})) for t in OLD_TABLES)
    memory.setdefault("threshold", 0.8)  # for both kinds of reward
    loss = {name: optimiser.pop(name) for name in _OF_LOSS if name in optimiser}
    reinforce: dict[str, Any] = {"algorithm": "reinforce", **sampling, **loss, "memory": memory}
    stages = [reinforce]
    if any(teacher.values()) or teacher.keys() - {"placer", "epochs"}:
        shared = {name: sampling[name] for name in _OF_BOTH if name in sampling}
        imitation = {"algorithm": "imitation", **shared, "epochs": teacher.pop("epochs", 0)}
        if placer := teacher.pop("placer", ""):  # otherwise refused later as missing
            imitation["teacher"] = placer
        stages.insert(0, imitation | teacher)
    stages[0]["optimiser"] = optimiser
    kept = {name: value for name, value in config.items() if name not in OLD_TABLES}
    return {**kept, "stage": stages}


def old_place(place: Place, config: dict[str, Any]) -> Place:
    """Return the place in a config of streamplace 0.2 for a place in the converted config.

    Parameters
    ----------
    config
        The converted config.
    """
    match place:
        case ("stage", int(number), str(name), *rest):
            algorithm = config["stage"][number]["algorithm"]
            return (*_OLD_PLACES.get((algorithm, name), (_TABLES[algorithm], name)), *rest)
        case ("stage", int(_)):
            return ()  # concerns several settings, which the message names
    return place


_TABLES = {"reinforce": "sampling", "imitation": "teacher"}
_OLD_PLACES: dict[tuple[str, str], Place] = {
    **{(algorithm, "optimiser"): ("optimiser",) for algorithm in _TABLES},
    **{("imitation", name): ("sampling", name) for name in _OF_BOTH},
    **{("reinforce", name): ("optimiser", name) for name in _OF_LOSS},
    ("reinforce", "memory"): ("memory",),
    ("imitation", "teacher"): ("teacher", "placer"),
}
"""Settings of stages that were in a table other than the one in _TABLES, or had another name."""
