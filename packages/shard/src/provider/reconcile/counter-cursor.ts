// What can be told about a provider by two of its cursors. They are opaque, but foreign ones are
// commonly the decimal of a counter without an incarnation, and a counter that went back belongs to a
// provider that lost its state: it would answer the old cursor with nothing for as long as it takes
// to count that far again.

/** 2⁶⁴ has 20 digits; what is longer is no counter. */
const COUNTER = /^[0-9]{1,20}$/;

/** Whether a provider that had answered with `before` cannot have come to `after`. */
export function isSetBack(after: Uint8Array, before: Uint8Array): boolean {
  const [now, then] = [counterOf(after), counterOf(before)];
  // A provider that counts in another way is another provider.
  if (now === undefined || then === undefined) return now !== then;
  return now < then;
}

function counterOf(cursor: Uint8Array): bigint | undefined {
  const text = Buffer.from(cursor.buffer, cursor.byteOffset, cursor.byteLength).toString('latin1');
  return COUNTER.test(text) ? BigInt(text) : undefined;
}
