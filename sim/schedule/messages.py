"""Messages: what an operator sends, the channels, receivers, and inputs."""

from streamplace.sim.flow import Ints
from streamplace.sim.jit import bare
from streamplace.sim.schedule.queues import NOTHING, push
from streamplace.sim.schedule.state import (
    LANDING,
    STARTING,
    TURN,
    Noise,
    Run,
    join,
    line_up,
    release,
)
from streamplace.sim.schedule.task_graph import ALL, FREE, NIC, NONE, PAIR, Columns, link_between


@bare
def end_operator(tasks: Columns, noise: Noise, devices: Ints, run: Run, v: int, now: float) -> None:
    """Free the cores of an operator, count its local inputs and make its messages."""
    a = devices[v]
    # Cores rest after what has used them, which an operator that takes no time has not.
    if run.duration[v] > 0.0 and tasks.startup_s[a] > 0.0:
        rested = tasks.work.shape[0] + 4 * tasks.target.shape[0] + v
        push(run.events, now + tasks.startup_s[a], rested)
    else:
        release(run, a, min(tasks.cores[v], tasks.device_cores[a]), v, now)
    _address(tasks, devices, run, v, now)
    for k in range(tasks.first_out[v], tasks.end_out[v]):
        if run.delivery[k] == k:
            _time(tasks, noise, run, k, link_between(tasks, a, devices[tasks.target[k]]))
    for k in range(tasks.first_out[v], tasks.end_out[v]):
        if run.delivery[k] == k and run.message[k] == k:
            run.may_start[k] = now
            run.sending[k] = tasks.has_jobs and send_seconds(tasks, devices, run, k) > 0.0
            if run.sending[k]:
                join(run, tasks.work.shape[0] + k, now)
            else:
                queue_message(run, k, now)
    if tasks.barrier:
        _finish_in_level(tasks, run, v, v)


@bare
def _address(tasks: Columns, devices: Ints, run: Run, v: int, now: float) -> None:
    """Assign the streams of an operator to deliveries and messages, and count local inputs."""
    a, first = devices[v], NOTHING
    for k in range(tasks.first_out[v], tasks.end_out[v]):
        b = devices[tasks.target[k]]
        if a == b or tasks.silent[k]:
            run.delivery[k] = NOTHING
            _count_input(tasks, run, k, now)
            continue
        if tasks.multicast == NONE or run.channels.lead_of[b] != v:
            run.channels.lead_of[b], run.channels.lead[b] = v, k
            if tasks.barrier:
                run.unfinished[tasks.level[v]] += 1
            if tasks.multicast != ALL or first == NOTHING:
                first = k
                run.size[k], run.transfer[k], run.latency[k], run.gap[k] = 0.0, 0.0, 0.0, 0.0
            run.message[k] = first
        run.delivery[k] = run.channels.lead[b]
        m = run.message[run.channels.lead[b]]
        run.size[m] = max(run.size[m], tasks.bits[k])


@bare
def _time(tasks: Columns, noise: Noise, run: Run, k: int, link: int) -> None:
    """Extend the times of a message to those on the link of one of its deliveries."""
    m = run.message[k]
    seconds = run.size[m] / tasks.rate[link]
    if noise.streams.shape[0] > 0:
        seconds *= noise.streams[m]
    run.transfer[m] = max(run.transfer[m], seconds)
    run.latency[m] = max(run.latency[m], tasks.latency_s[link])
    run.gap[m] = max(run.gap[m], tasks.gap_s[link])


@bare
def send_seconds(tasks: Columns, devices: Ints, run: Run, m: int) -> float:
    """Return the CPU time of a message at its sender, in seconds."""
    a = devices[tasks.source[m]]
    largest = 0.0
    for k in range(m, _last_delivery(tasks, m)):
        if run.delivery[k] == k and run.message[k] == m:
            link = link_between(tasks, a, devices[tasks.target[k]])
            largest = max(largest, tasks.overhead_s[link])
    return float(largest + tasks.overhead_s_per_bit[a] * run.size[m])


