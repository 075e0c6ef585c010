// A bootstrap blob in hand: a join credential, so it is a Secret by type and lives only between its
// receipt and Configure. It is never cached across actions (shard §4.4).

import type { Secret } from '@bigfleet/telemetry';

export interface BootstrapBlob {
  readonly userData: Secret<Uint8Array>;
  readonly receivedAtMs: number;
  /** Monotonic; undefined when the operator set no lifetime: then use it at once. */
  readonly expiresAtMs: number | undefined;
}

/** Ask right before Configure begins; a stale blob is pulled again, never applied. */
export function isFresh(blob: BootstrapBlob, nowMs: number): boolean {
  return blob.expiresAtMs === undefined || nowMs < blob.expiresAtMs;
}
