import java.io.IOException;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichFilterFunction;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Queries of an online auction with the operators of Nexmark, written from its description, on bids
 * of a `Clocked` source. A bid is (number, auction, price), of which the number determines the rest.
 *
 * <p>"filter" converts the price of each bid and keeps those of every fourth auction; "counts"
 * counts the bids of each auction. Both write "number value milliseconds" for each result.
 *
 * <p>Arguments: the schedule's file, the folder to write to, the query, and the microseconds for
 * which its operators park for each bid.
 */
public final class BidsJob {
    static final long AUCTIONS = 1009; // prime, so that numbers in a row are of different auctions
    static final long KEPT = 4; // one auction in so many

    private BidsJob() {}

    public static void main(String[] args) throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.setParallelism(1);
        env.setBufferTimeout(5);
        env.enableCheckpointing(2000);
        ShapedJob.Effort effort = new ShapedJob.Effort(args[3], "1/1");
        DataStream<Tuple3<Long, Long, Long>> bids =
                env.fromSource(
                                new Clocked(args[0]),
                                WatermarkStrategy.noWatermarks(),
                                "bids",
                                Types.LONG)
                        .uid("bids")
                        .rebalance()
                        .map(new Convert(args[2].equals("filter") ? effort : null))
                        .name("convert")
                        .uid("convert");
        DataStream<String> results =
                args[2].equals("filter")
                        ? bids.filter(new Kept())
                                .name("filter")
                                .uid("filter")
                                .map(bid -> line(bid.f0, bid.f2))
                                .name("project")
                                .uid("project")
                        : bids.keyBy(bid -> bid.f1)
                                .process(new Count(effort))
                                .name("count")
                                .uid("count");
        results.sinkTo(new CountJob.Journal(args[1])).name("results").uid("results");
        StreamplaceMapping.apply(env);
        env.execute(args[2]);
    }

    static String line(long number, long value) {
        return number + " " + value + " " + System.currentTimeMillis();
    }

    /** Makes a bid of a number, with its price in another currency. */
    static final class Convert extends RichMapFunction<Long, Tuple3<Long, Long, Long>> {
        private final ShapedJob.Effort effort;

        Convert(ShapedJob.Effort effort) {
            this.effort = effort;
        }

        @Override
        public Tuple3<Long, Long, Long> map(Long number) {
            if (effort != null) {
                effort.spend(number);
            }
            long price = 100 + number * 7919 % 10_000;
            return Tuple3.of(number, number * 7 % AUCTIONS, price * 908 / 1000);
        }
    }

    /** Keeps the bids of some auctions. */
    static final class Kept extends RichFilterFunction<Tuple3<Long, Long, Long>> {
        @Override
        public boolean filter(Tuple3<Long, Long, Long> bid) {
            return bid.f1 % KEPT == 0;
        }
    }

    /** Counts the bids of each auction. */
    static final class Count extends KeyedProcessFunction<Long, Tuple3<Long, Long, Long>, String> {
        private final ShapedJob.Effort effort;
        private transient ValueState<Long> count;

        Count(ShapedJob.Effort effort) {
            this.effort = effort;
        }

        @Override
        public void open(OpenContext context) {
            count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
        }

        @Override
        public void processElement(
                Tuple3<Long, Long, Long> bid, Context context, Collector<String> out)
                throws IOException {
            effort.spend(bid.f0);
            long next = count.value() == null ? 1 : count.value() + 1;
            count.update(next);
            out.collect(line(bid.f0, next));
        }
    }
}
