// Reads sample files, also of processes that died while writing: damage is skipped and reported,
// never guessed at. Reads block by block, so memory is bounded by one block; keeping the samples is
// the caller's choice (`readSamples` keeps them, `scanSamples` does not).

import { type FileHandle, open } from 'node:fs/promises';
import {
  type Block,
  blockAt,
  decodeSamples,
  HEADER_BYTES,
  nextMagic,
  type SampleColumns,
} from './format.ts';
import { type SampleSummary, summarise } from './summary.ts';

export interface SampleSession {
  /** From 0, in file order: a process that restarted appends a session. */
  readonly ordinal: number;
  readonly unixNanos: bigint;
  readonly monotonicMs: number;
}

export interface SampleBatch extends SampleColumns {
  readonly session: SampleSession;
  /** Name of a series id of this batch; undefined when damage swallowed its definition. */
  nameOf(seriesId: number): string | undefined;
}

export interface ScanResult {
  readonly sessions: readonly SampleSession[];
  /** What the writers say they could not write. */
  readonly droppedCount: number;
  readonly damagedBytes: number;
}

export interface SeriesSamples {
  readonly name: string;
  /** Unix milliseconds, fractional, by the wall clock at the start of the session. */
  readonly startUnixMs: Float64Array;
  readonly seconds: Float64Array;
  readonly summary: SampleSummary;
}

export interface SamplesRead extends ScanResult {
  readonly series: ReadonlyMap<string, SeriesSamples>;
}

const CHUNK_BYTES = 1024 * 1024;

export async function readSamples(path: string): Promise<SamplesRead> {
  const collected = new Map<string, { startUnixMs: number[]; seconds: number[] }>();
  const scan = await scanSamples(path, (batch) => {
    const wallMinusMonotonicMs =
      Number(batch.session.unixNanos / 1_000n) / 1_000 - batch.session.monotonicMs;
    for (let at = 0; at < batch.count; at++) {
      const name = batch.nameOf(batch.seriesIds[at] ?? -1);
      if (name === undefined) continue;
      const series = collected.get(name) ?? { startUnixMs: [], seconds: [] };
      collected.set(name, series);
      series.startUnixMs.push((batch.startMs[at] ?? 0) + wallMinusMonotonicMs);
      series.seconds.push(batch.seconds[at] ?? 0);
    }
  });
  const series = new Map<string, SeriesSamples>();
  for (const [name, { startUnixMs, seconds }] of collected) {
    const values = Float64Array.from(seconds);
    const summary = summarise(values);
    if (summary === undefined) continue;
    const starts = Float64Array.from(startUnixMs);
    series.set(name, { name, startUnixMs: starts, seconds: values, summary });
  }
  return { ...scan, series };
}

export async function scanSamples(
  path: string,
  visit: (batch: SampleBatch) => void,
): Promise<ScanResult> {
  const handle = await open(path, 'r');
  try {
    return await scan(handle, visit);
  } finally {
    await handle.close();
  }
}

async function scan(handle: FileHandle, visit: (batch: SampleBatch) => void): Promise<ScanResult> {
  const state = new ScanState(visit);
  let pending: Buffer = Buffer.alloc(0);
  let wanted = HEADER_BYTES;
  for (;;) {
    const chunk = Buffer.alloc(Math.max(CHUNK_BYTES, wanted));
    const { bytesRead } = await handle.read(chunk, 0, chunk.length);
    pending = Buffer.concat([pending, chunk.subarray(0, bytesRead)]);
    const atEnd = bytesRead === 0;
    const { consumed, needed } = state.consume(pending, atEnd);
    pending = pending.subarray(consumed);
    wanted = needed;
    if (atEnd) return state.result();
  }
}

class ScanState {
  readonly #visit: (batch: SampleBatch) => void;
  readonly #sessions: SampleSession[] = [];
  #names = new Map<number, string>();
  #droppedInEarlierSessions = 0;
  #droppedInSession = 0;
  #damagedBytes = 0;

  constructor(visit: (batch: SampleBatch) => void) {
    this.#visit = visit;
  }

  /** Takes every whole block; at the end of the file an unfinished one is damage. */
  consume(bytes: Buffer, atEnd: boolean): { consumed: number; needed: number } {
    let offset = 0;
    while (offset < bytes.length) {
      const at = blockAt(bytes, offset);
      if (at.found === 'block') {
        this.#take(at.block);
        offset = at.end;
      } else if (at.found === 'more' && !atEnd) {
        return { consumed: offset, needed: at.bytes };
      } else {
        const next = this.#afterDamage(bytes, offset, atEnd);
        this.#damagedBytes += next - offset;
        offset = next;
      }
    }
    return { consumed: offset, needed: HEADER_BYTES };
  }

  result(): ScanResult {
    return {
      sessions: this.#sessions,
      droppedCount: this.#droppedInEarlierSessions + this.#droppedInSession,
      damagedBytes: this.#damagedBytes,
    };
  }

  /** A magic may be cut in two by the end of the bytes, so its first part stays for the next read. */
  #afterDamage(bytes: Buffer, offset: number, atEnd: boolean): number {
    const next = nextMagic(bytes, offset);
    if (next >= 0) return next;
    return atEnd ? bytes.length : Math.max(offset + 1, bytes.length - 3);
  }

  #take(block: Block): void {
    if (block.kind === 'samples') {
      const session = this.#sessions.at(-1);
      const names = this.#names;
      if (session === undefined) return;
      this.#visit({ ...decodeSamples(block.payload), session, nameOf: (id) => names.get(id) });
      return;
    }
    const fields = parseFields(block.payload);
    if (block.kind === 'session') this.#beginSession(fields);
    else if (block.kind === 'series') this.#names.set(number(fields['id']), String(fields['name']));
    else this.#droppedInSession = number(fields['count']);
  }

  #beginSession(fields: Readonly<Record<string, unknown>>): void {
    this.#droppedInEarlierSessions += this.#droppedInSession;
    this.#droppedInSession = 0;
    this.#names = new Map();
    const nanos = String(fields['unixNanos']);
    this.#sessions.push({
      ordinal: this.#sessions.length,
      unixNanos: /^\d{1,20}$/.test(nanos) ? BigInt(nanos) : 0n,
      monotonicMs: number(fields['monotonicMs']),
    });
  }
}

/** The checksum held, so this is what a writer wrote; a foreign writer's nonsense reads as empty. */
function parseFields(payload: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(payload.toString('utf8'));
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function number(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}
