/** A bid of an auction, or its opening; its number determines the rest. Flink needs a POJO. */
public final class Bid {
    static final long AUCTIONS = 1009; // prime, so that numbers in a row are of different auctions
    static final long PRICES = 10_000;
    static final long BIDDERS = 211;
    private static final long SQUARES = 10_007; // prime, so that bidders come irregularly
    private static final int[] BY_SHARE = byShare();

    public long number;
    public long auction;
    public long bidder;
    public long price;

    static Bid of(long number, long auction) {
        Bid bid = new Bid();
        bid.number = number;
        bid.auction = auction;
        bid.bidder = number % SQUARES * (number % SQUARES) % SQUARES % BIDDERS;
        bid.price = 100 + number * 7919 % PRICES;
        return bid;
    }

    /** All auctions get the same number of bids. */
    static Bid even(long number) {
        return of(number, number * 7 % AUCTIONS);
    }

    /** The auctions' shares are those of Zipf's law: that of the k-th is nearly 1/k of the first. */
    static Bid skewed(long number) {
        return of(number, BY_SHARE[(int) (number * 7919 % BY_SHARE.length)]);
    }

    /** Every eighth tuple opens an auction, and others bid for one of the last five. */
    static Bid opening(long number) {
        return of(number, number / 8 - (number % 8 == 0 ? 0 : number * 7 % 5));
    }

    boolean opens() {
        return number % 8 == 0;
    }

    private static int[] byShare() {
        int length = 0;
        for (int k = 1; k <= AUCTIONS; k++) {
            length += (int) AUCTIONS / k;
        }
        int[] found = new int[length];
        int at = 0;
        for (int k = 1; k <= AUCTIONS; k++) {
            for (int i = 0; i < AUCTIONS / k; i++) {
                found[at++] = k - 1;
            }
        }
        return found;
    }
}
