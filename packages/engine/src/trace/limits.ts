// What a trace may hold. The writer stays inside these bounds and the reader refuses whatever
// is outside, so that garbage with a valid checksum cannot ask for more memory than this.

/** One text in its encoded form: an id, a fingerprint, an error message. */
export const MAX_TEXT_BYTES: number = 1 << 20;

/**
 * Code units of all texts that one shape, profile or row names. A name takes two bytes and its
 * text a million, and the engine builds keys out of all of them.
 */
export const MAX_BODY_TEXT: number = 1 << 20;

/** One frame, and so one entry. A reader over chunks buffers at most this much. */
export const MAX_FRAME_BYTES: number = 1 << 24;

/** Rows of one cluster's roll-up. */
export const MAX_ROLLUP_ROWS: number = 1 << 18;

/** What the reader holds in all dictionaries together, between two resets. */
export const MAX_DICTIONARY_ENTRIES: number = 1 << 22;
export const MAX_DICTIONARY_BYTES: number = 1 << 26;

/**
 * The writer starts its dictionaries afresh at these sizes: a trace that runs for weeks must not
 * keep every id and row that ever existed. Far below the reader's bounds, because one entry may
 * still add its own definitions.
 */
export const WRITER_DICTIONARY_ENTRIES: number = 1 << 20;
export const WRITER_DICTIONARY_BYTES: number = 1 << 25;

/** A frame is handed to the sink when it reaches this size, and before every cycle. */
export const FRAME_FLUSH_BYTES: number = 1 << 16;

/** A cycle with more actions than this is recorded by its hash alone. */
export const MAX_RECORDED_ACTIONS = 4096;

/**
 * Why a recorder gave up. A trace with a hole would replay to something else, and a run must not suffer
 * because it is recorded: so the trace ends here, says why, and the run goes on.
 */
export type RecordingProblem =
  | 'number_is_nan'
  | 'text_too_long'
  | 'resource_out_of_range'
  | 'priority_out_of_range'
  | 'arrival_out_of_range'
  | 'profile_not_canonical'
  | 'too_many_rows'
  | 'entry_too_large'
  | 'cycle_threw'
  | 'sink_failed';
