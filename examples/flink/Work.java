import java.util.concurrent.SynchronousQueue;

/** A loop of a known number of instructions, which no compiler can leave out. */
final class Work {
    /** Three shifts, three exclusive ors, one addition, one branch. */
    static final int INSTRUCTIONS = 8;

    private static final long BURST = 100_000_000; // what an operator does for a tuple
    private static final long PAUSE_MS = 400; // so that it hardly stands in the operators' way

    private Work() {}

    /** Does about that many instructions; the answer depends on all of them. */
    static long run(long instructions, long seed) {
        long x = seed | 1;
        for (long i = instructions / INSTRUCTIONS; i > 0; i--) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }

    /**
     * Prints the MIPS of a core as operators find it, over some seconds.
     *
     * <p>An operator's busy time begins when a tuple is there for it, so it holds the time until its
     * thread has a core. Here too: one thread hands over work, the other does it.
     */
    public static void main(String[] args) throws InterruptedException {
        SynchronousQueue<Long> handed = new SynchronousQueue<>();
        SynchronousQueue<Long> finished = new SynchronousQueue<>();
        Thread worker = new Thread(() -> work(handed, finished));
        worker.setDaemon(true);
        worker.start();
        for (int i = 0; i < 50; i++) { // until it is compiled
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
            while (x != 0) { // which it never is: the compiler cannot know
                x = run(BURST, x + handed.take());
                finished.put(System.nanoTime());
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }
}
