import java.io.FileWriter;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.UUID;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.connector.datagen.source.GeneratorFunction;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * A job whose state can be checked: it counts the tuples of every key, in keyed state, and writes
 * each count. If no state is lost, the counts of a key are 1, 2, 3, … over all restarts.
 *
 * <p>Arguments: the source's tuples/s, the folder to write to, and the instances of "count". While
 * the folder has a file named "blocked", the sink waits, so that savepoints hang. Files named
 * "misplaced", "broken" and "refused" let the next start go wrong.
 */
public final class CountJob {
    static final int KEYS = 16;

    private CountJob() {}

    public static void main(String[] args) throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        if (sabotaged(env, Path.of(args[1]), "refused")) {
            throw new IllegalStateException("sabotaged");
        }
        env.setParallelism(1);
        env.setMaxParallelism(120);
        env.setBufferTimeout(10);
        env.enableCheckpointing(2000);
        DataGeneratorSource<Long> numbers =
                new DataGeneratorSource<>(
                        (GeneratorFunction<Long, Long>) number -> number,
                        Long.MAX_VALUE,
                        RateLimiterStrategy.perSecond(Double.parseDouble(args[0])),
                        Types.LONG);
        env.fromSource(numbers, WatermarkStrategy.noWatermarks(), "numbers")
                .uid("numbers")
                .map(number -> number + (Work.run(200_000, number) == 0 ? 1 : 0))
                .returns(Types.LONG)
                .name("parse")
                .uid("parse")
                .keyBy(number -> number % KEYS)
                .process(new Count(sabotaged(env, Path.of(args[1]), "broken")))
                .name("count")
                .uid("count")
                .setParallelism(Integer.parseInt(args[2]))
                .sinkTo(new Journal(args[1]))
                .name("journal")
                .uid("journal");
        if (!sabotaged(env, Path.of(args[1]), "misplaced")) {
            StreamplaceMapping.apply(env);
        }
        env.execute("count");
    }

    /**
     * Returns whether a file of that name is in the folder, and deletes it; not while a job is only
     * checked or planned. Tests use it to let one start of the job go wrong.
     */
    private static boolean sabotaged(StreamExecutionEnvironment env, Path folder, String name)
            throws IOException {
        Map<String, String> config = env.getConfiguration().toMap();
        boolean only =
                config.containsKey("streamplace.check")
                        || "false".equals(config.get("pipeline.operator-chaining.enabled"));
        return !only && Files.deleteIfExists(folder.resolve(name));
    }

    /** Emits "key count" for every tuple. */
    static final class Count extends KeyedProcessFunction<Long, Long, String> {
        private final boolean broken;
        private transient ValueState<Long> count;

        Count(boolean broken) {
            this.broken = broken;
        }

        @Override
        public void open(OpenContext context) {
            if (broken) {
                throw new IllegalStateException("sabotaged");
            }
            count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
        }

        @Override
        public void processElement(Long number, Context context, Collector<String> out)
                throws IOException {
            Work.run(400_000, number);
            long next = count.value() == null ? 1 : count.value() + 1;
            count.update(next);
            out.collect(context.getCurrentKey() + " " + next);
        }
    }

    /** Writes lines to a file of its own. */
    static final class Journal implements Sink<String> {
        private final String folder;

        Journal(String folder) {
            this.folder = folder;
        }

        @Override
        public SinkWriter<String> createWriter(WriterInitContext context) throws IOException {
            return new Lines(Path.of(folder));
        }
    }

    /** The open file; lines are on disk before a checkpoint ends. */
    static final class Lines implements SinkWriter<String> {
        private final Path blocked;
        private final Writer file;

        Lines(Path folder) throws IOException {
            blocked = folder.resolve("blocked");
            file = new FileWriter(folder.resolve(UUID.randomUUID() + ".txt").toFile());
        }

        @Override
        public void write(String line, Context context) throws IOException, InterruptedException {
            while (Files.exists(blocked)) {
                Thread.sleep(50);
            }
            file.write(line + "\n");
            file.flush();
        }

        @Override
        public void flush(boolean endOfInput) throws IOException {
            file.flush();
        }

        @Override
        public void close() throws IOException {
            file.close();
        }
    }
}
