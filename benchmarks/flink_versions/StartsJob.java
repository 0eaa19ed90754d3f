import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * A source and a slow operator with keys, for every Flink from 1.17 to 2.3.
 *
 * <p>Argument: the parallelism that the code sets; without it, the code sets none.
 */
public final class StartsJob {
    private static final int KEYS = 97;

    private StartsJob() {}

    public static void main(String[] args) throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        if (args.length > 0) {
            env.setParallelism(Integer.parseInt(args[0]));
        }
        env.enableCheckpointing(1000);
        env.fromSequence(0, Long.MAX_VALUE - 1)
                .name("src")
                .uid("src")
                .keyBy(number -> number % KEYS)
                .map(
                        number -> {
                            Thread.sleep(20);
                            return number;
                        })
                .name("slow")
                .uid("slow")
                .filter(number -> false)
                .name("none")
                .uid("none")
                .print()
                .name("out")
                .uid("out");
        env.execute("starts");
    }
}
