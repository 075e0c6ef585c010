// CRC-32C (Castagnoli), continued from an earlier value so that frames form a chain: a frame
// that is flipped, cut, dropped, doubled or moved no longer fits its predecessor. It detects
// accidents; it is no protection against somebody who wants to forge a trace.

const POLYNOMIAL = 0x82f6_3b78;
const table: Uint32Array = buildTable();

/** Of `bytes` as the continuation of what gave `start`; 0 starts afresh. */
export function crc32c(bytes: Uint8Array, start = 0): number {
  let crc = ~start;
  for (let at = 0; at < bytes.length; at++) {
    crc = (crc >>> 8) ^ table[(crc ^ bytes[at]!) & 0xff]!;
  }
  return ~crc >>> 0;
}

function buildTable(): Uint32Array {
  const built = new Uint32Array(256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    built[byte] = crc >>> 0;
  }
  return built;
}
