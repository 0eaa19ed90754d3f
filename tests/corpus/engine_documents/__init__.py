"""Small valid documents of stream engines and other programs, none of them from a real run."""

import json

from tests.corpus.documents import DREAM
from tests.corpus.engine_documents.flink import (
    FLINK_COMPILED,
    FLINK_EXECUTION,
    FLINK_RUNNING,
    FLINK_TABLES,
)
from tests.corpus.engine_documents.ibm_streams import (
    ADL,
    ADL_ISOLATED,
    ADL_PARALLEL,
    ADL_PLACED,
    STREAMSX,
    STREAMSX_PLACED,
)
from tests.corpus.engine_documents.interchange import (
    DOT,
    GEXF,
    GRAPHML,
    METIS,
    METIS_SIZES,
    TABLE,
    TABLE_OF_STREAMS,
)
from tests.corpus.engine_documents.kafka_streams import (
    KAFKA,
    KAFKA_OLD,
    STORES,
    STORES_OF_1_0,
)
from tests.corpus.engine_documents.neural_networks import (
    DNN_TEXT,
    DOPPLER,
    OPENVINO,
    OPENVINO_LOOP,
    OPENVINO_STATE,
    PIPEDREAM,
)
from tests.corpus.engine_documents.storm import (
    FLUX,
    FLUX_RESOURCES,
    METRICS,
    VISUALIZATION,
    WHOLE,
)
from tests.corpus.engine_documents.workflows import DAX, DAX_3, WFFORMAT, WFFORMAT_1_4
from tests.corpus.onnx_models import INSTALLED

DOCUMENTS: dict[str, tuple[str, ...]] = {
    "flink-plan": (
        json.dumps(FLINK_RUNNING),
        json.dumps(FLINK_EXECUTION),
        json.dumps(FLINK_COMPILED),
        json.dumps(FLINK_TABLES),
        "== Physical Execution Plan ==\n" + json.dumps(FLINK_EXECUTION, indent=2) + "\n",
    ),
    "storm-flux": (FLUX, FLUX_RESOURCES),
    "storm-ui": (
        json.dumps(VISUALIZATION),
        json.dumps(METRICS),
        json.dumps(WHOLE),
    ),
    "ibm-adl": (ADL, ADL_PARALLEL, ADL_PLACED, ADL_ISOLATED),
    "ibm-streamsx": (json.dumps(STREAMSX), json.dumps(STREAMSX_PLACED)),
    "kafka-streams": (KAFKA, KAFKA_OLD, KAFKA + STORES, KAFKA_OLD + STORES_OF_1_0),
    "dream": (json.dumps(DREAM),),
    "cepsim": (json.dumps(DREAM),),
    "csv": (TABLE, TABLE_OF_STREAMS),
    "graphml": (GRAPHML,),
    "gexf": (GEXF,),
    "metis": (METIS, METIS_SIZES),
    "dot": (DOT,),
    "wfformat": (WFFORMAT, WFFORMAT_1_4),
    "dax": (DAX, DAX_3),
    "doppler": (DOPPLER,),
    "dnn-partitioning": (DNN_TEXT,),
    "dnn-latency": (DNN_TEXT,),
    "pipedream": (PIPEDREAM,),
    "openvino": (OPENVINO, OPENVINO_STATE, OPENVINO_LOOP),
}
"""Format name -> valid documents; those of ``onnx``, which are not text, are in `onnx_models`."""
IMPORTED = (*DOCUMENTS, *(("onnx",) if INSTALLED else ()))
"""The formats whose readers can run: ``onnx`` only where the package onnx is installed."""
