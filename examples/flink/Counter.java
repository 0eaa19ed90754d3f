import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** Parks for each tuple, and emits a line with its number and the count of its key. */
final class Counter<T> extends KeyedProcessFunction<Long, T, String> {
    private final ShapedJob.Effort effort;
    private final KeySelector<T, Long> number;
    private transient ValueState<Long> count;

    Counter(ShapedJob.Effort effort, KeySelector<T, Long> number) {
        this.effort = effort;
        this.number = number;
    }

    @Override
    public void open(OpenContext context) {
        count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
    }

    @Override
    public void processElement(T tuple, Context context, Collector<String> out) throws Exception {
        effort.spend(number.getKey(tuple));
        long next = count.value() == null ? 1 : count.value() + 1;
        count.update(next);
        out.collect(line(number.getKey(tuple), next));
    }

    /** A result: the tuple's number, a value, and when it was made. */
    static String line(long number, long value) {
        return number + " " + value + " " + System.currentTimeMillis();
    }
}