@bare
def receive_seconds(tasks: Columns, devices: Ints, run: Run, k: int) -> float:
    """Return the CPU time of a delivery at its receiver, in seconds."""
    b = devices[tasks.target[k]]
    overhead = tasks.overhead_in_s[link_between(tasks, devices[tasks.source[k]], b)]
    return float(overhead + tasks.overhead_s_per_bit[b] * run.size[run.message[k]])


@bare
def _last_delivery(tasks: Columns, m: int) -> int:
    """Return the index after the last stream that may be a delivery of a message."""
    return tasks.end_out[tasks.source[m]] if tasks.multicast == ALL else m + 1


@bare
def queue_message(run: Run, m: int, now: float) -> None:
    """Note that a message may start its channel at this moment."""
    run.may_start[m] = now
    run.starting[run.counts[STARTING]] = m
    run.counts[STARTING] += 1


@bare
def message_precedes(tasks: Columns, run: Run, one: int, other: int) -> bool:
    """Return whether a message comes before another one in the order of messages."""
    if run.may_start[one] != run.may_start[other]:
        return bool(run.may_start[one] < run.may_start[other])
    return _producer_precedes(tasks, run, one, other)


@bare
def _producer_precedes(tasks: Columns, run: Run, one: int, other: int) -> bool:
    """Return whether a message comes before another one that may start at the same moment."""
    v, w = tasks.source[one], tasks.source[other]
    if run.end[v] != run.end[w]:
        return bool(run.end[v] < run.end[w])
    if v != w:
        return bool(v < w)
    return one < other


@bare
def _sort_from(tasks: Columns, run: Run, listed: Ints, i: int) -> None:
    """Move a delivery up in a list that is sorted before it, by the order of messages.

    All of them may start at the same moment, at their senders or at their receivers.
    """
    k = listed[i]
    m = run.message[k]
    while i > 0 and _producer_precedes(tasks, run, m, run.message[listed[i - 1]]):
        listed[i] = listed[i - 1]
        i -= 1
    listed[i] = k


@bare
def start_channels(tasks: Columns, devices: Ints, run: Run, now: float, settled: bool) -> None:
    """Start the messages of this moment, in their order, if their channels are free.

    Unless the moment is `settled`, so that no more messages can join, the others are kept: one that
    joins later may precede them. A message that waits keeps its turn on all its channels.
    """
    run.counts[TURN] += 1
    count, kept = run.counts[STARTING], 0
    for i in range(count):
        _sort_from(tasks, run, run.starting, i)
    for i in range(count):
        m = run.starting[i]
        if _may_begin(tasks, devices, run, m, now) or settled:
            for k in range(m, _last_delivery(tasks, m)):
                if run.delivery[k] == k and run.message[k] == m:
                    _depart(tasks, devices, run, k)
        else:
            run.starting[kept] = m
            kept += 1
    run.counts[STARTING] = kept


@bare
def _may_begin(tasks: Columns, devices: Ints, run: Run, m: int, now: float) -> bool:
    """Return whether a message may begin now; otherwise, note when, and its turn on channels."""
    run.begin[m] = now
    run.held[m] = NOTHING
    if tasks.network == FREE:
        return True
    passes = True
    for k in range(m, _last_delivery(tasks, m)):
        if run.delivery[k] == k and run.message[k] == m:
            channel = _channel(tasks, devices, k)
            passes &= run.claimed[channel] != run.counts[TURN]
            if run.channels.free_from[channel] > run.begin[m]:
                run.begin[m] = run.channels.free_from[channel]
                run.held[m] = run.channel_user[channel]
    if run.begin[m] == now and passes:
        return True
    for k in range(m, _last_delivery(tasks, m)):
        if run.delivery[k] == k and run.message[k] == m:
            run.claimed[_channel(tasks, devices, k)] = run.counts[TURN]
    return False


@bare
def _channel(tasks: Columns, devices: Ints, k: int) -> int:
    """Return the sending channel of a delivery."""
    a = devices[tasks.source[k]]
    if tasks.network == PAIR:
        return int(a * tasks.speed.shape[0] + devices[tasks.target[k]])
    return int(a)


