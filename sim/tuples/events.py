"""The events of single tuples: arrivals, links, services and departures.

A tuple that waits for an operator starts once one of the operator's threads and a core of its
device are idle; a core takes the tuple that entered its queue first, among those of operators
with an idle thread.
"""

from math import log

from streamplace.sim.crossed import STAGES
from streamplace.sim.jit import bare, kernel, part
from streamplace.sim.search.rng import uniform
from streamplace.sim.tuples.deployment import Deployment
from streamplace.sim.tuples.state import (
    EVENTS,
    FREE,
    FREE_COUNT,
    NOTHING,
    PRESENT,
    PRESENT_BEFORE,
    PROCESSED,
    RECORDED,
    SERIAL,
    Draws,
    Rules,
    State,
    pop_ready,
    push_ready,
    remove_first,
    schedule,
)

DONE, NO_ROOM, NO_RECORDS, INTERRUPTED = range(4)  # why `run_events` returns


@kernel
def run_events(
    deployed: Deployment, rules: Rules, state: State, draws: Draws, most_events: int
) -> int:
    """Process events up to the end of the run; return why it stopped."""
    sources = rules.source.shape[0]
    if state.counts[SERIAL] == 0:
        for s in range(sources):
            _schedule_arrival(rules, state, draws, s, 0.0)
    for _ in range(most_events):
        if state.counts[EVENTS] == 0 or state.at_s[0] >= rules.duration_s:
            return DONE
        if state.counts[FREE_COUNT] < rules.most_new:
            return NO_ROOM
        if state.counts[RECORDED] >= state.latency_s.shape[0]:
            return NO_RECORDS
        now = state.at_s[0]
        what = remove_first(state)
        if what < sources:
            i = _new_tuple(state, deployed.target.shape[0] + rules.source[what], now)
            _count_present(rules, state, now, 1)
            _enter(deployed, rules, state, draws, i, now)
            _schedule_arrival(rules, state, draws, what, now)
        else:
            _go_on(deployed, rules, state, draws, what - sources, now)
    return INTERRUPTED


@part
def _schedule_arrival(rules: Rules, state: State, draws: Draws, s: int, now: float) -> None:
    """Schedule the next arrival at source s, unless it would be after the end of the run."""
    left = -log(1.0 - uniform(draws.arrivals[s])) / rules.rate[s]
    last = rules.begin_s.shape[0] - 1
    while state.phase[s] < last:
        p = state.phase[s]
        fits = (rules.begin_s[p + 1] - now) * rules.factor[p]
        if left <= fits:
            break
        left -= fits
        now = rules.begin_s[p + 1]
        state.phase[s] = p + 1
    now += left / rules.factor[state.phase[s]]
    if now < rules.duration_s:
        schedule(state, now, s)


@part
def _go_on(
    deployed: Deployment, rules: Rules, state: State, draws: Draws, i: int, now: float
) -> None:
    """Continue with tuple i, whose time on a link, on the wire or in service is over."""
    e, step = state.kind[i], state.step[i]
    if step > STAGES:
        _complete(deployed, rules, state, draws, i, now)
    elif step == STAGES:
        _enter(deployed, rules, state, draws, i, now)
    else:
        link = deployed.links[e, step]
        state.link_head[link] = state.after[i]
        if state.after[i] != NOTHING:
            _start_on_link(deployed, rules, state, link, now)
        state.step[i] = step + 1
        _forward(deployed, rules, state, draws, i, now)


@part
def _forward(
    deployed: Deployment, rules: Rules, state: State, draws: Draws, i: int, now: float
) -> None:
    """Send a tuple to the next link of its stream, to the wire, or to its operator's queue."""
    e, step = state.kind[i], state.step[i]
    link = deployed.links[e, step] if step < STAGES else NOTHING
    if link != NOTHING:
        state.after[i] = NOTHING
        if state.link_head[link] == NOTHING:
            state.link_head[link] = state.link_tail[link] = i
            _start_on_link(deployed, rules, state, link, now)
        else:
            state.after[state.link_tail[link]] = i
            state.link_tail[link] = i
        return
    state.step[i] = STAGES
    if deployed.latency_s[e] > 0.0:
        schedule(state, now + deployed.latency_s[e], rules.source.shape[0] + i)
    else:
        _enter(deployed, rules, state, draws, i, now)


