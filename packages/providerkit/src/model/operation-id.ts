// Operation ids: `<prefix>-<UUIDv7>`. Globally unique, because they serve as idempotency tokens of
// clouds: a per-process counter once adopted somebody else's machine after state loss (providers
// A4). Time and randomness come from the runtime, so simulations replay.

import type { Runtime } from '@bigfleet/base';

const NANOS_PER_MS = 1_000_000n;
const VERSION_7 = 0x70;
const VARIANT = 0x80;

export function operationId(runtime: Pick<Runtime, 'clock' | 'entropy'>, prefix: string): string {
  return `${prefix}-${uuidV7(runtime)}`;
}

export function uuidV7(runtime: Pick<Runtime, 'clock' | 'entropy'>): string {
  const bytes = Buffer.from(runtime.entropy.bytes(16));
  // Wrapped, so that a clock set before 1970 gives an odd id instead of no service.
  const ms = BigInt.asUintN(48, runtime.clock.unixNanos() / NANOS_PER_MS);
  bytes.writeUIntBE(Number(ms), 0, 6);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | VERSION_7;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | VARIANT;
  const hex = bytes.toString('hex');
  const groups = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)];
  return `${groups.join('-')}-${hex.slice(20)}`;
}
