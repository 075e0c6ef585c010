// Segment files in memory: what a simulation gives a shard for its records.

import { compareText } from '@bigfleet/base';
import { type SegmentFiles, segmentKindOf } from '../segment-files.ts';

export class MemorySegments implements SegmentFiles {
  readonly #files = new Map<string, Uint8Array[]>();

  async list(): ReturnType<SegmentFiles['list']> {
    const named = [...this.#files].sort(([a], [b]) => compareText(a, b));
    return named.flatMap(([name, parts]) => {
      const kind = segmentKindOf(name);
      const bytes = parts.reduce((sum, part) => sum + part.length, 0);
      return kind === undefined ? [] : [{ name, kind, bytes }];
    });
  }

  async create(name: string): ReturnType<SegmentFiles['create']> {
    const parts: Uint8Array[] = [];
    this.#files.set(name, parts);
    return {
      append: async (bytes) => {
        parts.push(bytes.slice());
      },
      close: async () => {},
    };
  }

  async read(name: string, bytes?: number): Promise<Uint8Array> {
    const whole = Buffer.concat(this.#files.get(name) ?? []);
    return bytes === undefined ? whole : whole.subarray(0, bytes);
  }

  async remove(name: string): Promise<void> {
    this.#files.delete(name);
  }
}
