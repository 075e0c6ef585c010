// The resume cursor: which process, and up to which cycle a reader knows everything. Opaque to
// readers; what cannot be read is no cursor, and the reader starts with a snapshot.

const BYTES = 16;

export interface Cursor {
  readonly epoch: bigint;
  readonly cycle: number;
}

export function encodeCursor({ epoch, cycle }: Cursor): Uint8Array {
  const bytes = new Uint8Array(BYTES);
  const view = new DataView(bytes.buffer);
  view.setBigInt64(0, epoch);
  view.setBigInt64(8, BigInt(cycle));
  return bytes;
}

export function decodeCursor(bytes: Uint8Array): Cursor | undefined {
  if (bytes.length !== BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const cycle = view.getBigInt64(8);
  if (cycle < 0n || cycle > BigInt(Number.MAX_SAFE_INTEGER)) return undefined;
  return { epoch: view.getBigInt64(0), cycle: Number(cycle) };
}
