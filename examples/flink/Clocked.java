import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * The numbers 0, 1, 2, …, which fall due by the clock, whether or not a job runs. What is due and
 * not read yet waits, and is reported as pendingRecords, as a log such as Kafka does.
 *
 * <p>A file has lines "milliseconds tuples/s", the time since 1970 from which on a rate holds; it
 * may grow while the job runs. There is one split, so one instance reads.
 */
final class Clocked implements Source<Long, Clocked.Next, Long> {
    private static final long NONE = -1;
    private static final long PAUSE_MS = 5;

    private final String schedule;
    private final boolean reports;

    Clocked(String schedule) {
        this(schedule, true);
    }

    /** A source that reports what waits only if `reports`. */
    Clocked(String schedule, boolean reports) {
        this.schedule = schedule;
        this.reports = reports;
    }

    @Override
    public Boundedness getBoundedness() {
        return Boundedness.CONTINUOUS_UNBOUNDED;
    }

    @Override
    public SourceReader<Long, Next> createReader(SourceReaderContext context) {
        return new Reader(context, new Schedule(Path.of(schedule)), reports);
    }

    @Override
    public SplitEnumerator<Next, Long> createEnumerator(SplitEnumeratorContext<Next> context) {
        return new Giver(context, 0);
    }

    @Override
    public SplitEnumerator<Next, Long> restoreEnumerator(
            SplitEnumeratorContext<Next> context, Long next) {
        return new Giver(context, next);
    }

    @Override
    public SimpleVersionedSerializer<Next> getSplitSerializer() {
        return new Numbers<>() {
            @Override
            long number(Next split) {
                return split.number;
            }

            @Override
            Next of(long number) {
                return new Next(number);
            }
        };
    }

    @Override
    public SimpleVersionedSerializer<Long> getEnumeratorCheckpointSerializer() {
        return new Numbers<>() {
            @Override
            long number(Long next) {
                return next;
            }

            @Override
            Long of(long number) {
                return number;
            }
        };
    }

    /** The split: the number to be read next. */
    static final class Next implements SourceSplit {
        private final long number;

        Next(long number) {
            this.number = number;
        }

        @Override
        public String splitId() {
            return "numbers";
        }
    }

    /** Values that are one number. */
    private abstract static class Numbers<T> implements SimpleVersionedSerializer<T> {
        abstract long number(T value);

        abstract T of(long number);

        @Override
        public int getVersion() {
            return 1;
        }

        @Override
        public byte[] serialize(T value) {
            return ByteBuffer.allocate(Long.BYTES).putLong(number(value)).array();
        }

        @Override
        public T deserialize(int version, byte[] data) {
            return of(ByteBuffer.wrap(data).getLong());
        }
    }

    /** Gives the split to a reader. */
    private static final class Giver implements SplitEnumerator<Next, Long> {
        private final SplitEnumeratorContext<Next> context;
        private long next;

        Giver(SplitEnumeratorContext<Next> context, long next) {
            this.context = context;
            this.next = next;
        }

        @Override
        public void start() {}

        @Override
        public void handleSplitRequest(int reader, String host) {}

        @Override
        public void addSplitsBack(List<Next> splits, int reader) {
            splits.forEach(split -> next = split.number);
        }

        @Override
        public void addReader(int reader) {
            if (next != NONE) {
                context.assignSplit(new Next(next), reader);
                next = NONE;
            }
        }

        @Override
        public Long snapshotState(long checkpoint) {
            return next;
        }

        @Override
        public void close() {}
    }

    /** Emits what is due. */
    private static final class Reader implements SourceReader<Long, Next> {
        private final Schedule schedule;
        private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
        private volatile long next = NONE;

        Reader(SourceReaderContext context, Schedule schedule, boolean reports) {
            this.schedule = schedule;
            if (reports) {
                context.metricGroup().setPendingRecordsGauge(this::waiting);
            }
        }

        private long waiting() {
            return next == NONE ? 0 : Math.max(schedule.due(System.currentTimeMillis()) - next, 0);
        }

        @Override
        public void start() {}

        @Override
        public InputStatus pollNext(ReaderOutput<Long> output) {
            if (waiting() == 0) {
                return InputStatus.NOTHING_AVAILABLE;
            }
            output.collect(next);
            next++;
            return InputStatus.MORE_AVAILABLE;
        }

        @Override
        public CompletableFuture<Void> isAvailable() {
            CompletableFuture<Void> later = new CompletableFuture<>();
            timer.schedule(() -> later.complete(null), PAUSE_MS, TimeUnit.MILLISECONDS);
            return later;
        }

        @Override
        public List<Next> snapshotState(long checkpoint) {
            return next == NONE ? List.of() : List.of(new Next(next));
        }

        @Override
        public void addSplits(List<Next> splits) {
            splits.forEach(split -> next = split.number);
        }

        @Override
        public void notifyNoMoreSplits() {}

        @Override
        public void close() {
            timer.shutdownNow();
        }
    }

    /** The numbers that are due at a time, by the file as it is then. */
    private static final class Schedule {
        private static final long FRESH_MS = 50;

        private final Path file;
        private long readAt;
        private List<double[]> rates = List.of();

        Schedule(Path file) {
            this.file = file;
        }

        synchronized long due(long now) {
            if (now - readAt > FRESH_MS) {
                rates = read();
                readAt = now;
            }
            double sum = 0;
            for (int i = 0; i < rates.size(); i++) {
                double end = i + 1 < rates.size() ? Math.min(rates.get(i + 1)[0], now) : now;
                sum += Math.max(end - rates.get(i)[0], 0) / 1e3 * rates.get(i)[1];
            }
            return (long) sum;
        }

        private List<double[]> read() {
            List<double[]> found = new ArrayList<>();
            try {
                for (String line : Files.readAllLines(file)) {
                    String[] words = line.split(" ");
                    found.add(
                            new double[] {
                                Double.parseDouble(words[0]), Double.parseDouble(words[1])
                            });
                }
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
            return found;
        }
    }
}
