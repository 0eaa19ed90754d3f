import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;

/** Prints a job with repeated names: its plan, or with a mapping the group of each operator. */
public final class Names {
    public static void main(String[] args) throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.setParallelism(1);
        DataStream<Long> events = env.fromSequence(0, 10).name("events"); // also a step below
        events.print(); // the first of several sinks with the same name
        step(events.rebalance(), "Partition") // also the name of the rebalancing
                .sinkTo(new DiscardingSink<Long>())
                .name("events");
        step(step(events, "events"), "Map").print();
        step(events, "Map").print();
        if (args.length == 0) {
            System.out.println(env.getExecutionPlan());
            return;
        }
        if (args.length > 1) { // a graph that is made already, as of a job of Flink SQL
            StreamplaceMapping.apply(env, env.getStreamGraph(), args[0]);
            return;
        }
        StreamplaceMapping.apply(env, args[0]);
        Deque<Transformation<?>> waiting = new ArrayDeque<>(env.getTransformations());
        Set<Transformation<?>> visited = new HashSet<>();
        while (!waiting.isEmpty()) {
            Transformation<?> next = waiting.pop();
            if (visited.add(next)) {
                String group = next.getSlotSharingGroup().map(each -> each.getName()).orElse("");
                String labels =
                        next.getSlotSharingGroup()
                                .map(each -> labels(each.getExternalResources()))
                                .orElse("");
                System.out.println(
                        String.join(
                                ",",
                                String.valueOf(next.getId()),
                                group,
                                labels,
                                String.valueOf(next.getParallelism())));
                waiting.addAll(next.getInputs());
            }
        }
    }

    private static String labels(Map<String, Double> amounts) {
        return new TreeMap<>(amounts).entrySet().stream()
                .map(each -> each.getKey() + "=" + Math.round(each.getValue()))
                .collect(Collectors.joining(";"));
    }

    private static DataStream<Long> step(DataStream<Long> input, String name) {
        return input.map(number -> number + 1).returns(Long.class).name(name);
    }
}
