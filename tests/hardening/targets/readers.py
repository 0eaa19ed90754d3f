"""The readers: their valid files, their functions, and what commands do with their results."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from streamplace.control.controller import Controller
from streamplace.control.journal import Entry, latest, read_entries, unfinished
from streamplace.control.plans import Deployment
from streamplace.control.settings import ControllerSettings
from streamplace.engines.flink.manifest import Manifest, read_manifest
from streamplace.engines.storm import profile
from streamplace.errors import FormatError, located
from streamplace.files import (
    read_cluster,
    read_clusters,
    read_constraints,
    read_dataset,
    read_graph,
    read_placement,
)
from streamplace.files.reading import read_json, read_text
from streamplace.files.summary import summary
from streamplace.files.training_logs import read_log
from streamplace.formats.costs import Costs
from streamplace.formats.documents import read_cluster_document, read_document, read_text_as
from streamplace.formats.sizes import NO_SIZES, Sizes
from streamplace.formats.speeds import with_speeds
from streamplace.jobs.files import read_jobs
from streamplace.learning.training.config import read_config
from streamplace.problem.cluster import Cluster
from streamplace.problem.logical import LogicalGraph
from streamplace.problem.placement import Placement
from streamplace.sim.engine import Settings
from streamplace.ticks import runs as engine
from streamplace.ticks.files import scene_from
from tests.corpus import journals, measured_run, own_files, study_files
from tests.corpus.document import Document
from tests.corpus.engine_documents import DOCUMENTS, IMPORTED
from tests.corpus.engine_documents.clusters import CLUSTERS
from tests.corpus.engine_documents.flink import FLINK_DEPLOYMENT
from tests.corpus.engine_documents.storm import METRICS, WHOLE
from tests.corpus.line_graph import line_graph
from tests.corpus.onnx_models import onnx_models
from tests.corpus.own_files import json_documents
from tests.hardening.targets import (
    flink_against,
    flink_apply,
    flink_prometheus,
    flink_rest,
    flink_threads,
    measured,
    ray_dashboard,
    studies,
)
from tests.hardening.targets.consumers import (
    InconsistencyError,
    use_cluster,
    use_graph,
    use_graphs,
    use_job,
    use_jobs,
    use_placement,
    use_result,
    use_rules,
)

SHORT = Settings(duration_s=1.0)
SERVED = ("flink-rest", "flink-apply", "flink-against", "flink-prometheus", "ray-dashboard")
"""Readers of a server's responses, whose messages name an address instead of a file."""


def ignore(value: Any) -> None:
    """Ignore a value."""


@dataclass(frozen=True)
class Reader:
    """A reader under test.

    Parameters
    ----------
    documents
        Returns valid files; creating some takes a while.
    read
        Reads the file at a path.
    use
        Uses the value like a command that has read it.
    is_slow
        Whether it or its files load torch, so that only long tests run it.
    takes_folder
        Whether the reader takes the folder of the file instead of the file.
    """

    name: str
    documents: Callable[[], tuple[Document, ...]]
    read: Callable[[str], Any]
    use: Callable[[Any], None] = ignore
    is_slow: bool = False
    takes_folder: bool = False


def _own(name: str, read: Callable[[str], Any], use: Callable[[Any], None], **more: Any) -> Reader:
    return Reader(name, lambda: own_files.files()[name], read, use, **more)


def _of_study(
    name: str,
    document: Callable[[], Document],
    read: Callable[[str], Any],
    use: Callable[[Any], None],
) -> Reader:
    return Reader(name, lambda: (document(),), read, use, takes_folder=True)


def _imported(kind: str, sizes: Sizes = NO_SIZES) -> Reader:
    def read(path: str) -> LogicalGraph:
        return read_document(path, kind, sizes)

    name = f"{kind}-sized" if sizes else kind
    if kind == "onnx":
        return Reader(name, onnx_models, read, use_job)
    texts = DOCUMENTS[kind][-1:] if sizes else DOCUMENTS[kind]
    documents = tuple(Document("file.txt", text.encode()) for text in texts)
    return Reader(name, lambda: documents, read, use_job)


def _imported_cluster(kind: str) -> Reader:
    def read(path: str) -> Cluster:
        return with_speeds(read_cluster_document(path, kind)[0], [(None, 2000.0)])[0]

    documents = tuple(Document("file.txt", text.encode()) for text in CLUSTERS[kind])
    return Reader(kind, lambda: documents, read, use_cluster)


def _scene(path: str) -> Any:
    placement = own_files.placement()
    return scene_from(read_json(path), placement.problem, path)


def _run_scene(scene: Any) -> None:
    metrics = engine.run(own_files.placement(), SHORT, scene)
    if not np.isfinite(metrics.throughput):
        raise InconsistencyError("a throughput that is not a number")


def _costs(path: str) -> LogicalGraph:
    job = read_text_as(DOCUMENTS["kafka-streams"][0], "job", "kafka-streams")
    with located(path):
        return Costs.read(path).of(job)


def _storm_profile(path: str) -> LogicalGraph:
    with located(path, FormatError):
        return profile.fit(read_json(path), path, 2500.0).logical


