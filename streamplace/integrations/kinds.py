"""Names of the formats of other programs, and the functions that read and write them."""

_HERE = "streamplace.integrations"
READERS: dict[str, str] = {
    "flink-plan": f"{_HERE}.flink.plan:read",
    "storm-flux": f"{_HERE}.storm.flux:read",
    "storm-ui": f"{_HERE}.storm.profile:read",
    "ibm-adl": f"{_HERE}.ibm.adl:read",
    "ibm-streamsx": f"{_HERE}.ibm.streamsx:read",
    "kafka-streams": f"{_HERE}.kafka_streams:read",
    "gnuradio": f"{_HERE}.gnuradio.grc:read",
    "dream": f"{_HERE}.formats.dream_cepsim:read_dream",
    "cepsim": f"{_HERE}.formats.dream_cepsim:read_cepsim",
    "graphml": f"{_HERE}.formats.graphml:read",
    "dot": f"{_HERE}.formats.dot:read",
    "wfformat": f"{_HERE}.formats.wfformat:read",
    "doppler": f"{_HERE}.neural.doppler:read",
    "dnn-partitioning": f"{_HERE}.neural.dnn_partitioning:read",
    "dnn-latency": f"{_HERE}.neural.dnn_partitioning:read_latency",
    "pipedream": f"{_HERE}.neural.pipedream:read",
    "openvino": f"{_HERE}.neural.openvino:read",
    "onnx": f"{_HERE}.neural.onnx_model:read",
}
"""Name -> ``module:function`` that returns a `LogicalGraph` for a text and its file's name."""
MODULES: dict[str, str] = {"torch": f"{_HERE}.torch.loading:read"}
"""Name -> ``module:function`` that returns a `LogicalGraph` for code, not a file.

Its arguments are the name ``module:Class`` that the user typed, the shapes of the inputs, and a
seed. Code is imported only because a user typed its name.
"""
BINARY = frozenset({"onnx"})
"""Formats whose readers take bytes instead of text."""
WITH_PLACEMENT = frozenset({"wfformat"})
"""Formats whose files record where operators ran."""
WITH_CLUSTER = WITH_PLACEMENT | {"doppler", "dnn-partitioning", "dnn-latency", "pipedream"}
"""Formats whose files come with a cluster."""
ANY_COUNT = frozenset({"doppler", "pipedream"})
"""Those of them in which the number of devices, all equal, is not stated."""
WRITERS: dict[str, str] = {
    "flink": f"{_HERE}.flink.slot_groups:write",
    "flink-config": f"{_HERE}.flink.slot_groups:write_configuration",
    "flink-helper": f"{_HERE}.flink.slot_groups:write_helper",
    "capsys": f"{_HERE}.flink.capsys:write",
    "storm-ras": f"{_HERE}.storm.ras:write",
    "ibm-spl": f"{_HERE}.ibm.spl:write",
    "ibm-overlay": f"{_HERE}.ibm.spl:write_overlay",
    "kubernetes": f"{_HERE}.kubernetes:write",
    "ray": f"{_HERE}.ray.options:write",
    "gnuradio-counters": f"{_HERE}.gnuradio.helper:write",
    "dot": f"{_HERE}.formats.dot:write",
    "graphml": f"{_HERE}.formats.graphml:write",
}
"""Name -> ``module:function`` that returns a text for a placement."""
