// Reads sample files, also of processes that died while writing: damage is skipped and reported,
// never guessed at.

import { readFile } from 'node:fs/promises';
import { type Block, blockAt, decodeSamples, nextMagic } from './format.ts';

export interface SeriesSamples {
  /** Unix milliseconds, fractional, by the wall clock at the start of the session. */
  readonly startUnixMs: Float64Array;
  readonly seconds: Float64Array;
}

export interface SamplesRead {
  readonly series: ReadonlyMap<string, SeriesSamples>;
  /** A process that restarted appends a session. */
  readonly sessionCount: number;
  /** What the writers say they could not write. */
  readonly droppedCount: number;
  readonly damagedBytes: number;
}

export async function readSamples(path: string): Promise<SamplesRead> {
  const bytes = await readFile(path);
  const collected = new CollectedSamples();
  let damagedBytes = 0;
  for (let offset = 0; offset < bytes.length; ) {
    const found = blockAt(bytes, offset);
    const end = found?.end ?? nextMagic(bytes, offset);
    if (found === undefined) damagedBytes += end - offset;
    else collected.take(found.block);
    offset = end;
  }
  return { ...collected.result(), damagedBytes };
}

class CollectedSamples {
  readonly #series = new Map<string, { startUnixMs: number[]; seconds: number[] }>();
  #names = new Map<number, string>();
  #sessionCount = 0;
  #wallMinusMonotonicMs = 0;
  #droppedInEarlierSessions = 0;
  #droppedInSession = 0;

  take({ kind, payload }: Block): void {
    if (kind === 'samples') {
      if (this.#sessionCount > 0) this.#addSamples(payload);
      return;
    }
    const fields = parseFields(payload);
    if (kind === 'session') this.#beginSession(fields);
    else if (kind === 'series') this.#names.set(number(fields['id']), String(fields['name']));
    else this.#droppedInSession = number(fields['count']);
  }

  result(): Omit<SamplesRead, 'damagedBytes'> {
    const series = [...this.#series].map(([name, { startUnixMs, seconds }]) => {
      const columns = {
        startUnixMs: Float64Array.from(startUnixMs),
        seconds: Float64Array.from(seconds),
      };
      return [name, columns] as const;
    });
    return {
      series: new Map(series),
      sessionCount: this.#sessionCount,
      droppedCount: this.#droppedInEarlierSessions + this.#droppedInSession,
    };
  }

  #addSamples(payload: Buffer): void {
    const { startMs, seconds, seriesIds, count } = decodeSamples(payload);
    for (let at = 0; at < count; at++) {
      // Undefined when damage swallowed the series' definition.
      const name = this.#names.get(seriesIds[at] ?? -1);
      if (name === undefined) continue;
      const series = this.#series.get(name) ?? { startUnixMs: [], seconds: [] };
      this.#series.set(name, series);
      series.startUnixMs.push((startMs[at] ?? 0) + this.#wallMinusMonotonicMs);
      series.seconds.push(seconds[at] ?? 0);
    }
  }

  #beginSession(fields: Readonly<Record<string, unknown>>): void {
    this.#sessionCount++;
    this.#droppedInEarlierSessions += this.#droppedInSession;
    this.#droppedInSession = 0;
    this.#names = new Map();
    const text = String(fields['unixNanos']);
    const nanos = /^\d{1,20}$/.test(text) ? BigInt(text) : 0n;
    this.#wallMinusMonotonicMs = Number(nanos / 1_000n) / 1_000 - number(fields['monotonicMs']);
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
