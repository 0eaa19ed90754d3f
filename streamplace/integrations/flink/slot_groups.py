"""Writers of Flink's slot-sharing groups: a properties file and the Java helper that reads it."""

from collections import Counter

from streamplace.errors import ProblemError
from streamplace.integrations.flink.senders import COMMITTER, WRITER
from streamplace.integrations.pes import pe_numbers
from streamplace.integrations.whole_operators import operator_devices
from streamplace.problem.placement import Placement

HEAD = """\
# Written by `streamplace export --to flink`: operator = slot-sharing group. The class
# StreamplaceMapping (`--to flink-helper`) reads this file. A group takes one slot unless its line
# below says otherwise. Give each TaskManager one slot (taskmanager.numberOfTaskSlots: 1) and
# start one TaskManager per slot.
"""


def write(placement: Placement) -> str:
    """Return properties ``operator=peN``, one line per operator of the job.

    PEs are numbered in the order of the cluster's devices; unused devices have no number. The key
    of an operator is its name in the job, or its uid.

    Raises
    ------
    ProblemError
        If the instances of an operator, or the parts of a sink, are on several devices, since a
        slot-sharing group contains whole operators.
    """
    groups = {device: f"pe{number}" for device, number in pe_numbers(placement).items()}
    device_of = operator_devices(placement)
    graph = placement.problem.graph
    parallelism = Counter(graph.owners)
    _check_sinks(device_of)
    slots = {
        device: max(parallelism[name] for name, on in device_of.items() if on == device)
        for device in groups
    }
    lines = [HEAD]
    for device, group in groups.items():
        needs = "" if slots[device] == 1 else f", needs {slots[device]} slots; Flink chooses which"
        lines.append(f"# {group}: {_on_one_line(device)}{needs}\n")
    lines += [f"{_key(name)}={groups[device]}\n" for name, device in device_of.items()]
    return "".join(lines)


def write_helper(placement: Placement) -> str:
    """Return the source of ``StreamplaceMapping``, a class that depends on Flink only."""
    return HELPER


def _check_sinks(device_of: dict[str, str]) -> None:
    for name, device in device_of.items():
        writer = name.removesuffix(COMMITTER) + WRITER
        if name.endswith(COMMITTER) and device_of.get(writer, device) != device:
            raise ProblemError(
                f"{writer!r} and {name!r} are parts of one sink, which Flink cannot split; "
                "use place --whole-operators"
            )


def _on_one_line(text: str) -> str:
    return " ".join(text.split()).encode("ascii", "backslashreplace").decode()


def _key(name: str) -> str:
    r"""Escape a key for java.util.Properties; characters beyond ASCII become ``\uXXXX``."""
    escaped = []
    for letter in name:
        if letter in " \\=:#!":
            escaped.append("\\" + letter)
        elif " " < letter <= "~":
            escaped.append(letter)
        else:
            units = letter.encode("utf-16-be")
            escaped += [f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2)]
    return "".join(escaped)


HELPER = """\
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.transformations.LegacySinkTransformation;
import org.apache.flink.streaming.api.transformations.LegacySourceTransformation;
import org.apache.flink.streaming.api.transformations.PhysicalTransformation;
import org.apache.flink.streaming.api.transformations.SinkTransformation;
import org.apache.flink.streaming.api.transformations.SourceTransformation;

/**
 * Sets the slot-sharing groups that `streamplace export --to flink` wrote. Written by
 * `streamplace export --to flink-helper`.
 *
 * <p>An operator is found by its uid, else by its name in Flink's plans ("Source: x" or
 * "x: Writer"), else by its own name. If several operators have the same name, the second is
 * "x#2" and so on, in the order in which the job creates them.
 */
public final class StreamplaceMapping {
    private StreamplaceMapping() {}

    /**
     * Sets the groups of the operators that the job has so far; call it before execute().
     *
     * @param mapping properties file, operator = group
     * @throws IOException if the file cannot be read
     * @throws IllegalArgumentException if it names an operator that the job does not have
     */
    public static void apply(StreamExecutionEnvironment env, String mapping) throws IOException {
        Properties groups = new Properties();
        try (Reader reader = Files.newBufferedReader(Path.of(mapping), StandardCharsets.UTF_8)) {
            groups.load(reader);
        }
        Set<String> left = new TreeSet<>(groups.stringPropertyNames());
        List<Transformation<?>> operators = operators(env);
        Map<String, Integer> counts = new HashMap<>();
        Map<Transformation<?>, String> numbers = new HashMap<>();
        Set<Transformation<?>> placed = new HashSet<>();
        for (Transformation<?> operator : operators) {
            int count = counts.merge(nameInPlans(operator), 1, Integer::sum);
            String number = count == 1 ? "" : "#" + count;
            numbers.put(operator, number);
            String key = left.contains(String.valueOf(operator.getUid()))
                    ? operator.getUid() : nameInPlans(operator) + number;
            if (left.remove(key)) {
                operator.setSlotSharingGroup(groups.getProperty(key));
                placed.add(operator);
            }
            left.remove(operator.getName() + ": Committer" + number);
        }
        for (Transformation<?> operator : operators) {
            String key = operator.getName() + numbers.get(operator);
            if (!placed.contains(operator) && left.remove(key)) {
                operator.setSlotSharingGroup(groups.getProperty(key));
            }
        }
        if (!left.isEmpty()) {
            throw new IllegalArgumentException(mapping + ": unknown operators " + left);
        }
    }

    private static String nameInPlans(Transformation<?> operator) {
        String name = operator.getName();
        if (operator instanceof SourceTransformation
                || operator instanceof LegacySourceTransformation) {
            return "Source: " + name;
        }
        if (operator instanceof LegacySinkTransformation) {
            return "Sink: " + name;
        }
        return operator instanceof SinkTransformation ? name + ": Writer" : name;
    }

    /** Returns the physical operators in the order in which they were created. */
    private static List<Transformation<?>> operators(StreamExecutionEnvironment env) {
        Deque<Transformation<?>> waiting = new ArrayDeque<>(env.getTransformations());
        Set<Transformation<?>> found = new HashSet<>();
        while (!waiting.isEmpty()) {
            Transformation<?> next = waiting.pop();
            if (found.add(next)) {
                waiting.addAll(next.getInputs());
            }
        }
        return found.stream()
                .filter(each -> each instanceof PhysicalTransformation)
                .sorted(Comparator.comparingInt(Transformation::getId))
                .collect(Collectors.toList());
    }
}
"""
