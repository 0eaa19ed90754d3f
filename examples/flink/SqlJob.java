import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.table.api.bridge.java.StreamStatementSet;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;

/**
 * A query like Nexmark's, in Flink SQL: for every auction, the number of bids and the highest.
 *
 * <p>Arguments: bids per second, and the parallelism.
 */
public final class SqlJob {
    private SqlJob() {}

    public static void main(String[] args) throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.setParallelism(Integer.parseInt(args[1]));
        env.setMaxParallelism(120);
        env.enableCheckpointing(2000);
        env.disableOperatorChaining(); // without uids, state is found only if chains stay the same
        StreamTableEnvironment tables = StreamTableEnvironment.create(env);
        tables.executeSql(
                "CREATE TABLE bids (auction INT, price BIGINT) WITH ("
                        + "'connector' = 'datagen', 'rows-per-second' = '" + args[0] + "', "
                        + "'fields.auction.min' = '0', 'fields.auction.max' = '15', "
                        + "'fields.price.min' = '1', 'fields.price.max' = '1000000')");
        tables.executeSql(
                "CREATE TABLE results (auction INT, bids BIGINT, highest BIGINT, "
                        + "PRIMARY KEY (auction) NOT ENFORCED) WITH ('connector' = 'print')");
        StreamStatementSet statements = tables.createStatementSet();
        statements.addInsertSql(
                "INSERT INTO results SELECT auction, COUNT(*), MAX(price * 908 / 1000) "
                        + "FROM bids WHERE price > 10 GROUP BY auction");
        statements.attachAsDataStream();
        StreamGraph graph = env.getStreamGraph();
        StreamplaceMapping.apply(env, graph, "");
        graph.setJobName("bids");
        env.execute(graph);
    }
}
