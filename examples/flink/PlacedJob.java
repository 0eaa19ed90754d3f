import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** The sample job with a mapping applied. Arguments: the source's tuples/s, the mapping's file. */
public final class PlacedJob {
    public static void main(String[] args) throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        SampleJob.build(env, Double.parseDouble(args[0]));
        StreamplaceMapping.apply(env, args[1]);
        env.execute("sample, placed");
    }
}
