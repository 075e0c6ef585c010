// The resume cursor: which process, up to which cycle a reader knows everything, and of which rows:
// who asks for more when it comes back would miss what it never had. Opaque to readers; what cannot
// be read is no cursor, and the reader starts with a snapshot.

const BYTES = 17;

export interface Cursor {
  readonly epoch: bigint;
  readonly cycle: number;
  /** Bits: 1 machines, 2 needs. */
  readonly rows: number;
}

export function encodeCursor({ epoch, cycle, rows }: Cursor): Uint8Array {
  const bytes = new Uint8Array(BYTES);
  const view = new DataView(bytes.buffer);
  view.setBigInt64(0, epoch);
  view.setBigInt64(8, BigInt(cycle));
  view.setUint8(16, rows);
  return bytes;
}

export function decodeCursor(bytes: Uint8Array): Cursor | undefined {
  if (bytes.length !== BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const cycle = view.getBigInt64(8);
  if (cycle < 0n || cycle > BigInt(Number.MAX_SAFE_INTEGER)) return undefined;
  return { epoch: view.getBigInt64(0), cycle: Number(cycle), rows: view.getUint8(16) };
}
