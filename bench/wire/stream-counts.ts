// What the processes of wire/streams-5k tell the bench.

export interface StreamCounts {
  readonly streams: number;
  readonly connections: number;
}

export interface ServerMemory {
  readonly rssBytes: number;
  /** Heap and external memory after a full collection. */
  readonly liveBytes: number;
}

export function parseCounts(answer: unknown): StreamCounts {
  return { streams: numberAt(answer, 'streams'), connections: numberAt(answer, 'connections') };
}

export function parseMemory(answer: unknown): ServerMemory {
  return { rssBytes: numberAt(answer, 'rssBytes'), liveBytes: numberAt(answer, 'liveBytes') };
}

export function parseDurations(answer: unknown): readonly number[] {
  if (!Array.isArray(answer)) throw new Error('not a list of durations');
  return answer.map(Number);
}

function numberAt(answer: unknown, key: string): number {
  const entries: [string, unknown][] = Object.entries(answer ?? {});
  const found = new Map(entries).get(key);
  if (typeof found !== 'number') throw new Error(`the answer has no ${key}`);
  return found;
}
