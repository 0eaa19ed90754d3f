import java.util.concurrent.SynchronousQueue;

/** A loop with a known number of instructions, which no compiler can remove. */
final class Work {
    /** Three shifts, three exclusive ors, one addition, one branch. */
    static final int INSTRUCTIONS = 8;

    private static final long BURST = 100_000_000; // instructions, as for one tuple of an operator
    private static final long PAUSE_MS = 400; // long enough to hardly slow down the operators

    /** Speed of this process relative to the machine's; a slower one does more for a tuple. */
    private static final double SPEED =
            Double.parseDouble(System.getProperty("streamplace.speed", "1"));

    private Work() {}

    /** Executes about that many instructions; the result depends on all of them. */
    static long run(long instructions, long seed) {
        long x = seed | 1;
        for (long i = (long) (instructions / INSTRUCTIONS / SPEED); i > 0; i--) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }

    /**
     * Prints the MIPS of a core as operators experience it. The argument is the time in seconds.
     *
     * <p>An operator's busy time starts when a tuple arrives, so it includes the time until its
     * thread gets a core. This measures the same: one thread hands over work, and another does it.
     */
    public static void main(String[] args) throws InterruptedException {
        SynchronousQueue<Long> handed = new SynchronousQueue<>();
        SynchronousQueue<Long> finished = new SynchronousQueue<>();
        Thread worker = new Thread(() -> work(handed, finished));
        worker.setDaemon(true);
        worker.start();
        for (int i = 0; i < 50; i++) { // until the loop is compiled
            handed.put(0L);
            finished.take();
        }
        long until = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
        double done = 0;
        long spent = 0;
        while (System.nanoTime() < until) {
            long begin = System.nanoTime();
            handed.put(begin);
            spent += finished.take() - begin;
            done += BURST;
            Thread.sleep(PAUSE_MS);
        }
        System.out.println(done * 1e3 / spent);
    }

    private static void work(SynchronousQueue<Long> handed, SynchronousQueue<Long> finished) {
        long x = 1;
        try {
            while (x != 0) { // always true, which the compiler cannot know
                x = run(BURST, x + handed.take());
                finished.put(System.nanoTime());
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }
}
