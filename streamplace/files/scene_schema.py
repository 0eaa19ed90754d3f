"""The JSON format of scenes as pydantic models."""

from typing import Literal

from pydantic import Field

from streamplace.files.schema import VERSION, Form, Name, Number, Positive, Version


class ProfileForm(Form):
    """A source's offered rate over time."""

    at_s: list[Number] = Field(min_length=1, description="increasing times, in seconds")
    factor: list[Number] = Field(
        description="a multiple of the source's rate for each time, from that time on"
    )
    linear: bool = Field(False, description="interpolate linearly between the times")
    every_s: Positive | None = Field(
        None, description="period after which it repeats, in seconds; null: never"
    )


class WindowForm(Form):
    """An operator with a window: every `advance_s` it emits tuples for the last `size_s`."""

    size_s: Positive = Field(description="length in seconds, a whole multiple of advance_s")
    advance_s: Positive
    ratio: Number = Field(
        1.0,
        description="tuples emitted per tuple in the window; each stream carries this times its "
        "selectivity in the graph",
    )
    count: Number | None = Field(
        None,
        description="tuples emitted per non-empty window, instead of ratio; also times the "
        "selectivity",
    )


class SpeedForm(Form):
    """A device whose speed changes during the run."""

    device: Name
    from_s: Number
    factor: Number = Field(description="multiple of its capacity from then on; 0 stops it")


class SceneForm(Form):
    """Source rates over time, windows of operators, and slow devices in a run of the engine."""

    format: Literal["streamplace-scene"] = "streamplace-scene"
    version: Version = VERSION
    sources: dict[Name, ProfileForm] = Field({}, description="by operator")
    windows: dict[Name, WindowForm] = Field({}, description="by operator")
    speeds: list[SpeedForm] = Field([])
