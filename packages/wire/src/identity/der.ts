// A reader for the little of DER that identity needs: definite lengths, one-byte tags.
// Anything else throws DerError; certificates that reach it have passed OpenSSL's
// verification already, so this refuses more than it has to.

export class DerError extends Error {
  override readonly name = 'DerError';
}

export interface DerElement {
  readonly tag: number;
  readonly content: Uint8Array;
}

/** Reads the elements that follow each other in `bytes`, to the last byte. */
export function readAll(bytes: Uint8Array): DerElement[] {
  const elements: DerElement[] = [];
  let at = 0;
  while (at < bytes.length) {
    const { element, end } = readOne(bytes, at);
    elements.push(element);
    at = end;
  }
  return elements;
}

function readOne(bytes: Uint8Array, start: number): { element: DerElement; end: number } {
  const tag = byteAt(bytes, start);
  if ((tag & 0x1f) === 0x1f) throw new DerError('multi-byte tag');
  const { length, at } = readLength(bytes, start + 1);
  const end = at + length;
  if (end > bytes.length) throw new DerError('element runs past its parent');
  return { element: { tag, content: bytes.subarray(at, end) }, end };
}

function readLength(bytes: Uint8Array, start: number): { length: number; at: number } {
  const first = byteAt(bytes, start);
  if (first < 0x80) return { length: first, at: start + 1 };
  const count = first & 0x7f;
  // Four bytes cover every certificate; the indefinite form (0x80) is not DER.
  if (count === 0 || count > 4) throw new DerError('length form');
  let length = 0;
  for (let i = 1; i <= count; i++) length = length * 256 + byteAt(bytes, start + i);
  return { length, at: start + 1 + count };
}

function byteAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at];
  if (byte === undefined) throw new DerError('truncated');
  return byte;
}
