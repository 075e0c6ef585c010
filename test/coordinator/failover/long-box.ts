// The time box of a long file: BIGFLEET_LONG_MS, or as long as it takes when run alone.

const ALONE_MS = 20 * 60_000;

/** The share of the box that one of several loops of a file gets. */
export function longBoxMs(share: number = 1): number {
  return share * Number(process.env['BIGFLEET_LONG_MS'] ?? ALONE_MS);
}
