"""Small documents of clusters, with the fields that their programs print; none from a real run."""

import json
from typing import Any


def node(name: str, cpu: str, memory: str, zone: str, **more: Any) -> dict[str, Any]:
    """Return a node as ``kubectl get nodes -o json`` prints it, shortened."""
    status = {
        "addresses": [{"address": "10.0.0.7", "type": "InternalIP"}],
        "allocatable": {
            "cpu": cpu,
            "ephemeral-storage": "47233297124",
            "hugepages-2Mi": "0",
            "memory": memory,
            "pods": "58",
            **more.pop("allocatable", {}),
        },
        "capacity": {"cpu": "4", "memory": "16093152Ki", "pods": "58"},
        "conditions": [
            {"status": "False", "type": "MemoryPressure"},
            {"status": more.pop("ready", "True"), "type": "Ready"},
        ],
        "nodeInfo": {"architecture": "amd64", "kubeletVersion": "v1.30.4"},
    }
    labels = {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "node.kubernetes.io/instance-type": more.pop("kind", "m5.xlarge"),
        "topology.kubernetes.io/zone": zone,
        "stream": "",
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"labels": labels, "name": name, "uid": "1f2e"},
        "spec": {"providerID": f"aws:///{zone}/i-0", **more},
        "status": status,
    }


def pod(on: str | None, *requests: dict[str, str], **more: Any) -> dict[str, Any]:
    """Return a pod with a container for each of the requests, shortened."""
    containers = [{"name": f"c{i}", "resources": {"requests": r}} for i, r in enumerate(requests)]
    phase = more.pop("phase", "Running")
    where = {} if on is None else {"nodeName": on}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "default"},
        "spec": {"containers": containers, **where, **more},
        "status": {"phase": phase},
    }


def kubectl(*objects: dict[str, Any]) -> str:
    """Return the text that kubectl prints of objects."""
    value = {
        "apiVersion": "v1",
        "items": list(objects),
        "kind": "List",
        "metadata": {"resourceVersion": ""},
    }
    return json.dumps(value, indent=4) + "\n"


NODES = (
    node("a", "3920m", "15076868Ki", "eu-1a"),
    node("b", "4", "15Gi", "eu-1b", kind="g5.xlarge", allocatable={"nvidia.com/gpu": "1"}),
    node("gone", "4", "15Gi", "eu-1b", ready="Unknown"),
    node("control", "4", "15Gi", "eu-1a", taints=[{"effect": "NoSchedule", "key": "master"}]),
    node("cordoned", "4", "15Gi", "eu-1a", unschedulable=True),
)
PODS = (
    pod("a", {"cpu": "100m", "memory": "128Mi"}, {"cpu": "820m"}),
    pod(
        "b",
        {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "1"},
        initContainers=[{"name": "i", "resources": {"requests": {"cpu": "1500m"}}}],
        overhead={"cpu": "500m"},
    ),
    pod("b", {}),
    pod("a", {"cpu": "3"}, phase="Succeeded"),
    pod(None, {"cpu": "3"}, phase="Pending"),
)


def task_manager(name: str, slots: int, free: int, **more: Any) -> dict[str, Any]:
    """Return a TaskManager of two cores and 512 MB as ``/taskmanagers`` lists it."""

    def resource(share: float) -> dict[str, Any]:
        return {
            "cpuCores": 2.0 * share,
            "taskHeapMemory": round(256 * share),
            "taskOffHeapMemory": 0,
            "managedMemory": round(256 * share),
            "networkMemory": round(64 * share),
            "extendedResources": {"gpu": 1.0 * share},
        }

    return {
        "id": name,
        "path": f"pekko.tcp://flink@{name.partition(':')[0]}:6122/user/rpc/taskmanager_0",
        "dataPort": 41835,
        "jmxPort": -1,
        "slotsNumber": slots,
        "freeSlots": free,
        "totalResource": resource(1.0),
        "freeResource": resource(free / slots),
        "hardware": {"cpuCores": 4, "physicalMemory": 17179869184, "freeMemory": 1, **more},
    }


FLINK: dict[str, Any] = {
    "taskmanagers": [
        task_manager("10.0.0.1:6122-aa", 2, 2),
        task_manager("10.0.0.2:6122-bb", 2, 1, cpuCores=1),
        task_manager("10.0.0.2:6123-cc", 2, 0),
    ]
}


def supervisor(name: str, **more: Any) -> dict[str, Any]:
    """Return a supervisor of eight cores as Storm's UI lists it."""
    return {
        "id": f"id-{name}",
        "host": name,
        "uptimeSeconds": 358,
        "slotsTotal": 4,
        "slotsUsed": 0,
        "slotsFree": 4,
        "totalMem": 4096.0,
        "totalCpu": 800.0,
        "usedMem": 0.0,
        "usedCpu": 0.0,
        "totalGenericResources": "gpu.count=2.0 nic=1.0",
        "availGenericResources": "gpu.count=2.0 nic=1.0",
        "version": "2.6.0",
        "blacklisted": False,
        **more,
    }


