"""Files of the Flink Kubernetes operator, and options in them that concern numbers of instances."""

from typing import Any

import pytest
import yaml

from streamplace.engines.flink.manifest import Manifest, options_in, read_manifest
from streamplace.errors import FormatError, ProblemError

OVERRIDES = "pipeline.jobvertex-parallelism-overrides"
CHANGE = {"spec": {"flinkConfiguration": {OVERRIDES: "a:1,b:4"}}}
MOST = 4
JOB = """\
kind: FlinkDeployment
metadata: {name: clicks}
spec:
  flinkVersion: v1_20
  job: {parallelism: 2}
"""
SESSION = """\
kind: FlinkDeployment
metadata: {name: cluster, namespace: prod}
spec:
  flinkVersion: v2_1
  mode: standalone
  taskManager: {replicas: 2}
  flinkConfiguration: {jobmanager.scheduler: Adaptive, pipeline.max-parallelism: 9}
"""
SESSION_JOB = """\
kind: FlinkSessionJob
metadata: {name: clicks, namespace: prod}
spec: {deploymentName: cluster, job: {parallelism: 1}}
"""
OTHER = """\
# a comment
apiVersion: v1
kind: ConfigMap
metadata: &here {name: clicks}
data: {copy: *here, tag: !own "1"}   # another

"""


def with_lines(*lines: str) -> str:
    return JOB + "".join(f"  {line}\n" for line in lines)


def patched(text: str, pods: int | None = None) -> tuple[dict[str, Any], list[str]]:
    return read_manifest(text, "f.yaml").patched(CHANGE, MOST, pods)


def test_a_document_keeps_what_does_not_change() -> None:
    text = """\
kind: FlinkDeployment
metadata: {name: clicks, labels: {team: web}}
spec:
  flinkConfiguration:
    taskmanager: {numberOfTaskSlots: 2, memory.managed.size: 1g}
    pipeline.jobvertex-parallelism-overrides: "old:7"
  taskManager: {replicas: 3, resource: {memory: 2g}}
  job: {parallelism: 2, upgradeMode: savepoint}
"""
    slots = "taskmanager.numberOfTaskSlots"
    options = {OVERRIDES: "a:1,b:4", slots: "2"}
    found, notes = read_manifest(text, "f").patched(
        {"spec": {"flinkConfiguration": options, "taskManager": {"resource": {"cpu": 2.0}}}}, MOST
    )
    assert found["spec"]["flinkConfiguration"] == {
        "taskmanager": {"memory.managed.size": "1g"},  # no slots beside the new ones
        **options,
    }
    assert found["spec"]["job"] == {"parallelism": 2, "upgradeMode": "savepoint"}
    assert found["spec"]["taskManager"] == {"replicas": 3, "resource": {"memory": "2g", "cpu": 2.0}}
    assert found["metadata"]["labels"] == {"team": "web"}
    assert notes == []
    empty, _ = patched(with_lines("flinkConfiguration:"))
    assert empty["spec"]["flinkConfiguration"] == {OVERRIDES: "a:1,b:4"}


def test_options_are_read_as_the_operator_flattens_them() -> None:
    document = yaml.safe_load(
        "spec: {flinkConfiguration: {a: {b.c: {d: true}, e: [x, 1]}, f: 1.5, g: null, h: ' i'}}"
    )
    assert options_in(document) == {"a.b.c.d": "true", "a.e": "x;1", "f": "1.5", "h": " i"}


