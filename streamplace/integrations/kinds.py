"""Names of engines' documents -> who reads and writes them."""

_HERE = "streamplace.integrations"
READERS: dict[str, str] = {
    "flink-plan": f"{_HERE}.flink_plan:read",
    "storm-flux": f"{_HERE}.storm_flux:read",
    "storm-ui": f"{_HERE}.storm_ui:read",
    "ibm-adl": f"{_HERE}.ibm_adl:read",
    "ibm-streamsx": f"{_HERE}.ibm_streamsx:read",
    "kafka-streams": f"{_HERE}.kafka_streams:read",
    "dream": f"{_HERE}.benchmarks:read_dream",
    "cepsim": f"{_HERE}.benchmarks:read_cepsim",
    "graphml": f"{_HERE}.graphml:read",
    "dot": f"{_HERE}.dot:read",
}
"""Name -> ``module:function`` that makes a `Job` of (text, what the file is called)."""
WRITERS: dict[str, str] = {
    "flink": f"{_HERE}.flink_mapping:write",
    "flink-helper": f"{_HERE}.flink_mapping:write_helper",
    "capsys": f"{_HERE}.capsys:write",
    "storm-ras": f"{_HERE}.storm_ras:write",
    "ibm-spl": f"{_HERE}.ibm_spl:write",
    "ibm-overlay": f"{_HERE}.ibm_overlay:write",
    "kubernetes": f"{_HERE}.kubernetes:write",
    "dot": f"{_HERE}.dot:write",
    "graphml": f"{_HERE}.graphml:write",
}
"""Name -> ``module:function`` that makes text of a placement."""
