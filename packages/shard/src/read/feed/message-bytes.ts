// Messages put together out of parts that are encoded already: a row is encoded once and sent to
// every reader. Fields of one message may stand in any order and repeated ones add up, so encoded
// pieces of a message can simply be joined; a message inside another needs its tag and length.

const LENGTH_DELIMITED = 2;

/** A field of a message, bytes or string type. */
export function field(number: number, content: Uint8Array): Uint8Array {
  const head = [...varint(number * 8 + LENGTH_DELIMITED), ...varint(content.length)];
  const bytes = new Uint8Array(head.length + content.length);
  bytes.set(head);
  bytes.set(content, head.length);
  return bytes;
}

export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80);
  return [...bytes, rest];
}
