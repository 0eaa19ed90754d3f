import java.io.IOException;
import java.nio.file.Path;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringEncoder;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.OnCheckpointRollingPolicy;
import org.apache.flink.util.Collector;

/**
 * A job that compiles with every Flink from 1.17 to 2.3: it counts the numbers of a `Clocked`
 * source by key and writes "key count", exactly once. One chain has a branch, and another one has a
 * sink with a committer.
 *
 * <p>Arguments: the schedule's file, the folder to write to, and the instances of "count".
 */
public final class VersionJob {
    private static final int KEYS = 16;

    private VersionJob() {}

    public static void main(String[] args) throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.setParallelism(1);
        env.setMaxParallelism(120);
        env.setBufferTimeout(10);
        env.enableCheckpointing(2000);
        SingleOutputStreamOperator<Long> parsed =
                env.fromSource(
                                new Clocked(args[0]),
                                WatermarkStrategy.noWatermarks(),
                                "numbers",
                                Types.LONG)
                        .uid("numbers")
                        .map(number -> number + (Work.run(200_000, number) == 0 ? 1 : 0))
                        .returns(Types.LONG)
                        .name("parse")
                        .uid("parse");
        parsed.filter(number -> number < 0).name("negative").uid("negative");
        FileSink<String> files =
                FileSink.<String>forRowFormat(
                                new org.apache.flink.core.fs.Path(Path.of(args[1]).toUri()),
                                new SimpleStringEncoder<>())
                        .withRollingPolicy(OnCheckpointRollingPolicy.build())
                        .build();
        int instances = Integer.parseInt(args[2]);
        parsed.keyBy(number -> number % KEYS)
                .process(new Count())
                .name("count")
                .uid("count")
                .setParallelism(instances)
                .sinkTo(files)
                .name("journal")
                .uid("journal")
                .setParallelism(instances);
        StreamplaceMapping.apply(env);
        env.execute("versions");
    }

    /** Emits "key count" for every tuple. Its state is made late: open() differs by version. */
    static final class Count extends KeyedProcessFunction<Long, Long, String> {
        private transient ValueState<Long> count;

        @Override
        public void processElement(Long number, Context context, Collector<String> out)
                throws IOException {
            if (count == null) {
                count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
            }
            Work.run(400_000, number);
            long next = count.value() == null ? 1 : count.value() + 1;
            count.update(next);
            out.collect(context.getCurrentKey() + " " + next);
        }
    }
}
