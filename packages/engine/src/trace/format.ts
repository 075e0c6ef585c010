// The trace format, version 2. A trace is a header and frames, appended and never rewritten:
//
//   header   magic (8 bytes) · version (u16) · zero (u16) · CRC of the twelve bytes (u32)
//   frame    length (u32) · CRC of the length (u32) · payload · CRC of the payload (u32)
//
// Numbers are little-endian. Every CRC continues the one before it, so frames form a chain from
// the header on. The length has its own CRC: without it a flipped length would look like a torn
// tail, or make the reader wait for bytes that never come.
//
// A payload is a sequence of records, each an operation (one byte) and its fields. Definitions
// fill dictionaries (texts, resource vectors, shapes, assignments, profiles, need rows) from 1
// on; later records name the entries by number. 0 is the empty text and no resources. Machine
// ids and host references stand in the entries themselves, coded against the one before. Times
// are differences to the time before.
//
// Grammar: snapshot entries, `snapshotEnd`, then inputs; a `decided` only right behind its
// `cycle`; nothing behind `end`. A newer layout gets a new version, and older readers say so.

export const TRACE_MAGIC: Uint8Array = Uint8Array.of(0x42, 0x46, 0x54, 0x52, 0x41, 0x43, 0x45, 10);
/** 2 adds brakes. */
export const TRACE_VERSION = 2;
/** Traces of earlier builds stay readable. */
export const OLDEST_TRACE_VERSION = 1;
export const HEADER_BYTES = 16;
export const FRAME_HEAD_BYTES = 8;
export const FRAME_TAIL_BYTES = 4;

export const Op = {
  defineText: 1,
  defineResources: 2,
  defineShape: 3,
  defineAssignment: 4,
  defineProfile: 5,
  defineNeed: 6,
  /** Empties every dictionary: a long trace starts them afresh. */
  reset: 7,
  put: 16,
  remove: 17,
  move: 18,
  withhold: 19,
  idleSince: 20,
  rollup: 21,
  reported: 22,
  heldOff: 23,
  releasePolicy: 24,
  cycle: 25,
  decided: 26,
  brakes: 27,
  /** Snapshot only: demand of a cluster that need not have reported. */
  demand: 32,
  parking: 33,
  shortfall: 34,
  snapshotEnd: 35,
  end: 48,
} as const;

/** A machine's fields in one byte beside its state (low four bits). */
export const WITHHELD_SHIFT = 4;
export const HAS_HOST = 0x40;
export const HAS_BINDING = 0x80;

/** Which changes a move carries. */
export const MoveBit = {
  host: 1,
  cluster: 2,
  lastError: 4,
  assigned: 8,
  intendedCluster: 16,
} as const;

/** What a cycle says about quotas. */
export const QuotaForm = { none: 0, unchanged: 1, listed: 2 } as const;

export const EndCode = { closed: 0, abandoned: 1 } as const;
