import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;

/**
 * A job that a controller changes while its rate changes. It counts the numbers of a `Clocked`
 * source by key, and writes "number count milliseconds" for each: the count of number n is n /
 * KEYS + 1 if no state is lost and none is doubled.
 *
 * <p>Arguments: the schedule's file, the folder to write to, the microseconds for which "parse" and
 * "count" park for each tuple, and their numbers of instances. A seventh argument is "branch":
 * negative numbers, of which there are none, go from "parse" to a branch of their own; or "skew":
 * one of four instances of "count" gets 85% of the keys.
 */
public final class WatchedJob {
    static final int KEYS = 512; // so many that instances get about equal shares
    private static final int KEY_GROUPS = 128;

    private WatchedJob() {}

    public static void main(String[] args) throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.disableOperatorChaining(); // Flink measures no busy time inside chains
        env.setParallelism(1);
        env.setMaxParallelism(KEY_GROUPS);
        env.setBufferTimeout(5);
        env.enableCheckpointing(2000);
        SingleOutputStreamOperator<Long> parsed =
                env.fromSource(
                                new Clocked(args[0]),
                                WatermarkStrategy.noWatermarks(),
                                "numbers",
                                Types.LONG)
                        .uid("numbers")
                        .rebalance()
                        .flatMap(new ShapedJob.Step(new ShapedJob.Effort(args[2], "1/1")))
                        .returns(Types.LONG)
                        .name("parse")
                        .uid("parse")
                        .setParallelism(Integer.parseInt(args[4]));
        String variant = args.length > 6 ? args[6] : "";
        if (variant.equals("branch")) {
            parsed.rebalance()
                    .filter(number -> number < 0)
                    .name("negative")
                    .uid("negative")
                    .rebalance()
                    .sinkTo(new DiscardingSink<>())
                    .name("rejected")
                    .uid("rejected");
        }
        long[] keys = keys(variant.equals("skew") ? 0.85 : 0.25);
        parsed.keyBy(number -> keys[(int) (number % KEYS)])
                .process(new Counter<Long>(new ShapedJob.Effort(args[3], "1/1"), number -> number))
                .name("count")
                .uid("count")
                .setParallelism(Integer.parseInt(args[5]))
                .rebalance()
                .sinkTo(new CountJob.Journal(args[1]))
                .name("journal")
                .uid("journal");
        StreamplaceMapping.apply(env);
        env.execute("watched");
    }

    /** Returns keys of which a share belongs to the first quarter of all key groups. */
    private static long[] keys(double share) {
        long[] keys = new long[KEYS];
        int first = 0;
        int others = (int) Math.round(share * KEYS);
        for (long key = 0; first < Math.round(share * KEYS) || others < KEYS; key++) {
            int group = KeyGroupRangeAssignment.assignToKeyGroup(key, KEY_GROUPS);
            if (group >= KEY_GROUPS / 4 && others < KEYS) {
                keys[others++] = key;
            } else if (group < KEY_GROUPS / 4 && first < Math.round(share * KEYS)) {
                keys[first++] = key;
            }
        }
        return keys;
    }
}