@bare
def _depart(tasks: Columns, devices: Ints, run: Run, k: int) -> None:
    """Occupy the channel of a delivery, and plan its arrival or that of its first byte."""
    m = run.message[k]
    if tasks.network != FREE:
        channel = _channel(tasks, devices, k)
        run.channels.free_from[channel] = run.begin[m] + run.transfer[m] + run.gap[m]
        run.channel_user[channel] = m
    operators, streams = tasks.work.shape[0], tasks.target.shape[0]
    if tasks.network == NIC:
        push(run.events, run.begin[m] + run.latency[m], operators + 2 * streams + k)
    else:
        arrival = run.begin[m] + run.transfer[m] + run.latency[m]
        push(run.events, arrival, operators + 3 * streams + k)


@bare
def land(tasks: Columns, noise: Noise, devices: Ints, run: Run, now: float, settled: bool) -> None:
    """Serve the deliveries whose first byte reaches their receiver now, in their order.

    Unless the moment is `settled`, those whose receiver is busy are kept; see `start_channels`.
    """
    count, kept = run.counts[LANDING], 0
    for i in range(count):
        _sort_from(tasks, run, run.landing, i)
    for i in range(count):
        k = run.landing[i]
        if run.receiver[devices[tasks.target[k]]] <= now or settled:
            _serve(tasks, noise, devices, run, k, now)
        else:
            run.landing[kept] = k
            kept += 1
    run.counts[LANDING] = kept


@bare
def _serve(tasks: Columns, noise: Noise, devices: Ints, run: Run, k: int, now: float) -> None:
    """Occupy the receiver of a delivery, and plan its arrival."""
    m = run.message[k]
    b = devices[tasks.target[k]]
    seconds = run.size[m] / tasks.rate_in[b]
    if noise.streams.shape[0] > 0:
        seconds *= noise.streams[m]
    begin = max(now, run.receiver[b])
    arrival = run.begin[m] + run.transfer[m] + run.latency[m]
    run.held_in[k] = NOTHING
    if begin + seconds > arrival:
        arrival = begin + seconds
        if begin > now:
            run.held_in[k] = run.receiver_user[b]
    run.receiver[b] = begin + seconds + tasks.gap_in_s[b]
    run.receiver_user[b] = k
    push(run.events, arrival, tasks.work.shape[0] + 3 * tasks.target.shape[0] + k)


@bare
def arrive(tasks: Columns, devices: Ints, run: Run, k: int, now: float) -> None:
    """Queue the receive job of a delivery, or count its inputs."""
    run.arrival[k] = now
    run.receiving[k] = tasks.has_jobs and receive_seconds(tasks, devices, run, k) > 0.0
    if run.receiving[k]:
        join(run, tasks.work.shape[0] + tasks.target.shape[0] + k, now)
    else:
        deliver(tasks, run, k, now)


@bare
def deliver(tasks: Columns, run: Run, k: int, now: float) -> None:
    """Count the inputs that a delivery serves."""
    v = tasks.source[k]
    if tasks.multicast == NONE:
        _count_input(tasks, run, k, now)
    else:
        for e in range(tasks.first_out[v], tasks.end_out[v]):
            if run.delivery[e] == k:
                _count_input(tasks, run, e, now)
    if tasks.barrier:
        _finish_in_level(tasks, run, v, tasks.work.shape[0] + k)


@bare
def _count_input(tasks: Columns, run: Run, e: int, now: float) -> None:
    """Count the input that a stream brings; the last one lets its operator join."""
    w = tasks.target[e]
    run.waiting[w] -= 1
    if run.waiting[w] == 0:
        run.last_input[w] = e
        run.ready[w] = now
        if not tasks.barrier:
            line_up(run, w)


@bare
def _finish_in_level(tasks: Columns, run: Run, v: int, what: int) -> None:
    """Count an operator, or a delivery of it, as done."""
    level = tasks.level[v]
    run.unfinished[level] -= 1
    if run.unfinished[level] == 0:
        run.closer[level] = what
