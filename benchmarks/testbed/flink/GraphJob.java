import java.io.FileWriter;
import java.io.IOException;
import java.io.Writer;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/**
 * Runs a placed streamplace graph: every operator is its own task, in the slot of its device.
 *
 * <p>The argument is a file of lines, operators upstream first: {@code operator NUMBER DEVICE
 * COST_NS RATE FILE} (RATE is above 0 for sources; a sink writes to FILE, others have "-") and
 * {@code stream NUMBER SOURCE TARGET SELECTIVITY PHASE BYTES}.
 */
public final class GraphJob {
    public static void main(String[] args) throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.disableOperatorChaining();
        env.setParallelism(1);
        env.setBufferTimeout(0);
        Map<Integer, List<Out>> outs = new HashMap<>();
        Map<Integer, List<Out>> ins = new HashMap<>();
        List<String[]> operators = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            String[] words = line.split(" ");
            if (words[0].equals("operator")) {
                operators.add(words);
            } else {
                Out out = new Out(words);
                outs.computeIfAbsent(out.source, k -> new ArrayList<>()).add(out);
                ins.computeIfAbsent(out.target, k -> new ArrayList<>()).add(out);
            }
        }
        Map<Integer, DataStream<byte[]>> streams = new HashMap<>();
        for (String[] words : operators) {
            int number = Integer.parseInt(words[1]);
            String device = "d" + words[2];
            List<Out> own = outs.getOrDefault(number, List.of());
            DataStream<byte[]> input = null;
            if (Double.parseDouble(words[4]) > 0) {
                input = source(env, Double.parseDouble(words[4]), "source" + number, device);
            } else {
                for (Out in : ins.getOrDefault(number, List.of())) {
                    DataStream<byte[]> more = streams.get(in.number);
                    input = input == null ? more : input.union(more);
                }
            }
            if (input == null) {
                throw new IllegalArgumentException("operator " + number + " has no input");
            }
            SingleOutputStreamOperator<byte[]> made =
                    input.process(new Step(Long.parseLong(words[3]), own, words[5]))
                            .returns(PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO)
                            .name("op" + number)
                            .slotSharingGroup(device);
            for (Out out : own) {
                streams.put(out.number, made.getSideOutput(out.tag));
            }
        }
        env.execute("graph");
    }

    private static DataStream<byte[]> source(
            StreamExecutionEnvironment env, double rate, String name, String device) {
        DataGeneratorSource<byte[]> numbers =
                new DataGeneratorSource<>(
                        number -> new byte[1],
                        Long.MAX_VALUE,
                        RateLimiterStrategy.perSecond(rate),
                        PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO);
        return env.fromSource(numbers, WatermarkStrategy.noWatermarks(), name)
                .slotSharingGroup(device);
    }

    /** A stream. */
    static final class Out implements java.io.Serializable {
        final int number;
        final int source;
        final int target;
        final double selectivity;
        final double phase;
        final int bytes;
        final OutputTag<byte[]> tag;

        Out(String[] words) {
            number = Integer.parseInt(words[1]);
            source = Integer.parseInt(words[2]);
            target = Integer.parseInt(words[3]);
            selectivity = Double.parseDouble(words[4]);
            phase = Double.parseDouble(words[5]);
            bytes = Integer.parseInt(words[6]);
            tag =
                    new OutputTag<>(
                            "stream" + number,
                            PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO);
        }

        long carried(long processed) {
            return (long) Math.floor(processed * selectivity + phase + 1e-9);
        }
    }

    /** Works for a certain CPU time and emits tuples; a sink also writes its count of tuples. */
    static final class Step extends ProcessFunction<byte[], byte[]> {
        private static final long REPORT_NS = 50_000_000;
        private static final int LOOPS = 200;
        private final long costNs;
        private final List<Out> outs;
        private final String file;
        private transient ThreadMXBean clock;
        private transient Writer writer;
        private long processed;
        private long reported;
        private long x = 88172645463325252L;

        Step(long costNs, List<Out> outs, String file) {
            this.costNs = costNs;
            this.outs = new ArrayList<>(outs);
            this.file = file;
        }

        @Override
        public void open(OpenContext context) throws IOException {
            clock = ManagementFactory.getThreadMXBean();
            writer = file.equals("-") ? null : new FileWriter(file);
        }

        @Override
        public void processElement(byte[] tuple, Context context, Collector<byte[]> collector)
                throws IOException {
            long until = clock.getCurrentThreadCpuTime() + costNs;
            do {
                for (int i = 0; i < LOOPS; i++) {
                    x ^= x << 13;
                    x ^= x >>> 7;
                    x ^= x << 17;
                }
            } while (clock.getCurrentThreadCpuTime() < until);
            for (Out out : outs) {
                long due = out.carried(processed + 1) - out.carried(processed);
                for (long i = 0; i < due; i++) {
                    byte[] made = new byte[out.bytes];
                    made[0] = (byte) x;
                    context.output(out.tag, made);
                }
            }
            processed++;
            long now = System.nanoTime();
            if (writer != null && now - reported > REPORT_NS) {
                reported = now;
                writer.write(now + " " + processed + "\n");
                writer.flush();
            }
        }

        @Override
        public void close() throws IOException {
            if (writer != null) {
                writer.close();
            }
        }
    }
}
