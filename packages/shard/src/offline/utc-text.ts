// A stamp as people read it; milliseconds are enough to tell cycles apart.

export function utcText(unixNanos: bigint): string {
  return new Date(Number(unixNanos / 1_000_000n)).toISOString();
}
