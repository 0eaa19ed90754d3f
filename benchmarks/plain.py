"""A bottleneck scorer in plain Python, to measure what scoring costs without arrays."""

from streamplace import Problem


class PlainScorer:
    """Computes throughput under `bottleneck` with pair links, one placement at a time."""

    def __init__(self, problem: Problem) -> None:
        graph, cluster = problem.graph, problem.cluster
        self.source_rate: float = problem.source_rate
        rate: list[float] = [share * problem.source_rate for share in graph.source_share.tolist()]
        self.streams: list[tuple[int, int, float]] = []
        for stream in graph.streams:
            a, b = graph.index[stream.source], graph.index[stream.target]
            tuples = rate[a] * stream.selectivity
            rate[b] += tuples
            self.streams.append((a, b, tuples * 8e-6 * (stream.payload_bytes or 0.0)))
        instructions: list[float] = graph.instructions.tolist()
        self.work: list[float] = [r * i for r, i in zip(rate, instructions, strict=True)]
        self.capacity: list[float] = cluster.capacity.tolist()
        self.bandwidth_mbps = cluster.network.bandwidth_mbps or float("inf")

    def throughput(self, devices: list[int]) -> float:
        """Return the throughput of one placement in tuples/s."""
        load = [0.0] * len(self.capacity)
        for work, device in zip(self.work, devices, strict=True):
            load[device] += work
        traffic: dict[tuple[int, int], float] = {}
        for a, b, mbps in self.streams:
            link = devices[a], devices[b]
            if link[0] != link[1]:
                traffic[link] = traffic.get(link, 0.0) + mbps
        worst = max(used / offered for used, offered in zip(load, self.capacity, strict=True))
        worst = max(worst, max(traffic.values(), default=0.0) / self.bandwidth_mbps)
        return self.source_rate / max(1.0, worst)