STORM: dict[str, Any] = {
    "supervisors": [
        supervisor("s1"),
        supervisor("s2", slotsUsed=3, usedCpu=160.0, usedMem=1024.0),
        supervisor("s3", slotsUsed=4),
        supervisor("s4", blacklisted=True),
    ],
    "schedulerDisplayResource": True,
}
RAY: list[dict[str, Any]] = [
    {
        "node_id": "662f",
        "node_ip": "10.0.0.1",
        "is_head_node": True,
        "state": "ALIVE",
        "state_message": None,
        "node_name": "head",
        "resources_total": {"node:10.0.0.1": 1.0, "node:__internal_head__": 1.0, "memory": 8e9},
        "labels": {"ray.io/node-id": "662f"},
    },
    {
        "node_id": "b711",
        "node_ip": "10.0.0.2",
        "is_head_node": False,
        "state": "ALIVE",
        "node_name": "worker",
        "resources_total": {
            "CPU": 8.0,
            "GPU": 2.0,
            "accelerator_type:A100": 1.0,
            "memory": 32e9,
            "object_store_memory": 9e9,
            "node:10.0.0.2": 1.0,
            "licence": 3.0,
        },
        "labels": {"ray.io/node-id": "b711", "ray.io/availability-zone": "eu-1a", "tier": "fast"},
    },
    {"node_id": "0000", "node_name": "worker", "state": "DEAD", "resources_total": {}},
]
SLURM: dict[str, Any] = {
    "nodes": [
        {
            "architecture": "x86_64",
            "name": "n1",
            "hostname": "n1",
            "cpus": 32,
            "effective_cpus": 32,
            "alloc_cpus": 8,
            "sockets": 2,
            "cores": 8,
            "threads": 2,
            "real_memory": 65536,
            "alloc_memory": 16384,
            "free_mem": {"set": True, "infinite": False, "number": 3000},
            "specialized_memory": 0,
            "features": ["ib", "avx512"],
            "active_features": ["ib"],
            "gres": "gpu:a100:4(S:0-1)",
            "gres_used": "gpu:a100:1(IDX:0)",
            "partitions": ["main", "long"],
            "state": ["MIXED"],
            "tres_used": "cpu=8,mem=16G,gres/gpu=1",
        },
        {"name": "n2", "cpus": 16, "real_memory": 1, "state": ["IDLE", "DRAIN"]},
        {"name": "n3", "cpus": 16, "real_memory": 1, "alloc_cpus": 0, "state": "idle"},
    ],
    "meta": {"slurm": {"release": "24.05.2"}},
    "errors": [],
}
SLURM_TEXT = """\
NodeName=n1 Arch=x86_64 CoresPerSocket=8 
   CPUAlloc=8 CPUEfctv=32 CPUTot=32 CPULoad=0.51
   AvailableFeatures=ib,avx512
   ActiveFeatures=ib
   Gres=gpu:a100:4(S:0-1)
   NodeAddr=n1 NodeHostName=n1 Version=24.05.2
   OS=Linux 5.14.0 #1 SMP PREEMPT_DYNAMIC Fri Jun 7 15:10:09 UTC 2024
   RealMemory=65536 AllocMem=16384 FreeMem=3000 Sockets=2 Boards=1
   State=MIXED+PLANNED ThreadsPerCore=2 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A
   Partitions=main,long
   CfgTRES=cpu=32,mem=64G,billing=32,gres/gpu=4
   AllocTRES=cpu=8,mem=16G,gres/gpu=1,gres/gpu:a100=1
   Comment=(null)

NodeName=n2 CoresPerSocket=16 
   CPUAlloc=0 CPUTot=16 CPULoad=N/A
   ActiveFeatures=(null)
   Gres=(null)
   RealMemory=1 AllocMem=0 FreeMem=N/A Sockets=1 Boards=1
   State=DOWN*+DRAIN ThreadsPerCore=1 TmpDisk=0
   Partitions=main
   Reason=Not responding State=IDLE [slurm@2026-11-02T10:00:00]

NodeName=n3 CoresPerSocket=16 
   CPUAlloc=0 CPUTot=16 CPULoad=N/A
   RealMemory=1 AllocMem=0 Sockets=1 Boards=1
   State=IDLE ThreadsPerCore=1 TmpDisk=0

"""
LSCPU: dict[str, Any] = {
    "lscpu": [
        {"field": "Architecture:", "data": "x86_64", "children": [
            {"field": "CPU op-mode(s):", "data": "32-bit, 64-bit"}]},
        {"field": "CPU(s):", "data": "16", "children": [
            {"field": "On-line CPU(s) list:", "data": "0-7,10"}]},
        {"field": "Vendor ID:", "data": "GenuineIntel", "children": [
            {"field": "Model name:", "data": "Some CPU", "children": [
                {"field": "Thread(s) per core:", "data": "1"},
                {"field": "BogoMIPS:", "data": "4200.00"}]}]},
    ]
}  # fmt: skip
LSCPU_FLAT: dict[str, Any] = {
    "lscpu": [
        {"field": "CPU(s):", "data": "16"},
        {"field": "Thread(s) per core:", "data": "2"},
        {"field": "NUMA node0 CPU(s):", "data": None},
    ]
}
CLUSTERS: dict[str, tuple[str, ...]] = {
    "kubernetes-nodes": (
        kubectl(*NODES, *PODS),
        kubectl(*NODES) + kubectl(*PODS),
        json.dumps(NODES[0]),
    ),
    "flink-taskmanagers": (json.dumps(FLINK),),
    "storm-supervisors": (json.dumps(STORM),),
    "ray-nodes": (json.dumps(RAY, indent=4),),
    "slurm-nodes": (json.dumps(SLURM), SLURM_TEXT),
    "lscpu": (json.dumps(LSCPU), json.dumps(LSCPU_FLAT)),
}
"""Name of a format of clusters -> valid documents."""
