// One Watch stream: hello, a snapshot unless the cursor can be resumed, then the deltas. Pulled by
// the transport: a reader that does not read stops here and holds up nothing. Whoever falls behind
// is told so and goes on with a snapshot.

import { BigFleetError, sleep } from '@bigfleet/base';
import type { WatchRequest } from '@bigfleet/wire';
import type { ReadSources } from './read-sources.ts';
import { type CycleChanges, mergeChanges } from './feed/cycle-changes.ts';
import type { Feed } from './feed/feed.ts';
import {
  decodeCursor,
  helloFrame,
  laggedFrame,
  recordFrame,
  snapshotEndFrame,
  snapshotFrame,
} from './feed/frames.ts';
import type { FeedReader } from './feed/reader.ts';
import { Selection } from './feed/selection.ts';

const ROWS_PER_FRAME = 250;
const SCANNED_PER_TURN = 5_000;

export async function* watch(
  sources: ReadSources,
  request: WatchRequest,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const { feed } = sources.reading;
  const reader = feed.open(new Selection(request));
  try {
    yield* new WatchStream(sources, reader, signal).frames(request.cursor);
  } finally {
    feed.close(reader);
  }
}

class WatchStream {
  readonly #sources: ReadSources;
  readonly #feed: Feed;
  readonly #reader: FeedReader;
  readonly #signal: AbortSignal;
  #lastSentMs = Number.NEGATIVE_INFINITY;
  /** What gathered during a snapshot is sent as one. */
  #isCatchingUp = false;

  constructor(sources: ReadSources, reader: FeedReader, signal: AbortSignal) {
    this.#sources = sources;
    this.#feed = sources.reading.feed;
    this.#reader = reader;
    this.#signal = signal;
  }

  async *frames(cursor: Uint8Array): AsyncGenerator<Uint8Array, void> {
    const isResumed = await this.#begin(cursor);
    yield this.#hello(isResumed);
    if (!isResumed) yield* this.#snapshot();
    while (!this.#signal.aborted) {
      if (this.#feed.isClosed) {
        throw new BigFleetError('unavailable', 'the shard is stopping');
      }
      const waiting = this.#feed.log.since(this.#reader.cycle);
      if (this.#reader.isLagged || waiting === undefined) yield* this.#fallBack();
      else if (waiting.length === 0) await this.#reader.woken(this.#signal);
      else if (await this.#isPaced()) yield* this.#deltas(waiting);
    }
  }

  /** True when the reader goes on from its cursor. */
  async #begin(cursor: Uint8Array): Promise<boolean> {
    const feed = this.#feed;
    const { epoch } = this.#sources;
    const { hasNeeds, rows, shareKey } = this.#reader.selection;
    if (hasNeeds) await feed.startNeeds();
    const resumed = decodeCursor(cursor);
    this.#reader.cycle = feed.log.newestCycle;
    if (resumed === undefined || resumed.epoch !== epoch || resumed.rows !== rows) return false;
    // Deltas of before the needs were watched do not hold them.
    if (hasNeeds && resumed.cycle < feed.needsFromCycle) return false;
    // Which machines of its clusters a reader knew is not remembered for it.
    if (shareKey === undefined || !feed.log.holds(resumed.cycle)) return false;
    this.#reader.cycle = resumed.cycle;
    return true;
  }

  #hello(isResumed: boolean): Uint8Array {
    const { shardId, epoch } = this.#sources;
    const { cycle } = this.#reader;
    return helloFrame(
      { shardId, shardEpoch: epoch, cycle: BigInt(cycle), resumed: isResumed },
      isResumed ? { epoch, cycle, rows: this.#reader.selection.rows } : undefined,
    );
  }

  async *#fallBack(): AsyncGenerator<Uint8Array, void> {
    const { log } = this.#feed;
    yield laggedFrame(log.newestCycle - this.#reader.cycle);
    this.#reader.cycle = log.newestCycle;
    yield* this.#snapshot();
  }

  async *#snapshot(): AsyncGenerator<Uint8Array, void> {
    const { epoch } = this.#sources;
    const reader = this.#reader;
    reader.isInSnapshot = true;
    reader.isLagged = false;
    reader.selection.restart();
    const totals = { machines: 0, needs: 0 };
    if (reader.selection.hasMachines) {
      for await (const rows of this.#machineRows()) {
        totals.machines += rows.length;
        yield snapshotFrame('machines', rows);
      }
    }
    if (reader.selection.hasNeeds) {
      for (const rows of this.#needRows()) {
        totals.needs += rows.length;
        yield snapshotFrame('needs', rows);
      }
    }
    reader.isInSnapshot = false;
    this.#isCatchingUp = true;
    yield snapshotEndFrame(totals, { epoch, cycle: reader.cycle, rows: reader.selection.rows });
  }

  async *#machineRows(): AsyncGenerator<readonly Uint8Array[], void> {
    const { fleet, reading, runtime } = this.#sources;
    const { selection } = this.#reader;
    let rows: Uint8Array[] = [];
    for (let slot = 0; slot < fleet.inventory.slotCount; slot++) {
      if (slot % SCANNED_PER_TURN === SCANNED_PER_TURN - 1) await runtime.timers.turn();
      const id = fleet.inventory.ids[slot] ?? '';
      if (id === '' || !selection.showsMachine(id, fleet.known.clusterOf(slot))) continue;
      rows.push(reading.views.encoded(slot));
      if (rows.length < ROWS_PER_FRAME) continue;
      yield rows;
      rows = [];
      await runtime.timers.turn();
    }
    if (rows.length > 0) yield rows;
  }

  *#needRows(): Generator<readonly Uint8Array[], void> {
    const { selection } = this.#reader;
    let rows: Uint8Array[] = [];
    for (const { ref, bytes } of this.#feed.needs.rows()) {
      if (bytes === undefined || !selection.isOfCluster(ref.cluster)) continue;
      rows.push(bytes);
      if (rows.length < ROWS_PER_FRAME) continue;
      yield rows;
      rows = [];
    }
    if (rows.length > 0) yield rows;
  }

  /** False when the interval is not over: what gathers meanwhile is merged. */
  async #isPaced(): Promise<boolean> {
    const { runtime } = this.#sources;
    const { minIntervalMs } = this.#reader.selection;
    const leftMs = this.#lastSentMs + minIntervalMs - runtime.clock.monotonicMs();
    if (leftMs <= 0) return true;
    await sleep(runtime, leftMs, this.#signal).catch(() => undefined);
    return false;
  }

  async *#deltas(waiting: readonly CycleChanges[]): AsyncGenerator<Uint8Array, void> {
    const { runtime } = this.#sources;
    const { selection } = this.#reader;
    const isMerged = this.#isCatchingUp || selection.minIntervalMs > 0;
    this.#isCatchingUp = false;
    this.#lastSentMs = runtime.clock.monotonicMs();
    const taken = isMerged ? waiting : waiting.slice(0, 1);
    const changes = mergeChanges(taken);
    if (changes === undefined) return;
    if (selection.hasRecords) {
      for (const record of changes.records) yield recordFrame(record);
    }
    // The place moves with the frame that carries its cursor, not before.
    const frame = this.#feed.log.frameOf(changes, selection);
    this.#reader.cycle = changes.cycle;
    yield frame;
  }
}
