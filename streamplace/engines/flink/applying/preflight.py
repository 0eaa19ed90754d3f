"""Checks before a job is stopped; each returns the faults that it finds, one line each."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import floor

from streamplace.engines.flink.cluster import FlinkCluster, Room, TaskManager
from streamplace.engines.flink.documents import ADAPTIVE, Job, JobState
from streamplace.engines.flink.groups import CORES, HEAP_MB, Group, Groups
from streamplace.engines.flink.plan import RunningPlan
from streamplace.problem.graph_checks import listed

PREFIXES, SUFFIXES = ("Source: ", "Sink: "), (": Writer",)
ON_HEAP, ROCKSDB = "HashMapStateBackend", "EmbeddedRocksDBStateBackend"
ROCKSDB_MEMORY = "state.backend.rocksdb.memory."
PLAN_NUMBER = re.compile(r"^\[(\d+)\]:|\[(\d+)\]$")


def names_in_plan(operators: Iterable[str], in_job: Iterable[str]) -> dict[str, str]:
    """Return operator of the placement -> its name in the plan, for those that are found.

    An operator is found by its name in the plan ("Source: x", "x: Writer"), else by its own name.
    Flink SQL numbers its operators ("[4]:Calc(…)") on from job to job, so their numbers are left
    out; of several equal names the first belongs to the first.
    """
    names = list(in_job)
    exact = set(names)
    wanted = list(operators)
    sql = _without_numbers(names)
    by_number = {
        name: sql[plain] for plain, name in _without_numbers(wanted).items() if plain in sql
    }
    own: dict[str, str] = {}
    for name in names:
        own.setdefault(_own(name), name)
    found = {}
    for operator in wanted:
        if operator in by_number:
            found[operator] = by_number[operator]
        elif operator in exact:
            found[operator] = operator
        elif operator in own:
            found[operator] = own[operator]
    return found


def _own(name: str) -> str:
    for prefix in PREFIXES:
        name = name.removeprefix(prefix)
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    return name


def _without_numbers(names: Iterable[str]) -> dict[tuple[str, int], str]:
    """Return (name without its number, position among equal ones) -> name, for names of SQL."""
    found: dict[tuple[str, int], str] = {}
    counts: dict[str, int] = {}
    rows = [(PLAN_NUMBER.search(name), name) for name in names]
    numbered = [(int(match[1] or match[2]), name) for match, name in rows if match is not None]
    for _, name in sorted(numbered):
        plain = PLAN_NUMBER.sub("", name)
        counts[plain] = counts.get(plain, 0) + 1
        found[plain, counts[plain]] = name
    return found


def vertex_counts(
    parallelism: Mapping[str, int], ids: Mapping[str, str]
) -> tuple[dict[str, int], list[str]]:
    """Return vertex -> number of its instances, and the faults, one line each.

    Parameters
    ----------
    parallelism
        Operator of the placement -> number of its instances.
    ids
        Operator of the job -> id of its vertex, which is that of others if they are chained.
    """
    names = names_in_plan(parallelism, ids)
    faults = [f"the job has no operator {name!r}" for name in parallelism if name not in names]
    chosen: dict[str, set[int]] = {}
    for name, in_job in names.items():
        chosen.setdefault(ids[in_job], set()).add(parallelism[name])
    if mixed := [vertex for vertex, numbers in chosen.items() if len(numbers) > 1]:
        members = [name for name, vertex in ids.items() if vertex == mixed[0]]
        faults.append(f"{', '.join(members)} are chained, and need equal numbers of instances")
    return {vertex: max(numbers) for vertex, numbers in chosen.items()}, faults


SAME_UIDS = "use the same uids"
SAME_CHAINS = "without uids, chains must stay the same, so disable operator chaining in both jobs"


def faults_of_job(
    job: Job, groups: Groups, savepoint: str | None, deadline_s: float
) -> Iterator[str]:
    """Yield what the job itself lacks.

    Parameters
    ----------
    savepoint
        The savepoint to start from, if the job has stopped.
    deadline_s
        Time limit of the savepoint; a checkpoint that took longer shows that it is too short.
    """
    if job.is_adaptive:
        yield (
            "the job runs under the adaptive scheduler, which ignores groups' labels; "
            "unset jobmanager.scheduler, or set numbers of instances only (apply --numbers-only; "
            "watch without --labels and --restart-by restart)"
        )
    if job.ended and savepoint is None:
        yield f"the job is {job.state} and was not stopped with a savepoint; give --savepoint PATH"
    if not job.ended and savepoint is None and not job.runs:
        waiting = f", and {listed(list(job.waiting))} wait or restart" if job.waiting else ""
        yield f"the job does not run: {job.state}{waiting}"
    if not job.ended and job.checkpoint_timeout_s is None:
        yield "the job has no checkpoints; set execution.checkpointing.interval"
    elif not job.ended and job.checkpoint is None:
        yield "the job has not completed a checkpoint yet, to which it could go back"
    elif not job.ended and job.checkpoint and job.checkpoint.seconds > deadline_s:
        yield (
            f"its last checkpoint took {job.checkpoint.seconds:.0f} s, more than the deadline of "
            f"{deadline_s:g} s; set --deadline, or enable unaligned checkpoints"
        )
    names = names_in_plan(groups.group_of, job.vertex_of)
    if unknown := [name for name in groups.group_of if name not in names]:
        yield f"the job has no operators {listed(unknown)}; it has {listed(list(job.vertex_of))}"
    yield from faults_of_most(job, groups.counts)


def faults_of_most(job: JobState, parallelism: Mapping[str, int]) -> Iterator[str]:
    """Yield operators with more instances than the maximum parallelism of their state."""
    for name, in_job in names_in_plan(parallelism, job.vertex_of).items():
        wanted, most = parallelism[name], job.vertex_of[in_job].max_parallelism
        if 0 < most < wanted:
            yield f"{name!r} cannot have {wanted} instances: its maximum parallelism is {most}"


def state_of_operators(
    job: JobState, parallelism: Mapping[str, int], state: Mapping[str, float]
) -> dict[str, tuple[float, int]]:
    """Return operator -> the bytes of its state, and the number of its instances once changed.

    Parameters
    ----------
    parallelism
        Operator -> number of its instances as planned; others keep theirs.
    state
        Vertex -> the bytes of its state, as far as that is known.
    """
    ids = {name: vertex.id for name, vertex in job.vertex_of.items()}
    counts = {vertex.id: vertex.parallelism for vertex in job.vertices.values()}
    counts |= vertex_counts(parallelism, ids)[0]
    return {name: (state.get(vertex, 0.0), counts[vertex]) for name, vertex in ids.items()}


def faults_of_state(
    job: Job, slots: int, cluster: FlinkCluster, operators: Mapping[str, tuple[float, int]]
) -> Iterator[str]:
    """Yield that too few slots have the memory that the state of a job needs.

    Parameters
    ----------
    slots
        The number that the job needs.
    operators
        What `state_of_operators` returns.
    """
    managers = [each for each in cluster.task_managers if each.total.heap_mb > 0]
    if job.state_backend == ON_HEAP:
        yield from _faults_of_heap({"the job": (job.state_bytes, slots), **operators}, managers)
    elif job.state_backend == ROCKSDB and not _has_own_memory(cluster.config):
        yield from _faults_of_managed_memory(slots, managers)


def _has_own_memory(config: Mapping[str, str]) -> bool:
    """Return whether RocksDB has other memory than the managed one."""
    is_managed = config.get(f"{ROCKSDB_MEMORY}managed", "true").lower() == "true"
    fixed = (config.get(f"{ROCKSDB_MEMORY}fixed-per-{each}") for each in ("slot", "tm"))
    return not is_managed or any(fixed)


def _faults_of_heap(
    parts: Mapping[str, tuple[float, int]], managers: Sequence[TaskManager]
) -> Iterator[str]:
    """Yield that the TaskManagers' heaps have no room for all parts of a state.

    A checkpoint has state in bytes, which take less room than objects, and the largest part is more
    than the mean, so what is refused here cannot run.
    """
    total = sum(each.slots for each in managers)
    for whose, (state_bytes, count) in parts.items():
        state_mb = state_bytes / 2**20
        part_mb = max(state_mb / max(count, 1), 1e-6)
        fitting = sum(min(each.slots, int(each.total.heap_mb / part_mb)) for each in managers)
        if fitting < min(count, total):
            rooms = ", ".join(f"{each.id}: {each.total.heap_mb:,} MB" for each in managers)
            yield (
                f"the state of {whose}, {state_mb:,.0f} MB in the latest checkpoint, is "
                f"{part_mb:,.0f} MB in each of {count} slots, and only {fitting} of {total} slots "
                f"fit into the task heap ({rooms}); use RocksDB, larger TaskManagers, or more "
                "instances"
            )
            return


def _faults_of_managed_memory(slots: int, managers: Sequence[TaskManager]) -> Iterator[str]:
    """Yield that RocksDB would write all the time in slots without managed memory."""
    total = sum(each.slots for each in managers)
    with_some = sum(each.slots for each in managers if each.total.managed_mb > 0)
    if with_some < min(slots, total):
        rooms = ", ".join(f"{each.id}: {each.total.managed_mb:,} MB" for each in managers)
        yield (
            f"RocksDB, which has the state, needs managed memory in {slots} slots, and only "
            f"{with_some} of {total} slots have some ({rooms}); set taskmanager.memory.managed.size"
        )


def faults_of_cluster(
    cluster: FlinkCluster, groups: Groups, directory: str | None
) -> Iterator[str]:
    """Yield what the cluster lacks: a folder for savepoints, labels, slots."""
    if any(cluster.config.get(key, "").lower() in ADAPTIVE for key in ("jobmanager.scheduler",)):
        yield "jobmanager.scheduler is adaptive, which ignores groups' labels; unset it"
    elif cluster.config.get("scheduler-mode", "").lower() == "reactive":
        yield "scheduler-mode is reactive, which ignores groups' labels; unset it"
    if directory is None:
        yield "no folder for savepoints: give --savepoint-dir, or configure one in Flink"
    if groups.labels:
        yield from _faults_of_labels(cluster, groups)
    else:
        yield from _faults_of_slots(cluster, groups)


def _faults_of_labels(cluster: FlinkCluster, groups: Groups) -> Iterator[str]:
    for device in groups.used:
        label = _own_label(groups.labels[device])
        if len(found := cluster.offering(label)) != 1:
            has = f"{listed([t.id for t in found])} have" if found else "none has"
            yield (
                f"device {device!r} needs a TaskManager with the label {label!r}; {has} it; "
                "see export --to flink-config"
            )
    where = hosts_of(groups, cluster)
    for group in groups.groups:
        if len(group.slots) > 1 and where.keys() >= group.slots.keys():
            yield from _faults_of_counts(groups, group, where)
    yield from _faults_of_room(cluster, groups, where)


def _faults_of_counts(
    groups: Groups, group: Group, where: Mapping[str, TaskManager]
) -> Iterator[str]:
    """Yield where a divided group would not get exactly its slots: wrong amounts of its labels."""
    asked = group.slot.labels if group.slot is not None else {}
    operators = listed(list(group.operators))
    if lacking := [each.id for each in where.values() if not asked.keys() & each.total.labels]:
        yield (
            f"{operators}: divided among devices, but the TaskManagers {listed(lacking)} have no "
            "labels that count slots (parts_…); restart each once with its part of export --to "
            "flink-config, or use size --whole-operators"
        )
    for device, manager in where.items():
        if manager.id in lacking:
            continue
        wanted = {label: groups.labels[device][label] for label in asked}
        offered = {label: manager.total.labels.get(label, 0) for label in asked}
        if wrong := [label for label, amount in wanted.items() if offered[label] != amount]:
            label = wrong[0]
            yield (
                f"{operators}: TaskManager {manager.id!r} must offer "
                f"{wanted[label]} of the label {label!r}, but offers {offered[label]:g}; "
                "see export --to flink-config"
            )


def _faults_of_room(
    cluster: FlinkCluster, groups: Groups, where: Mapping[str, TaskManager]
) -> Iterator[str]:
    needs: dict[str, Room] = {}
    for group in groups.groups:
        for device, count in group.slots.items():
            if group.slot is not None and device in where:
                slot = group.slot
                taken = Room(
                    slot.cores * count,
                    slot.heap_mb * count,
                    slot.managed_mb * count,
                    {label: float(amount * count) for label, amount in slot.labels.items()},
                )
                needs[where[device].id] = needs.get(where[device].id, Room()) + taken
    for each in cluster.task_managers:
        need, room = needs.get(each.id, Room()), each.room
        short = [
            f"{wanted:g} {what} ({free:g} free)"
            for what, wanted, free in (
                ("cores", need.cores, room.cores),
                ("MB of task heap", need.heap_mb, room.heap_mb),
                ("MB of managed memory", need.managed_mb, room.managed_mb),
                *(
                    (f"of {key!r}", need.labels[key], room.labels.get(key, 0))
                    for key in need.labels
                    if each.total.labels.get(key)
                ),
            )
            if wanted > free + 1e-9
        ]
        if short and any(each.total.labels.get(key) for key in need.labels):
            yield f"TaskManager {each.id!r} lacks slots: it needs {', '.join(short)}"


def _faults_of_slots(cluster: FlinkCluster, groups: Groups) -> Iterator[str]:
    free = sum(each.free_slots for each in cluster.task_managers)
    wanted = groups.slots
    several = [group.name for group in groups.groups if sum(group.slots.values()) > 1]
    if several and not groups.anywhere:
        yield (
            f"several slots on one device, as for {listed(several)}, can only be asked for with "
            "labels; use --labels, and see export --to flink-config; --numbers-only lets Flink "
            "choose the slots"
        )
        return
    if free < wanted:
        yield f"{wanted} slots are needed, but only {free} are free or held by this job"
    if not groups.anywhere and any(each.free_slots > 1 for each in cluster.task_managers):
        yield (
            "without labels, every TaskManager needs one slot (taskmanager.numberOfTaskSlots: 1), "
            "so that groups do not share one; or use --labels, and see export --to flink-config"
        )


def faults_of_plan(plan: RunningPlan, job: Job, groups: Groups, uids: bool = True) -> Iterator[str]:
    """Yield what would not fit after a restart.

    Parameters
    ----------
    plan
        The plan of the job to be started; without chains if operators have uids.
    uids
        Whether all operators have uids. Otherwise their ids follow from the plan and its chains.
    """
    planned = {name: v for v in plan.vertices for name in v.operators}
    for name, in_plan in names_in_plan(groups.group_of, planned).items():
        wanted, found = groups.parallelism(name), planned[in_plan].parallelism
        if wanted is not None and wanted != found:
            yield f"the jar gives {name!r} parallelism {found} instead of {wanted}"
    ids = {vertex.id for vertex in plan.vertices}
    heads = {v.operators[0]: v.id for v in job.plan.vertices}
    if lost := [name for name, id_ in heads.items() if id_ not in ids]:
        yield (
            f"the jar has no operators with the ids of {listed(lost)}, so their state would not be "
            f"found; {SAME_UIDS if uids else SAME_CHAINS}"
        )


def _own_label(labels: Iterable[str]) -> str:
    """Return the label that only the TaskManager of one device offers, of those that it offers."""
    return next(label for label in labels if label.startswith("dev_"))


def hosts_of(groups: Groups, cluster: FlinkCluster) -> dict[str, TaskManager]:
    """Return device -> the TaskManager with its label, for devices where there is exactly one."""
    found = {}
    for device, labels in groups.labels.items():
        if len(offering := cluster.offering(_own_label(labels))) == 1:
            found[device] = offering[0]
    return found


def sized(groups: Groups, cluster: FlinkCluster) -> Groups:
    """Return the groups with slots that fit into their TaskManagers.

    Cores and heap are accounts only, so they are small. Managed memory is what RocksDB and Python
    get: a TaskManager's is divided among its slots, as Flink does for groups without labels.
    """
    where = hosts_of(groups, cluster)
    slots: Counter[str] = Counter()
    for group in groups.groups:
        slots.update(group.slots)
    made = []
    for group in groups.groups:
        here = [(where[device], slots[device]) for device in group.slots if device in where]
        if group.slot is None or len(here) < len(group.slots):
            made.append(group)
            continue
        cores = min(floor(each.room.cores / n * 1000) / 1000 for each, n in here)
        slot = replace(
            group.slot,
            cores=max(min(CORES, cores), 0.001),
            heap_mb=max(min(HEAP_MB, *(each.room.heap_mb // n for each, n in here)), 1),
            managed_mb=min(each.room.managed_mb // max(n, each.slots) for each, n in here),
        )
        made.append(replace(group, slot=slot))
    return replace(groups, groups=tuple(made))
