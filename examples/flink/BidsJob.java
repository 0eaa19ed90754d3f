import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.windowing.assigners.EventTimeSessionWindows;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;

/**
 * Queries of an online auction with the operators of Nexmark, written from its description, on the
 * numbers of a `Clocked` source. A tuple's time is its number in milliseconds, so that all windows
 * have the same content in every run. All queries write "number value milliseconds" for each result.
 *
 * <ul>
 *   <li>"filter" keeps the bids of every fourth auction, with their prices in another currency;
 *   <li>"counts" counts the bids of each auction; so do "rocksdb", whose state is in RocksDB,
 *       "skewed", whose auctions get unequal shares, and "hidden", whose source does not report
 *       what waits;
 *   <li>"join" joins bids with the openings of auctions in tumbling windows: how much they exceed
 *       its price;
 *   <li>"sessions" counts the bids of each session of a bidder, under the number of its last one;
 *   <li>"top" ranks the highest bids of each category in tumbling windows.
 * </ul>
 *
 * <p>Arguments: the schedule's file, the folder to write to, the query, and the microseconds for
 * which its operators park for each tuple.
 */
public final class BidsJob {
    private static final long KEPT = 4; // one auction in so many
    private static final long CATEGORIES = 61;
    private static final int HIGHEST = 2;
    private static final Duration JOINED = Duration.ofMillis(128);
    private static final Duration RANKED = Duration.ofMillis(256);
    private static final Duration GAP = Duration.ofMillis(200);

    private BidsJob() {}

    public static void main(String[] args) throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        String query = args[2];
        env.setParallelism(1);
        env.setBufferTimeout(5);
        env.enableCheckpointing(2000);
        env.getConfig().setAutoWatermarkInterval(50);
        if (query.equals("rocksdb")) {
            Configuration config = new Configuration();
            config.set(StateBackendOptions.STATE_BACKEND, "rocksdb");
            env.configure(config);
        }
        ShapedJob.Effort effort = new ShapedJob.Effort(args[3], "1/1");
        DataStream<Long> numbers =
                env.fromSource(
                                new Clocked(args[0], !query.equals("hidden")),
                                WatermarkStrategy.<Long>forMonotonousTimestamps()
                                        .withTimestampAssigner((number, before) -> number)
                                        .withIdleness(Duration.ofSeconds(1)),
                                "bids",
                                Types.LONG)
                        .uid("bids")
                        .rebalance();
        results(query, numbers, effort)
                .sinkTo(new CountJob.Journal(args[1]))
                .name("results")
                .uid("results");
        StreamplaceMapping.apply(env);
        env.execute(query);
    }

    private static DataStream<String> results(
            String query, DataStream<Long> numbers, ShapedJob.Effort effort) {
        switch (query) {
            case "filter":
                return converted(numbers, effort, Bid::even)
                        .filter(bid -> bid.auction % KEPT == 0)
                        .name("filter")
                        .uid("filter")
                        .map(bid -> Counter.line(bid.number, bid.price * 908 / 1000))
                        .name("project")
                        .uid("project");
            case "join":
                DataStream<Bid> all = converted(numbers, effort, Bid::opening);
                return all.filter(Bid::opens)
                        .name("openings")
                        .uid("openings")
                        .join(all.filter(bid -> !bid.opens()).name("bids only").uid("bids only"))
                        .where(bid -> bid.auction)
                        .equalTo(bid -> bid.auction)
                        .window(TumblingEventTimeWindows.of(JOINED))
                        .apply(new Exceeding(effort), Types.STRING);
            case "sessions":
                return named(
                        query,
                        converted(numbers, null, Bid::even)
                                .keyBy(bid -> bid.bidder)
                                .window(EventTimeSessionWindows.withGap(GAP))
                                .process(new Session(effort)));
            case "top":
                return named(
                        query,
                        converted(numbers, null, Bid::even)
                                .keyBy(bid -> bid.auction % CATEGORIES)
                                .window(TumblingEventTimeWindows.of(RANKED))
                                .process(new Top(effort)));
            default:
                boolean skewed = query.equals("skewed");
                return named(
                        "count",
                        converted(numbers, null, skewed ? Bid::skewed : Bid::even)
                                .keyBy(bid -> bid.auction)
                                .process(new Counter<>(effort, bid -> bid.number)));
        }
    }

    private static DataStream<Bid> converted(
            DataStream<Long> numbers, ShapedJob.Effort effort, Made made) {
        return named("convert", numbers.map(new Convert(effort, made)));
    }

    private static <T> DataStream<T> named(String name, SingleOutputStreamOperator<T> made) {
        return made.name(name).uid(name);
    }

    /** Makes a bid of a number. */
    interface Made extends java.io.Serializable {
        Bid of(long number);
    }

    /** Makes bids of numbers, for which it parks if that is an effort. */
    static final class Convert implements MapFunction<Long, Bid> {
        private final ShapedJob.Effort effort;
        private final Made made;

        Convert(ShapedJob.Effort effort, Made made) {
            this.effort = effort;
            this.made = made;
        }

        @Override
        public Bid map(Long number) {
            if (effort != null) {
                effort.spend(number);
            }
            return made.of(number);
        }
    }

    /** By how much a bid exceeds the price at which its auction opened. */
    static final class Exceeding implements JoinFunction<Bid, Bid, String> {
        private final ShapedJob.Effort effort;

        Exceeding(ShapedJob.Effort effort) {
            this.effort = effort;
        }

        @Override
        public String join(Bid opening, Bid bid) {
            effort.spend(bid.number);
            return Counter.line(bid.number, bid.price - opening.price);
        }
    }

    /** Counts the bids of a session. */
    static final class Session extends ProcessWindowFunction<Bid, String, Long, TimeWindow> {
        private final ShapedJob.Effort effort;

        Session(ShapedJob.Effort effort) {
            this.effort = effort;
        }

        @Override
        public void process(
                Long bidder, Context context, Iterable<Bid> bids, Collector<String> out) {
            long count = 0;
            long last = 0;
            for (Bid bid : bids) {
                effort.spend(bid.number);
                count++;
                last = Math.max(last, bid.number);
            }
            out.collect(Counter.line(last, count));
        }
    }

    /** Ranks the highest bids. */
    static final class Top extends ProcessWindowFunction<Bid, String, Long, TimeWindow> {
        private final ShapedJob.Effort effort;

        Top(ShapedJob.Effort effort) {
            this.effort = effort;
        }

        @Override
        public void process(
                Long category, Context context, Iterable<Bid> bids, Collector<String> out) {
            List<Bid> sorted = new ArrayList<>();
            for (Bid bid : bids) {
                effort.spend(bid.number);
                sorted.add(bid);
            }
            sorted.sort(Comparator.comparingLong(bid -> -bid.price));
            for (int i = 0; i < Math.min(HIGHEST, sorted.size()); i++) {
                out.collect(Counter.line(sorted.get(i).number, i + 1));
            }
        }
    }
}
