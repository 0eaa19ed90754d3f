import java.io.IOException;
import java.io.Reader;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.operators.ResourceSpec;
import org.apache.flink.api.common.operators.SlotSharingGroup;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.clusterframework.types.ResourceProfile;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamEdge;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.apache.flink.streaming.api.transformations.LegacySinkTransformation;
import org.apache.flink.streaming.api.transformations.LegacySourceTransformation;
import org.apache.flink.streaming.api.transformations.PhysicalTransformation;
import org.apache.flink.streaming.api.transformations.SinkTransformation;
import org.apache.flink.streaming.api.transformations.SourceTransformation;
import org.apache.flink.streaming.runtime.partitioner.ForwardPartitioner;

/**
 * Sets the slot-sharing groups, labels and parallelism that `streamplace export --to flink` wrote.
 * Written by `streamplace export --to flink-helper`.
 *
 * <p>An operator is found by its uid, else by its name in Flink's plans ("Source: x" or
 * "x: Writer"), else by its own name. If several operators have the same name, the second is
 * "x#2" and so on, in the order in which the job creates them.
 *
 * <p>`streamplace apply flink` passes the mapping in the job's configuration, under the key
 * streamplace.mapping. The job publishes it among its global job parameters, so that the mapping
 * of a running job can be read.
 */
public final class StreamplaceMapping {
    private static final String KEY = "streamplace.mapping";
    private static final ConfigOption<String> MAPPING =
            ConfigOptions.key(KEY).stringType().noDefaultValue();
    private static final ConfigOption<Boolean> CHECK =
            ConfigOptions.key("streamplace.check").booleanType().defaultValue(false);

    private final Properties lines = new Properties();
    private final Map<String, SlotSharingGroup> groups = new HashMap<>();
    private final Set<String> left = new TreeSet<>();
    private final Set<String> unplaced = new TreeSet<>();
    private final Set<String> withoutUid = new TreeSet<>();

    private StreamplaceMapping() {}

    /**
     * Applies the mapping of the job's configuration to the operators that the job has so far; call
     * it before execute(). Without such a mapping, nothing changes.
     *
     * @throws IllegalArgumentException if the mapping names an operator that the job does not have
     */
    public static void apply(StreamExecutionEnvironment env) throws IOException {
        apply(env, "");
    }

    /**
     * Applies a mapping to the operators that the job has so far; call it before execute(). A
     * mapping in the job's configuration replaces that of the file.
     *
     * @param mapping properties file, operator = group
     * @throws IOException if the file cannot be read
     * @throws IllegalArgumentException if it names an operator that the job does not have
     */
    public static void apply(StreamExecutionEnvironment env, String mapping) throws IOException {
        StreamplaceMapping read = read(env, mapping);
        read.place(operators(env));
        read.finish(env);
    }

    /**
     * Applies a mapping to a graph, which is how operators of Flink SQL and the Table API are
     * reached: add the statements with attachAsDataStream(), call this with env.getStreamGraph(),
     * and pass the graph to env.execute(graph).
     *
     * @param mapping properties file, operator = group; empty: only that of the configuration
     * @throws IOException if the file cannot be read
     * @throws IllegalArgumentException if it names an operator that the job does not have, or
     *     numbers of instances that a FORWARD stream does not feed evenly
     */
    public static void apply(StreamExecutionEnvironment env, StreamGraph graph, String mapping)
            throws IOException {
        StreamplaceMapping read = read(env, mapping);
        read.placeNodes(graph);
        checkForwardEdges(graph);
        read.finish(env);
        // the graph was made before finish() published the mapping
        graph.getExecutionConfig()
                .setGlobalJobParameters(env.getConfig().getGlobalJobParameters());
    }

    private static StreamplaceMapping read(StreamExecutionEnvironment env, String file)
            throws IOException {
        StreamplaceMapping made = new StreamplaceMapping();
        String text = env.getConfiguration().getOptional(MAPPING).orElse(null);
        if (text != null) {
            made.lines.load(new StringReader(text));
        } else if (!file.isEmpty()) {
            try (Reader reader = Files.newBufferedReader(Path.of(file), StandardCharsets.UTF_8)) {
                made.lines.load(reader);
            }
        }
        for (String key : made.lines.stringPropertyNames()) {
            if (key.startsWith("@")) {
                made.groups.put(key.substring(1), made.group(key));
            } else {
                made.left.add(key);
            }
        }
        return made;
    }

