import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichFlatMapFunction;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.connector.datagen.source.GeneratorFunction;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.Collector;

/**
 * A job of any shape whose operators park a known time for each tuple, or execute a known number of
 * instructions. Flink counts parked threads as busy, so a job of many busy instances runs on a small
 * machine.
 *
 * <p>Arguments: the source's tuples/s, then an operator each: "name inputs shipping effort out/per
 * instances", such as "score parse,enrich hash 1500 1/2 3", upstream first. Shipping is "hash" or
 * "rebalance"; the effort is a time in microseconds, or instructions, such as "spin:2e6"; the source
 * is named "events". The last operator feeds the sink.
 */
public final class ShapedJob {
    static final int KEYS = 4096;
    static final int KEY_GROUPS = 128;

    private ShapedJob() {}

    public static void main(String[] args) throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.disableOperatorChaining(); // Flink measures no busy time inside chains
        env.setParallelism(1);
        env.setMaxParallelism(KEY_GROUPS);
        if (env.getConfiguration().getOptional(ExecutionOptions.BUFFER_TIMEOUT).isEmpty()) {
            env.setBufferTimeout(5);
        }
        env.enableCheckpointing(5000);
        Map<String, DataStream<Long>> made = new HashMap<>();
        made.put("events", source(env, Double.parseDouble(args[0])));
        DataStream<Long> last = null;
        for (int i = 1; i < args.length; i++) {
            String[] words = args[i].split(" ");
            last = operator(words, inputs(made, words[1]));
            made.put(words[0], last);
        }
        last.sinkTo(new DiscardingSink<>()).name("sink").uid("sink");
        StreamplaceMapping.apply(env);
        env.execute("shaped");
    }

    private static DataStream<Long> source(StreamExecutionEnvironment env, double rate) {
        DataGeneratorSource<Long> numbers =
                new DataGeneratorSource<>(
                        (GeneratorFunction<Long, Long>) number -> number,
                        Long.MAX_VALUE,
                        RateLimiterStrategy.perSecond(rate),
                        Types.LONG);
        return env.fromSource(numbers, WatermarkStrategy.noWatermarks(), "events").uid("events");
    }

    private static DataStream<Long> inputs(Map<String, DataStream<Long>> made, String names) {
        List<DataStream<Long>> found = new ArrayList<>();
        for (String name : names.split(",")) {
            found.add(made.get(name).rebalance());
        }
        DataStream<Long> first = found.remove(0);
        return found.isEmpty() ? first : first.union(found.toArray(new DataStream[0]));
    }

    private static DataStream<Long> operator(String[] words, DataStream<Long> input) {
        Effort effort = new Effort(words[3], words[4]);
        SingleOutputStreamOperator<Long> made =
                words[2].equals("hash")
                        ? input.keyBy(number -> number % KEYS).process(new Counted(effort))
                        : input.flatMap(new Step(effort));
        return made.returns(Types.LONG)
                .name(words[0])
                .uid(words[0])
                .setParallelism(Integer.parseInt(words[5]));
    }

    /** Parks or spins for each tuple, and emits `out` tuples for every `per` that arrive. */
    static final class Effort implements java.io.Serializable {
        private static final long SHORTEST_NS = 1_000_000; // shorter waits are imprecise
        private static final String SPIN = "spin:";

        private final boolean spins;
        private final long tuple; // nanoseconds or instructions
        private final int out;
        private final int per;
        private long owed;
        private long count;
        private long last;

        Effort(String effort, String outPer) {
            String[] parts = outPer.split("/");
            spins = effort.startsWith(SPIN);
            tuple =
                    spins
                            ? (long) Double.parseDouble(effort.substring(SPIN.length()))
                            : Math.round(Double.parseDouble(effort) * 1e3);
            out = Integer.parseInt(parts[0]);
            per = Integer.parseInt(parts[1]);
        }

        /** Spends the effort of a tuple. */
        void spend(long number) {
            if (spins) {
                last ^= Work.run(tuple, number);
                return;
            }
            owed += tuple;
            if (owed >= SHORTEST_NS) {
                long begin = System.nanoTime();
                LockSupport.parkNanos(owed);
                owed -= System.nanoTime() - begin; // waits end late, so the next ones are shorter
            }
        }

        void take(long number, Collector<Long> collector) {
            spend(number);
            if (++count % per == 0) {
                for (int i = 0; i < out; i++) {
                    collector.collect(number * out + i);
                }
            }
        }
    }

    /** An operator without keys. */
    static final class Step extends RichFlatMapFunction<Long, Long> {
        private final Effort effort;

        Step(Effort effort) {
            this.effort = effort;
        }

        @Override
        public void flatMap(Long number, Collector<Long> collector) {
            effort.take(number, collector);
        }
    }

    /** An operator that counts the tuples of each key, in state that moves with its key groups. */
    static final class Counted extends KeyedProcessFunction<Long, Long, Long> {
        private final Effort effort;
        private transient ValueState<Long> count;

        Counted(Effort effort) {
            this.effort = effort;
        }

        @Override
        public void open(OpenContext context) {
            count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
        }

        @Override
        public void processElement(Long number, Context context, Collector<Long> collector)
                throws IOException {
            count.update(count.value() == null ? 1 : count.value() + 1);
            effort.take(number, collector);
        }
    }
}