@pytest.mark.parametrize(
    ("lines", "is_named"),
    [
        (['job.autoscaler.enabled: "true"'], True),
        (["job.autoscaler.enabled: TRUE"], True),
        (["job: {autoscaler: {enabled: true}}"], True),
        (["job.autoscaler: {enabled: on}"], True),
        (["kubernetes.operator.job.autoscaler.enabled: true"], True),
        (["kubernetes: {operator.job: {autoscaler.enabled: 'True'}}"], True),
        (["job.autoscaler.enabled: false"], False),
        (
            ["job.autoscaler.enabled: 'false'", "kubernetes.operator.job.autoscaler.enabled: true"],
            False,
        ),
        (["job.autoscaler.stabilization.interval: 1m"], False),
    ],
)
def test_the_autoscaler_is_named(lines: list[str], is_named: bool) -> None:
    text = with_lines("flinkConfiguration:", *(f"  {line}" for line in lines))
    lost = read_manifest(text, "f.yaml").lost
    assert [note.partition(" is true")[2] for note in lost] == (
        [
            ": the operator's autoscaler writes the same option and replaces these numbers; set "
            "it to false to keep them"
        ]
        if is_named
        else []
    )


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (
            ["flinkConfiguration: {pipeline.max-parallelism: '3'}"],
            "pipeline.max-parallelism is 3, and an operator would have 4 instances",
        ),
        (
            ["flinkConfiguration: {slotmanager: {number-of-slots.max: 3}}"],
            "slotmanager.number-of-slots.max is 3, and an operator would have 4 instances",
        ),
    ],
)
def test_options_below_the_numbers_are_refused(lines: list[str], fault: str) -> None:
    with pytest.raises(ProblemError, match=fault):
        patched(with_lines(*lines))


def test_options_that_allow_the_numbers() -> None:
    for value in ("4", "-1", "128"):
        assert patched(with_lines(f"flinkConfiguration: {{pipeline.max-parallelism: {value}}}"))
    limit = "flinkConfiguration: {slotmanager.number-of-slots.max: 1}"
    assert patched(with_lines("mode: standalone", limit))  # Flink starts no TaskManagers there


@pytest.mark.parametrize(
    ("lines", "pods", "replicas"),
    [
        (["mode: standalone", "taskManager: {replicas: 2}"], None, 4),
        (
            [
                "mode: standalone",
                "taskManager: {replicas: 1}",
                "flinkConfiguration: {taskmanager: {numberOfTaskSlots: '3'}}",
            ],
            None,
            2,
        ),
        (["mode: standalone", "taskManager: {replicas: 2}"], 3, 3),
        (["mode: standalone", "taskManager: {replicas: 4}"], None, None),
        (["mode: native", "taskManager: {replicas: 2}"], None, None),
        (["taskManager: {replicas: 2}"], None, None),
        (["mode: standalone", "taskManager: {}"], None, None),
    ],
)
def test_replicas_have_the_slots_that_the_numbers_need(
    lines: list[str], pods: int | None, replicas: int | None
) -> None:
    found, notes = patched(with_lines(*lines), pods)
    before = yaml.safe_load(with_lines(*lines))["spec"]["taskManager"].get("replicas")
    assert found["spec"]["taskManager"].get("replicas") == (replicas or before)
    assert [note.partition(", for")[0] for note in notes] == (
        [f"spec.taskManager.replicas is {replicas} instead of {before}"] if replicas else []
    )


def test_replicas_win_over_the_parallelism_of_the_job() -> None:
    change = {"spec": {**CHANGE["spec"], "job": {"parallelism": 4}}}
    manifest = read_manifest(with_lines("taskManager: {replicas: 4}"), "f.yaml")
    with pytest.raises(ProblemError, match=r"replicas takes precedence over job.parallelism"):
        manifest.patched(change, MOST)