    /** Returns the parts of a line: its first word, and "key value" pairs after commas. */
    private Map<String, String> parts(String key) {
        Map<String, String> found = new HashMap<>();
        for (String part : lines.getProperty(key).split(",")) {
            String[] words = part.trim().split(" ", 2);
            found.put(words.length == 1 ? "" : words[0], words[words.length - 1]);
        }
        return found;
    }

    /** Returns the group of a line, which may have several labels: "label NAME [AMOUNT]". */
    private SlotSharingGroup group(String key) {
        Map<String, String> parts = parts(key);
        SlotSharingGroup.Builder made = SlotSharingGroup.newBuilder(key.substring(1))
                .setCpuCores(Double.parseDouble(parts.get("cores")))
                .setTaskHeapMemoryMB(Integer.parseInt(parts.get("heap_mb")))
                .setManagedMemory(
                        MemorySize.ofMebiBytes(Integer.parseInt(parts.get("managed_mb"))));
        for (String part : lines.getProperty(key).split(",")) {
            String[] words = part.trim().split(" ");
            if (words[0].equals("label")) {
                double amount = words.length > 2 ? Double.parseDouble(words[2]) : 1;
                made.setExternalResource(words[1], amount);
            }
        }
        return made.build();
    }

    private SlotSharingGroup groupOf(Map<String, String> parts) {
        String name = parts.get("");
        return groups.getOrDefault(name, SlotSharingGroup.newBuilder(name).build());
    }

