// Comparing a shard_metadata map with what was stored: every key and value by its bytes, and the
// size both ways. A finding names the first key that differs and escapes what a terminal would
// swallow. No normalisation: two spellings of one glyph are two values.

import { ensure } from './expect.ts';
import type { MachineView, TextMap } from './machine.ts';

/** `where` tells how the record was read: `Get m at CONFIGURED`. */
export function ensureMetadata(machine: MachineView, stored: TextMap, where: string): void {
  const difference = mapDifference(stored, machine.metadata);
  ensure(
    difference === undefined,
    () => `${where} on ${machine.id}: shard_metadata is not what Configure stored: ${difference}`,
  );
}

/** Neither binding nor metadata. */
export function ensureUnbound(machine: MachineView, where: string): void {
  ensure(
    machine.cluster === '',
    () => `${where} on ${machine.id}: expected no cluster, is ${JSON.stringify(machine.cluster)}`,
  );
  ensure(
    machine.metadata.size === 0,
    () =>
      `${where} on ${machine.id}: expected no shard_metadata, has ${machine.metadata.size} ` +
      `entries, the first ${escaped([...machine.metadata.keys()][0] ?? '')}`,
  );
}

export function ensureCluster(machine: MachineView, cluster: string, where: string): void {
  ensure(
    machine.cluster === cluster,
    () =>
      `${where} on ${machine.id}: expected cluster ${JSON.stringify(cluster)}, ` +
      `is ${JSON.stringify(machine.cluster)}`,
  );
}

/** The first difference in words, or undefined when the maps are equal. */
export function mapDifference(expected: TextMap, actual: TextMap): string | undefined {
  for (const [key, value] of expected) {
    const got = actual.get(key);
    if (got === undefined) return `key ${escaped(key)} is missing`;
    if (got !== value)
      return `key ${escaped(key)} has ${escaped(got)} instead of ${escaped(value)}`;
  }
  for (const key of actual.keys()) {
    if (!expected.has(key)) return `key ${escaped(key)} was never stored`;
  }
  return undefined;
}

const MAX_SHOWN = 60;

function escaped(text: string): string {
  const cut = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…(${text.length})` : text;
  const hex = (char: string): string => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
  return `"${cut.replace(/[^ -~…]/gu, hex)}"`;
}