def _manifest(path: str) -> Manifest:
    """Return the file of a job, with the facts in it that are read later."""
    found = read_manifest(read_text(path), path)
    assert found.operated().config == found.config
    assert found.replaced("")[: found.span[0]] == found.text[: found.span[0]]
    return found


def _use_clusters(clusters: list[Cluster]) -> None:
    for cluster in clusters:
        use_cluster(cluster)


def _use_config(config: Any) -> None:
    use_result(config.model_dump(mode="json"))


def _weights(path: str) -> Any:
    from streamplace.learning.policy.weights import read_policy  # noqa: PLC0415 - torch is heavy

    return read_policy(path)[1]


def _summary(path: str) -> Any:
    from streamplace.learning.policy.tensor_files import summary as summarise  # noqa: PLC0415 - torch is heavy

    return summarise(path)


def _resume(path: str) -> Any:
    from tests.corpus.checkpoints import resume  # noqa: PLC0415 - torch is heavy

    return vars(resume(path))


def _checkpoints() -> tuple[Document, ...]:
    from tests.corpus.checkpoints import written  # noqa: PLC0415 - torch is heavy

    with TemporaryDirectory() as folder:
        return (Document("file.safetensors", written(Path(folder))),)


def _journal(folder: str) -> list[Entry]:
    return read_entries(Path(folder) / journals.NAME)[0]


def _go_on(entries: list[Entry]) -> None:
    if (state := latest(entries, "state")) is not None:
        Controller(ControllerSettings(), journals.plan).restore(state)
    if steps := unfinished(entries):
        Deployment.from_dict(steps[0].details["deployment"])


def _of_line_graph(path: str | Path) -> Placement:
    return read_placement(path, graph=line_graph(), cluster=Cluster.equal(2))


READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        _own("graph", read_graph, use_graph),
        _own("dataset", read_dataset, use_graphs),
        _own("columns", read_graph, use_graph),
        _own("dream-graph", read_graph, use_graph),
        _own("cluster", read_cluster, use_cluster),
        _own("clusters", read_clusters, _use_clusters),
        _own("constraints", read_constraints, use_rules),
        _own("placement", read_placement, use_placement),
        _own("placement-columns", read_placement, use_placement),
        _own("assignment", _of_line_graph, use_placement),
        _own("cepsim-placement", _of_line_graph, use_placement),
        _own("scene", _scene, _run_scene),
        _own("jobs", read_jobs, use_jobs),
        _own("config", read_config, _use_config),
        _own("log", read_log, use_result, takes_folder=True),
        _own("costs", _costs, use_job),
        *map(_imported, IMPORTED),
        *map(_imported_cluster, CLUSTERS),
        _imported("openvino", Sizes(["2x6"])),
        *([_imported("onnx", Sizes(["1x3x8x8"]))] if "onnx" in IMPORTED else []),
        Reader(
            "storm-profile",
            lambda: json_documents(METRICS, WHOLE),
            _storm_profile,
            use_job,
        ),
        Reader(
            "flink-deployment",
            lambda: (Document("file.yaml", FLINK_DEPLOYMENT.encode()),),
            _manifest,
            ignore,
        ),
        Reader(
            "flink-rest",
            lambda: (Document("file.json", flink_rest.TEXT.encode()),),
            flink_rest.read,
            use_job,
        ),
        Reader(
            "ray-dashboard",
            lambda: (Document("file.json", ray_dashboard.TEXT.encode()),),
            ray_dashboard.read,
            use_job,
        ),
        Reader(
            "flink-prometheus",
            lambda: (Document("file.json", flink_prometheus.TEXT.encode()),),
            flink_prometheus.read,
            use_job,
        ),
        Reader(
            "flink-apply",
            lambda: (Document("file.json", flink_apply.TEXT.encode()),),
            flink_apply.read,
            use_result,
        ),
        Reader(
            "flink-threads",
            lambda: (Document("file.txt", flink_threads.TEXT.encode()),),
            flink_threads.read,
            use_result,
        ),
        Reader(
            "flink-against",
            lambda: (Document("file.json", flink_against.TEXT.encode()),),
            flink_against.read,
            use_result,
        ),
        Reader(
            "info",
            lambda: tuple(
                document
                for name in ("graph", "cluster", "placement", "cepsim-placement")
                for document in own_files.files()[name]
            ),
            summary,
            use_result,
        ),
        Reader(
            "weights",
            lambda: (Document("file.safetensors", own_files.weights()),),
            _weights,
            use_result,
            is_slow=True,
        ),
        Reader(
            "info-weights",
            lambda: (Document("file.safetensors", own_files.weights()), *_checkpoints()),
            _summary,
            use_result,
            is_slow=True,
        ),
        _of_study("study-plan", study_files.plan_document, studies.read_plan, ignore),
        _of_study(
            "study-results", study_files.results_document, studies.read_found, studies.use_found
        ),
        Reader("journal", journals.documents, _journal, _go_on, takes_folder=True),
        Reader(
            "measurements",
            lambda: (measured_run.measurements(),),
            measured.read_log,
            measured.use_log,
            is_slow=True,
            takes_folder=True,
        ),
        Reader("checkpoint", _checkpoints, _resume, is_slow=True),
    )
}
"""Name -> reader."""
