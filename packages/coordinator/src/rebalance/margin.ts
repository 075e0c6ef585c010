// How much a donor can spare. It keeps a margin of what is its own, at least one; what it drained
// for the recipient is not its own and goes in full.

/** Keeps `0.1 × 70` from being eight machines. */
const ROUNDING = 1e-9;

export function spareOf(available: number, reserved: number, marginFraction: number): number {
  const promised = Math.min(reserved, Math.max(0, available));
  const own = available - promised;
  const margin = Math.max(1, Math.ceil(marginFraction * own - ROUNDING));
  return promised + Math.max(0, own - margin);
}