    private void place(List<Transformation<?>> operators) {
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
                set(operator, parts(key));
                placed.add(operator);
            }
            left.remove(operator.getName() + ": Committer" + number);
            if (operator.getUid() == null) {
                withoutUid.add(nameInPlans(operator) + number);
            }
        }
        for (Transformation<?> operator : operators) {
            String key = operator.getName() + numbers.get(operator);
            if (placed.contains(operator)) {
                continue;
            }
            if (left.remove(key)) {
                set(operator, parts(key));
            } else {
                unplaced.add(key);
            }
        }
    }

    private void set(Transformation<?> operator, Map<String, String> parts) {
        operator.setSlotSharingGroup(groupOf(parts));
        if (parts.containsKey("parallelism")) {
            operator.setParallelism(Integer.parseInt(parts.get("parallelism")));
        }
    }

    private void placeNodes(StreamGraph graph) {
        Map<String, String> keys = new HashMap<>();
        Map<String, Integer> counts = new HashMap<>();
        left.stream()
                .sorted(Comparator.comparingInt(StreamplaceMapping::planNumber))
                .forEach(key -> keys.put(numbered(withoutPlanNumber(key), counts), key));
        counts.clear();
        List<StreamNode> nodes = new ArrayList<>(graph.getStreamNodes());
        nodes.sort(Comparator.comparingInt(StreamNode::getId));
        for (StreamNode node : nodes) {
            String uid = String.valueOf(node.getTransformationUID());
            String name = numbered(withoutPlanNumber(node.getOperatorDescription()), counts);
            String shortName = withoutPlanNumber(node.getOperatorName());
            String key = left.contains(uid) ? uid : keys.getOrDefault(name, keys.get(shortName));
            if (node.getTransformationUID() == null) {
                withoutUid.add(name);
            }
            if (key != null && left.remove(key)) {
                Map<String, String> parts = parts(key);
                SlotSharingGroup group = groupOf(parts);
                node.setSlotSharingGroup(group.getName());
                if (groups.containsKey(group.getName())) {
                    graph.setSlotSharingGroupResource(
                            Map.of(group.getName(), profile(group)));
                }
                if (parts.containsKey("parallelism")) {
                    node.setParallelism(Integer.parseInt(parts.get("parallelism")));
                }
            } else {
                unplaced.add(name);
            }
        }
    }

    /**
     * A FORWARD edge of a graph connects each instance to a share of the others. It feeds them
     * evenly if one number is a multiple of the other, unless as many targets as there are sources
     * belong to each source: Flink then takes the numbers for equal, and uses the first target only.
     */
    private static void checkForwardEdges(StreamGraph graph) {
        for (StreamNode node : graph.getStreamNodes()) {
            for (StreamEdge edge : node.getOutEdges()) {
                StreamNode target = graph.getStreamNode(edge.getTargetId());
                int sources = node.getParallelism();
                int targets = target.getParallelism();
                boolean isEven = sources % targets == 0
                        || (targets % sources == 0
                                && (sources == 1 || targets != sources * sources));
                if (edge.getPartitioner().getClass() == ForwardPartitioner.class && !isEven) {
                    throw new IllegalArgumentException(
                            "StreamplaceMapping: a FORWARD stream does not feed all instances"
                                    + " evenly: " + node.getOperatorName() + " has " + sources
                                    + ", " + target.getOperatorName() + " " + targets
                                    + "; set equal numbers, or colocate both in the constraints"
                                    + " of size");
                }
            }
        }
    }

    /**
     * Returns a name without the number that Flink SQL puts into it: [4]:Calc(…) or Calc[4]. The
     * numbers go on from job to job in one JobManager, so they differ when a job is started again.
     */
    private static String withoutPlanNumber(String name) {
        return name.replaceFirst("^\\[\\d+\\]:", "").replaceFirst("\\[\\d+\\]$", "");
    }

    private static int planNumber(String name) {
        Matcher number = Pattern.compile("^\\[(\\d+)\\]:").matcher(name);
        return number.find() ? Integer.parseInt(number.group(1)) : 0;
    }

    private static String numbered(String name, Map<String, Integer> counts) {
        int count = counts.merge(name, 1, Integer::sum);
        return count == 1 ? name : name + "#" + count;
    }

    private static ResourceProfile profile(SlotSharingGroup group) {
        ResourceSpec.Builder spec =
                ResourceSpec.newBuilder(
                                group.getCpuCores().get(),
                                group.getTaskHeapMemory().get().getMebiBytes())
                        .setManagedMemory(group.getManagedMemory().get());
        group.getExternalResources()
                .forEach(
                        (name, amount) ->
                                spec.setExtendedResource(
                                        new org.apache.flink.api.common.resources.ExternalResource(
                                                name, amount)));
        return ResourceProfile.fromResourceSpec(spec.build(), MemorySize.ZERO);
    }

    /** Publishes the mapping, or reports what does not fit. */
    private void finish(StreamExecutionEnvironment env) {
        if (!left.isEmpty()) {
            throw new IllegalArgumentException(
                    "StreamplaceMapping: the job has no operators " + left
                            + "; it has " + unplaced);
        }
        if (!groups.isEmpty() && !unplaced.isEmpty()) {
            throw new IllegalArgumentException(
                    "StreamplaceMapping: with labels, every operator needs a group, but "
                            + unplaced + " have none");
        }
        if (env.getConfiguration().get(CHECK)) {
            throw new IllegalStateException(
                    "StreamplaceMapping: checked, without uid: " + withoutUid);
        }
        Map<String, String> all = new LinkedHashMap<>();
        if (env.getConfig().getGlobalJobParameters() != null) {
            all.putAll(env.getConfig().getGlobalJobParameters().toMap());
        }
        all.put(KEY, lines.stringPropertyNames().stream()
                .sorted()
                .map(key -> escaped(key) + "=" + lines.getProperty(key))
                .collect(Collectors.joining("\n")));
        env.getConfig().setGlobalJobParameters(new Published(all));
    }

    private static String escaped(String key) {
        StringBuilder made = new StringBuilder();
        for (char letter : key.toCharArray()) {
            if (letter <= ' ' || letter > '~') {
                made.append(String.format("\\u%04x", (int) letter));
            } else {
                made.append("\\=:#!".indexOf(letter) < 0 ? "" : "\\").append(letter);
            }
        }
        return made.toString();
    }

    /** The job's own global parameters and the mapping. */
    private static final class Published extends ExecutionConfig.GlobalJobParameters {
        private final Map<String, String> all;

        Published(Map<String, String> all) {
            this.all = all;
        }

        @Override
        public Map<String, String> toMap() {
            return all;
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