def test_a_job_on_a_session_cluster_has_the_options_of_the_cluster() -> None:
    manifest = read_manifest(f"{SESSION}---\n{SESSION_JOB}", "f.yaml")
    assert (manifest.kind, manifest.name, manifest.namespace) == (
        "FlinkSessionJob",
        "clicks",
        "prod",
    )
    operated = manifest.operated()
    assert operated.version == (2, 1)
    assert operated.is_session_job
    assert operated.is_adaptive
    assert operated.is_standalone
    assert operated.config["pipeline.max-parallelism"] == "9"
    with pytest.raises(ProblemError, match=r"take 4 TaskManagers, and .* of 'cluster' is 2"):
        manifest.patched(CHANGE, MOST)
    alone = read_manifest(SESSION_JOB, "f.yaml").operated()
    assert (alone.version, alone.is_adaptive, alone.is_standalone) == (None, False, False)
    elsewhere = f"{SESSION.replace('namespace: prod', 'namespace: test')}---\n{SESSION_JOB}"
    assert read_manifest(elsewhere, "f.yaml").operated().version is None


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        (JOB, "", ""),
        (f"---\n{JOB}", "---\n", ""),
        (f"{OTHER}---\n# mine\n{JOB}---\n{OTHER}", f"{OTHER}---\n", f"---\n{OTHER}"),
        (f"{JOB}...\n---\n{OTHER}", "", f"...\n---\n{OTHER}"),
        (f"--- # mine\n{JOB}---\n", "---\n", "---\n"),
        (f"%YAML 1.1\n---\n{OTHER}...\n---\n{JOB}", f"%YAML 1.1\n---\n{OTHER}...\n---\n", ""),
        (f"{OTHER}---\r\n{JOB}", f"{OTHER}---\n", ""),
    ],
)
def test_other_documents_stay_byte_for_byte(text: str, before: str, after: str) -> None:
    manifest = read_manifest(text, "f.yaml")
    assert manifest.name == "clicks"
    assert manifest.replaced("new: 1\n") == f"{before}new: 1\n{after}"
    assert manifest.lost == (("comments of f.yaml",) if "# mine" in text else ())


def test_the_document_of_the_job_is_chosen_by_its_name() -> None:
    two = f"{JOB}---\n{JOB.replace('clicks', 'views')}"
    assert read_manifest(two, "f.yaml", ["views"]).name == "views"
    assert read_manifest(f"{SESSION}---\n{JOB}", "f.yaml", ["any"]).name == "clicks"
    for names in ([], ["other"], ["clicks", "views"]):
        with pytest.raises(
            FormatError, match=r"f.yaml: has documents of 2 jobs \('clicks', 'views'\)"
        ):
            read_manifest(two, "f.yaml", names)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("kind: Deployment\n", "u: kind: must be FlinkDeployment or FlinkSessionJob"),
        ("kind: FlinkDeployment\nspec: 1\nmetadata: {}\n", "u: spec: must be an object"),
        ("kind: FlinkDeployment\nspec: {}\nmetadata: {}\n", "u: metadata.name: must be text"),
        (with_lines("flinkConfiguration: 1"), "u: spec.flinkConfiguration: must be an object"),
        (with_lines("taskManager: [1]"), "u: spec.taskManager: must be an object"),
        (SESSION, "u: spec.job: is missing, so this is a session cluster"),
        ("[1]\n", "u: kind: must be"),
        ("~\n", "u: kind: must be"),
        ("# nothing\n", "u: is empty"),
        (f"{JOB}---\na: [\n", "u: not YAML: .* at line 8 column 1"),
        (with_lines("a: &b 1", "c: *b"), "u: line 6 column 6: aliases"),
        ("".join(f"{' ' * i}a:\n" for i in range(2000)), "u: nested too deeply"),
    ],
)
def test_other_files_are_refused(text: str, fault: str) -> None:
    with pytest.raises(FormatError, match=fault):
        read_manifest(text, "u")


@pytest.mark.parametrize("version", ["2.2", "v2", "1.20", "v1_20_1"])
def test_unknown_versions_are_refused(version: str) -> None:
    manifest = read_manifest(JOB.replace("v1_20", version), "u")
    with pytest.raises(FormatError, match=r"u: spec\.flinkVersion: must be a version"):
        manifest.operated()


def test_a_missing_version_is_unknown() -> None:
    manifest: Manifest = read_manifest(JOB.replace("  flinkVersion: v1_20\n", ""), "u")
    assert manifest.operated().version is None


@pytest.mark.parametrize("value", ["many", "1.5", "'4 '"])
def test_numbers_in_options_are_whole(value: str) -> None:
    text = with_lines(f"flinkConfiguration: {{pipeline.max-parallelism: {value}}}")
    if value == "'4 '":
        assert patched(text)
        return
    with pytest.raises(FormatError, match=r"f\.yaml: pipeline\.max-parallelism: must be a"):
        patched(text)
