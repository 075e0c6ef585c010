// Protobuf by hand: fields in any order, number, wire type and spelling, which no encoder writes
// and a hostile peer may. Also splits a List into its records, slowly and independently of the
// decoder under test.

/** `padding` bytes more than needed: legal, if odd, up to ten in all. */
export function varint(value: bigint, padding = 0): number[] {
  const bytes: number[] = [];
  let rest = value;
  do {
    bytes.push(Number(rest & 0x7fn));
    rest >>= 7n;
  } while (rest > 0n);
  for (let count = 0; count < padding; count++) bytes.push(0);
  return bytes.map((byte, at) => (at < bytes.length - 1 ? byte | 0x80 : byte));
}

export function tag(number: number, wireType: number, padding = 0): number[] {
  return varint(BigInt(number) * 8n + BigInt(wireType), padding);
}

export function delimited(number: number, payload: readonly number[], padding = 0): number[] {
  return [...tag(number, 2), ...varint(BigInt(payload.length), padding), ...payload];
}

export function textField(number: number, text: string): number[] {
  return delimited(number, [...Buffer.from(text, 'utf8')]);
}

export function entryField(number: number, key: string, value: string): number[] {
  return delimited(number, [...textField(1, key), ...textField(2, value)]);
}

export function doubleField(number: number, value: number): number[] {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return [...tag(number, 1), ...bytes];
}

export function listOf(...machines: readonly (readonly number[])[]): Uint8Array {
  return Uint8Array.from(machines.flatMap((machine) => delimited(1, machine)));
}

/** Every record's bytes, or undefined when the outer message is malformed. */
export function splitList(bytes: Uint8Array): Uint8Array[] | undefined {
  const records: Uint8Array[] = [];
  let at = 0;
  const next = (): bigint | undefined => {
    let value = 0n;
    for (let index = 0; index < 10; index++) {
      const byte = bytes[at++];
      if (byte === undefined) return undefined;
      value |= BigInt(byte & 0x7f) << BigInt(7 * index);
      if (byte < 0x80) return value;
    }
    return undefined;
  };
  while (at < bytes.length) {
    const start = at;
    const key = next();
    if (key === undefined || at - start > 5 || key < 8n || key > 0xffff_ffffn) return undefined;
    const [number, wireType] = [key >> 3n, Number(key & 7n)];
    if (number <= 2n && wireType !== 2) return undefined;
    const length = wireType === 1 ? 8n : wireType === 5 ? 4n : wireType > 2 ? undefined : next();
    if (length === undefined) return undefined;
    const from = at;
    if (wireType !== 0) at += Number(length);
    if (at > bytes.length) return undefined;
    if (number === 1n) records.push(bytes.subarray(from, at));
  }
  return records;
}