@part
def _start_on_link(deployed: Deployment, rules: Rules, state: State, link: int, now: float) -> None:
    """Let a link serve the first of its tuples."""
    i = state.link_head[link]
    seconds = deployed.link_s[state.kind[i], state.step[i]]
    state.link_busy_s[link] += _measured(rules, now, seconds)
    schedule(state, now + seconds, rules.source.shape[0] + i)


@part
def _enter(
    deployed: Deployment, rules: Rules, state: State, draws: Draws, i: int, now: float
) -> None:
    """Put a tuple into its operator's queue, and start it if it can."""
    streams, kind = deployed.target.shape[0], state.kind[i]
    v = deployed.target[kind] if kind < streams else kind - streams
    state.since[i] = state.counts[SERIAL]
    state.counts[SERIAL] += 1
    state.after[i], state.step[i] = NOTHING, STAGES + 1
    if state.head[v] == NOTHING:
        state.head[v] = state.tail[v] = i
        if state.idle_threads[v] > 0:
            push_ready(state, deployed.device[v], v)
            _start_waiting(deployed, rules, state, draws, deployed.device[v], now)
    else:
        state.after[state.tail[v]] = i
        state.tail[v] = i


@part
def _start_waiting(
    deployed: Deployment, rules: Rules, state: State, draws: Draws, d: int, now: float
) -> None:
    """Start waiting tuples of device d while it has an idle core."""
    while state.idle_cores[d] > 0 and state.ready_count[d] > 0:
        v = pop_ready(state, d)
        i = state.head[v]
        state.head[v] = state.after[i]
        state.idle_threads[v] -= 1
        state.idle_cores[d] -= 1
        if state.head[v] != NOTHING and state.idle_threads[v] > 0:
            push_ready(state, d, v)
        seconds = deployed.service_s[state.kind[i]]
        if rules.exponential:
            seconds *= -log(1.0 - uniform(draws.services))
        counted = _measured(rules, now, seconds)
        state.device_busy_s[d] += counted
        state.operator_busy_s[v] += counted
        schedule(state, now + seconds, rules.source.shape[0] + i)


@part
def _complete(
    deployed: Deployment, rules: Rules, state: State, draws: Draws, i: int, now: float
) -> None:
    """Send the output of a tuple whose service is over, and free its thread and core."""
    streams, kind = deployed.target.shape[0], state.kind[i]
    v = deployed.target[kind] if kind < streams else kind - streams
    d, birth_s = deployed.device[v], state.birth_s[i]
    state.counts[PROCESSED] += 1
    _count_present(rules, state, now, -1)
    state.after[i] = state.counts[FREE]
    state.counts[FREE] = i
    state.counts[FREE_COUNT] += 1
    first, end = deployed.first_out[v], deployed.first_out[v + 1]
    if first == end and now >= rules.measured_from_s:
        state.latency_s[state.counts[RECORDED]] = now - birth_s
        state.counts[RECORDED] += 1
    for k in range(first, end):
        e = deployed.out_stream[k]
        copies = int(deployed.selectivity[e])
        part = deployed.selectivity[e] - copies
        if part > 0.0 and uniform(draws.rounding) < part:
            copies += 1
        for _ in range(copies):
            j = _new_tuple(state, e, birth_s)
            _count_present(rules, state, now, 1)
            _forward(deployed, rules, state, draws, j, now)
    state.idle_threads[v] += 1
    state.idle_cores[d] += 1
    if state.idle_threads[v] == 1 and state.head[v] != NOTHING:
        push_ready(state, d, v)
    _start_waiting(deployed, rules, state, draws, d, now)


@bare
def _new_tuple(state: State, kind: int, birth_s: float) -> int:
    """Return a tuple before its first link; one must be free."""
    i: int = state.counts[FREE]
    state.counts[FREE] = state.after[i]
    state.counts[FREE_COUNT] -= 1
    state.kind[i], state.birth_s[i], state.step[i] = kind, birth_s, 0
    return i


@bare
def _count_present(rules: Rules, state: State, now: float, change: int) -> None:
    """Count tuples that are waiting, in service or between devices; before measuring also apart."""
    state.counts[PRESENT] += change
    if now < rules.measured_from_s:
        state.counts[PRESENT_BEFORE] += change


@bare
def _measured(rules: Rules, now: float, seconds: float) -> float:
    """Return the seconds of a service that are within the measured time."""
    begin = max(now, rules.measured_from_s)
    end = min(now + seconds, rules.duration_s)
    return max(0.0, end - begin)
