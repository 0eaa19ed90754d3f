import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.RichFlatMapFunction;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.connector.datagen.source.GeneratorFunction;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.co.CoFlatMapFunction;
import org.apache.flink.util.Collector;

/**
 * A job whose instructions, payloads and selectivities are known: ten operators, a fork, a join.
 *
 * <pre>
 * events - parse - filter - score  - join - summarise - render - archive
 *                \ enrich - split /
 * </pre>
 *
 * The argument is the source's tuples/s.
 */
public final class SampleJob {
    public static void main(String[] args) throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.disableOperatorChaining(); // Flink measures neither bytes nor busy time inside chains
        build(env, Double.parseDouble(args[0]));
        env.execute("sample");
    }

    /** Adds the operators; truth.py repeats their instructions, bytes and selectivities. */
    static void build(StreamExecutionEnvironment env, double rate) {
        env.setParallelism(1);
        env.setBufferTimeout(0); // buffered tuples would arrive in bursts and wait for cores
        DataGeneratorSource<byte[]> source =
                new DataGeneratorSource<>(
                        new Events(),
                        Long.MAX_VALUE,
                        RateLimiterStrategy.perSecond(rate),
                        PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO);
        DataStream<byte[]> events =
                env.fromSource(source, WatermarkStrategy.noWatermarks(), "events");
        DataStream<byte[]> parsed = step(events, "parse", 100_000_000, 1200, 1, 1);
        DataStream<byte[]> filtered = step(parsed, "filter", 80_000_000, 1600, 1, 2);
        DataStream<byte[]> scored = step(filtered, "score", 120_000_000, 20000, 1, 1);
        DataStream<byte[]> enriched = step(parsed, "enrich", 100_000_000, 4000, 1, 1);
        DataStream<byte[]> split = step(enriched, "split", 80_000_000, 2000, 2, 1);
        DataStream<byte[]> joined =
                scored.connect(split)
                        .flatMap(new Join())
                        .returns(PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO)
                        .name("join");
        DataStream<byte[]> summed = step(joined, "summarise", 100_000_000, 1500, 1, 2);
        DataStream<byte[]> rendered = step(summed, "render", 120_000_000, 3000, 3, 1);
        rendered.sinkTo(new Archive()).name("archive");
    }

    private static DataStream<byte[]> step(
            DataStream<byte[]> input, String name, long work, int bytes, int out, int per) {
        SingleOutputStreamOperator<byte[]> made =
                input.flatMap(new Step(work, bytes, out, per))
                        .returns(PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO);
        return made.name(name);
    }

    /** Creates the tuples of the source. */
    static final class Events implements GeneratorFunction<Long, byte[]> {
        @Override
        public byte[] map(Long number) {
            byte[] tuple = new byte[1000];
            tuple[0] = (byte) Work.run(80_000_000, number);
            return tuple;
        }
    }

    /** Works on each tuple, and emits `out` tuples for every `per` that arrive. */
    static final class Step extends RichFlatMapFunction<byte[], byte[]> {
        private final long work;
        private final int bytes;
        private final int out;
        private final int per;
        private long count;

        Step(long work, int bytes, int out, int per) {
            this.work = work;
            this.bytes = bytes;
            this.out = out;
            this.per = per;
        }

        @Override
        public void flatMap(byte[] tuple, Collector<byte[]> collector) {
            byte done = (byte) Work.run(work, tuple[0]);
            if (++count % per == 0) {
                for (int i = 0; i < out; i++) {
                    byte[] made = new byte[bytes];
                    made[0] = done;
                    collector.collect(made);
                }
            }
        }
    }

    /** Emits two tuples for every five that arrive, from either side. */
    static final class Join implements CoFlatMapFunction<byte[], byte[], byte[]> {
        private long count;

        @Override
        public void flatMap1(byte[] tuple, Collector<byte[]> collector) {
            next(tuple, collector);
        }

        @Override
        public void flatMap2(byte[] tuple, Collector<byte[]> collector) {
            next(tuple, collector);
        }

        private void next(byte[] tuple, Collector<byte[]> collector) {
            byte done = (byte) Work.run(80_000_000, tuple[0]);
            if (++count % 5 == 1 || count % 5 == 3) {
                byte[] made = new byte[1000];
                made[0] = done;
                collector.collect(made);
            }
        }
    }

    /** The sink. */
    static final class Archive implements Sink<byte[]> {
        @Override
        public SinkWriter<byte[]> createWriter(WriterInitContext context) {
            return new Writer();
        }
    }

    /** Works on a tuple and discards it. */
    static final class Writer implements SinkWriter<byte[]> {
        private long last;

        @Override
        public void write(byte[] tuple, Context context) {
            last ^= Work.run(100_000_000, tuple[0]);
        }

        @Override
        public void flush(boolean endOfInput) {}

        @Override
        public void close() {}
    }
}
