// What `/api/v1/stream` sends. `view` carries a whole answer, the newest wins; `decision` and `cycle` are
// events that must be neither lost nor doubled, so they alone carry an id, and a stream that comes back
// says which one it saw last. A stream that fell behind more than is kept gets `reset` and a new view.
//
// Asked with `view=<name>?<parameters>` (repeatable, at most 8), `after=<id>` or the header Last-Event-ID,
// and `cells=1` for `machines`: the cells of the fleet map that changed, between two whole answers.

import { z } from 'zod';
import { actionKind, count, decision, dollarsPerHour, source, state, unixMs } from './common.ts';

export const cycleEvent = z.object({
  shard: z.string(),
  epoch: z.string(),
  cycle: z.int(),
  atMs: unixMs,
  dollarsPerHour,
  shortfalls: count,
  actions: z.partialRecord(actionKind, count),
  machinesChanged: count,
});
export type CycleEvent = z.infer<typeof cycleEvent>;

/** Machines as they are now; those that went away are named apart. */
export const cellsEvent = z.object({
  shard: z.string(),
  changed: z.array(
    z.object({
      machine: z.string(),
      state,
      cluster: z.string(),
      dollarsPerHour,
      risk: z.number(),
      sinceMs: unixMs,
    }),
  ),
  removed: z.array(z.string()),
  /** More than are sent changed: read the map again. */
  isOverflow: z.boolean(),
});
export type CellsEvent = z.infer<typeof cellsEvent>;

/** The `event:` names and the JSON of their `data:`. */
export const streamEvents = {
  /** First of every stream. `id` is where it stands, `isResumed` whether nothing was missed. */
  hello: z.object({ id: z.string(), isResumed: z.boolean(), version: z.string(), nowMs: unixMs }),
  /** `view` is the text that was asked with, so that an answer finds its asker. */
  view: z.object({ view: z.string(), answer: z.unknown() }),
  /** A view that cannot be answered now; the stream goes on. */
  refused: z.object({ view: z.string(), code: z.string(), message: z.string() }),
  decision,
  cycle: cycleEvent,
  cells: cellsEvent,
  /** A source changed its state. */
  source,
  /** Events were missed: what was shown from them must be read again. */
  reset: z.object({ id: z.string() }),
  /** Every second without anything else: a silent stream is a broken one. */
  beat: z.object({ nowMs: unixMs }),
} as const;

export type StreamEventName = keyof typeof streamEvents;
export type StreamEvent<N extends StreamEventName> = z.infer<(typeof streamEvents)[N]>;

/** The body of every refusal, with a status of 4xx or 5xx. */
export const problem = z.object({ code: z.string(), message: z.string() });
export type Problem = z.infer<typeof problem>;
