"""The registry of formats of other programs: built-in, of packages, and ``module:FORMAT``."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from streamplace.errors import UsageError
from streamplace.formats.format import Format
from streamplace.util import plugins

NOUN = "format"
GROUP = "streamplace.formats"
FORMATS = {
    "dot": "streamplace.formats.dot:FORMAT",
    "graphml": "streamplace.formats.graphml:FORMAT",
    "flink-plan": "streamplace.engines.flink.plan:FORMAT",
    "flink": "streamplace.engines.flink.slot_groups:GROUPS",
    "flink-config": "streamplace.engines.flink.slot_groups:CONFIGURATION",
    "flink-helper": "streamplace.engines.flink.slot_groups:HELPER",
    "capsys": "streamplace.engines.capsys.schedule:FORMAT",
    "storm-flux": "streamplace.engines.storm.flux:FORMAT",
    "storm-ui": "streamplace.engines.storm.profile:FORMAT",
    "storm-ras": "streamplace.engines.storm.ras:FORMAT",
    "ibm-adl": "streamplace.engines.ibm.adl:FORMAT",
    "ibm-streamsx": "streamplace.engines.ibm.streamsx:FORMAT",
    "ibm-spl": "streamplace.engines.ibm.spl:SPL",
    "ibm-overlay": "streamplace.engines.ibm.spl:OVERLAY",
    "kafka-streams": "streamplace.engines.kafka.streams:FORMAT",
    "kubernetes": "streamplace.engines.kubernetes.deployments:FORMAT",
    "ray": "streamplace.engines.ray.options:FORMAT",
    "dream": "streamplace.formats.cepsim:DREAM",
    "cepsim": "streamplace.formats.cepsim:CEPSIM",
    "wfformat": "streamplace.networks.wfformat.runs:FORMAT",
    "torch": "streamplace.networks.torch.format:FORMAT",
    "openvino": "streamplace.networks.openvino:FORMAT",
    "onnx": "streamplace.networks.onnx.model:FORMAT",
    "doppler": "streamplace.networks.doppler:FORMAT",
    "pipedream": "streamplace.networks.pipedream:FORMAT",
    "dnn-partitioning": "streamplace.networks.dnn_partitioning:THROUGHPUT",
    "dnn-latency": "streamplace.networks.dnn_partitioning:LATENCY",
}
"""The built-in formats, as pyproject.toml registers them: name -> ``module:object``."""


def named(text: str) -> Format:
    """Return the format of a name; no other built-in format is loaded.

    Parameters
    ----------
    text
        A built-in name, that of an entry point, or ``module:FORMAT``, which is imported.

    Raises
    ------
    UsageError
        If there is no such format, or it cannot be loaded.
    """
    if text in FORMATS:
        return _built_in(text)
    found, options = plugins.find(text, NOUN, GROUP, FORMATS, form="module:FORMAT")
    plugins.read_options(text, options, {}, NOUN)
    return _checked(found, text)


def formats() -> Iterator[Format]:
    """Yield the built-in formats, then those of installed packages that can be loaded.

    Installed packages are looked for only after the last built-in format.
    """
    yield from map(_built_in, FORMATS)
    for name, point in sorted(plugins.installed(GROUP).items()):
        if name not in FORMATS:
            with suppress(UsageError):  # `named` says why it cannot be loaded
                yield _checked(plugins.load_installed(point, NOUN), name)


def _built_in(name: str) -> Format:
    found: Format = plugins.load_ours(FORMATS[name])
    return found


def _checked(found: object, text: str) -> Format:
    if not isinstance(found, Format):
        raise UsageError(f"{NOUN} {text!r}: is not a streamplace.formats.Format")
    return replace(found, name=text)
