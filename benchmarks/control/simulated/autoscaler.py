"""The autoscaler of the Flink Kubernetes operator as a rule for simulated jobs.

What it does not have here: effectiveness and observed scalability (both off by default), alignment
to key groups (operators of simulated jobs have none), and the observed true rate of sources that
catch up.

They follow `JobVertexScaler`, `ScalingMetricEvaluator` and `AutoScalerUtils` of its code, which its
documentation describes differently in places. Rates are tuples per second.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil, floor, inf, isfinite

from benchmarks.control.simulated.job import SimulatedJob
from benchmarks.control.simulated.planner import packed
from streamplace.control.observation import Observation
from streamplace.control.plans import Deployment

SOURCE_LAG_S = 300.0  # of the rate: from more waiting on, a backlog is worked off
ROUNDING = 1e-9


@dataclass(frozen=True)
class Options:
    """Options of the autoscaler, with its defaults; times are in seconds.

    Parameters
    ----------
    target, low, high
        Utilisations; None: the target minus or plus .3.
    down, up
        Largest share of its instances by which a vertex shrinks, and grows.
    """

    target: float = 0.7
    low: float | None = None
    high: float | None = None
    down: float = 0.6
    up: float = 100_000.0
    least: int = 1
    most: int = 200
    catch_up_s: float = 1800.0
    restart_s: float = 300.0
    window_s: float = 900.0
    stabilisation_s: float = 300.0
    scale_down_after_s: float = 3600.0


@dataclass(frozen=True)
class Wish:
    """The number of instances that a vertex should have.

    Parameters
    ----------
    outside
        Whether its true rate is outside the band, so that the job is rescaled.
    """

    count: int
    outside: bool


def half_up(value: float) -> float:
    """Return a value rounded to a whole number, halves up, as Java does."""
    return float(floor(value + 0.5)) if abs(value) < inf else value


def capacity(rate: float, catch_up: float, utilisation: float, restart_share: float) -> float:
    """Return the rate that a vertex must be capable of.

    Parameters
    ----------
    rate, catch_up
        The target rate, and the rate at which what waits is to be worked off.
    utilisation
        Cut to 0 to 1; 0 gives infinity.
    restart_share
        Restart time over catch-up time; 0: without restarts.
    """
    share = min(max(utilisation, 0.0), 1.0)
    if share == 0.0:
        return inf
    return half_up(catch_up + rate * restart_share + rate / share)


def wished(
    count: int,
    rate: float,
    true_rate: float,
    options: Options,
    *,
    waiting: float = 0.0,
    behind: bool = False,
) -> Wish:
    """Return the number of instances that a vertex should have, before alignment and delays.

    Parameters
    ----------
    count
        Number of its instances.
    rate
        Its target rate.
    true_rate
        Tuples that all its instances would process per second if they were always busy.
    waiting
        Tuples that wait for it, expressed in its own tuples.
    behind
        Whether a backlog is being worked off, during which nothing is too much.
    """
    catch_up = waiting / options.catch_up_s if options.catch_up_s > 0 else 0.0
    restart = options.restart_s / options.catch_up_s if options.catch_up_s > 0 else 0.0
    factor = capacity(rate, catch_up, options.target, restart) / true_rate
    factor = min(max(factor, 1.0 - options.down), 1.0 + options.up)
    wanted = ceil(factor * count - ROUNDING)
    wanted = max(min(wanted, max(count, options.most)), min(count, options.least))
    high = options.target + 0.3 if options.high is None else options.high
    low = options.target - 0.3 if options.low is None else options.low
    if behind:
        high, low = 1.0, 0.0
    too_little = true_rate < capacity(rate, catch_up, high, 0.0)
    too_much = true_rate > capacity(rate, catch_up, low, restart)
    return Wish(wanted, too_little or too_much)


def aligned(count: int, wanted: int, groups: int, *, only_divisors: bool = False) -> int:
    """Return the number of instances aligned to key groups or partitions of sources.

    Parameters
    ----------
    count, wanted
        The present and the wished number.
    groups
        Number of key groups or partitions.
    only_divisors
        The mode EVENLY_SPREAD instead of BALANCED.
    """
    for tried in range(wanted, (min(groups, count) if wanted < count else groups) + 1):
        if groups % tried == 0:
            return tried
        if not only_divisors and groups // tried < groups // wanted:
            return tried
    return wanted


@dataclass
class Autoscaler:
    """The rule of the autoscaler: all vertices change together once one is outside its band.

    Measurements are means over `Options.window_s`, which begins after `Options.stabilisation_s`
    since the last start. Scale-downs of a vertex wait for `Options.scale_down_after_s` since they
    were first wished, and then take the largest number wished in this time. It chooses no devices:
    the fewest whose cores suffice at the target utilisation are used, as for the other rules.
    """

    job: SimulatedJob
    options: Options = field(default_factory=Options)
    _window: list[Observation] = field(default_factory=list, init=False)
    _first_down_s: dict[str, float] = field(default_factory=dict, init=False)
    _wishes: dict[str, list[tuple[float, Wish]]] = field(default_factory=dict, init=False)

    def step(self, observation: Observation) -> Deployment | None:
        """Return the deployment of other numbers of instances, if any."""
        if not self._fill(observation) or not observation.devices:
            return None
        wishes = self._all_wishes(observation)
        now = observation.parallelism
        final = {
            name: self._delayed(name, now[name], wish, observation.at_s)
            for name, wish in wishes.items()
        }
        changing = {name: wish for name, wish in final.items() if wish.count != now[name]}
        if not any(wish.outside for wish in changing.values()):
            return None
        counts = {**now, **{name: wish.count for name, wish in changing.items()}}
        needed_s = self._rate_s() / self.options.target
        return packed(self.job, counts, needed_s, observation.devices)

    def ended(self, begun_s: float, ended_s: float, downtime_s: float) -> None:
        """Forget the samples and the wishes, because the job was rescaled."""
        self._window.clear()
        self._first_down_s.clear()
        self._wishes.clear()

    def _fill(self, observation: Observation) -> bool:
        """Add a sample; return whether the window is full."""
        options = self.options
        self._window = [o for o in self._window if o.started_s == observation.started_s]
        begin_s = observation.at_s - observation.seconds
        if begin_s < observation.started_s + options.stabilisation_s or not observation.readings:
            return False
        self._window.append(observation)
        oldest_s = observation.at_s - options.window_s
        self._window = [o for o in self._window if o.at_s > oldest_s]
        covered = sum(each.seconds for each in self._window)
        return covered >= options.window_s * (1 - 1e-9)

    def _all_wishes(self, observation: Observation) -> dict[str, Wish]:
        waiting, read_s = observation.waiting or 0.0, self._mean(self.job.operators[0].name)[0]
        behind = read_s > 0.0 and waiting / read_s > SOURCE_LAG_S
        wishes = {}
        for operator in self.job.operators:
            tuples_s, busiest = self._mean(operator.name)
            count = len(observation.hosts[operator.name])
            wishes[operator.name] = Wish(count, False)
            ratio = tuples_s / read_s if read_s > 0.0 else 0.0
            if busiest <= 0.0 or not isfinite(tuples_s / busiest) or tuples_s <= 0.0:
                continue
            wish = wished(
                count,
                self._rate_s() * ratio,
                tuples_s / busiest,
                self.options,
                waiting=waiting * ratio,
                behind=behind,
            )
            wishes[operator.name] = Wish(min(wish.count, operator.most), wish.outside)
        return wishes

    def _rate_s(self) -> float:
        """Return the offered rate; if it is unknown, the lag counts as 0, so it is what is read."""
        known = [o.offered_s for o in self._window if o.offered_s is not None]
        if len(known) == len(self._window):
            return sum(known) / len(known)
        return self._mean(self.job.operators[0].name)[0]

    def _mean(self, name: str) -> tuple[float, float]:
        """Return the mean tuples per second, and the mean busy share of the busiest instance."""
        readings: list[Mapping[str, float]] = [vars(o.readings[name]) for o in self._window]
        count = len(readings)
        return (
            sum(each["tuples_s"] for each in readings) / count,
            sum(each["busiest"] for each in readings) / count,
        )

    def _delayed(self, name: str, count: int, wish: Wish, at_s: float) -> Wish:
        """Return the wish, or no change while a scale-down has to wait."""
        if wish.count >= count:
            self._first_down_s.pop(name, None)
            self._wishes.pop(name, None)
            return wish
        since_s = self._first_down_s.setdefault(name, at_s)
        wishes = [*self._wishes.get(name, []), (at_s, wish)]
        oldest_s = at_s - self.options.scale_down_after_s
        self._wishes[name] = [(at, each) for at, each in wishes if at >= oldest_s]
        if at_s - since_s < self.options.scale_down_after_s:
            return Wish(count, False)
        return max((each for _, each in self._wishes[name]), key=lambda each: each.count)
