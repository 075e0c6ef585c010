// Request vectors in exact nano-units. The sum of 100,000 pods with 768 Gi is already past 2⁵³, so
// nothing here is a Number. An absent dimension is zero, and zero is absent: two spellings of one
// vector are one vector.

import { compareText, err, ok, parseQuantity, type Result } from '@bigfleet/base';
import type { RawQuantity } from '@bigfleet/kube';
import { type Refusal, shown } from './capacity-request.ts';

/** Resource name to nano-units, all positive, sorted by name. */
export type ResourceVector = ReadonlyMap<string, bigint>;

const NANOS_PER_MILLI = 1_000_000n;
const MILLIS_PER_UNIT = 1_000n;

export function parseVector(
  resources: Readonly<Record<string, RawQuantity>>,
): Result<ResourceVector, Refusal> {
  const entries: [string, bigint][] = [];
  for (const [name, raw] of Object.entries(resources)) {
    const parsed = parseQuantity(String(raw));
    if (!parsed.ok) return badQuantity(name, raw, 'is no quantity');
    if (parsed.value.nanos < 0n) return badQuantity(name, raw, 'is negative');
    if (parsed.value.nanos > 0n) entries.push([name, parsed.value.nanos]);
  }
  return ok(new Map(entries.sort(([a], [b]) => compareText(a, b))));
}

/** Equal text means equal vector, whatever characters the names hold. */
export function vectorKey(vector: ResourceVector): string {
  return JSON.stringify([...vector].map(([name, nanos]) => [name, String(nanos)]));
}

/** A plain integer, or thousandths where it is none; finer fractions round up, never away. */
export function printNanos(nanos: bigint): string {
  const millis = (nanos + NANOS_PER_MILLI - 1n) / NANOS_PER_MILLI;
  return millis % MILLIS_PER_UNIT === 0n ? String(millis / MILLIS_PER_UNIT) : `${millis}m`;
}

function badQuantity(name: string, raw: RawQuantity, problem: string): Result<never, Refusal> {
  const text = `resources[${shown(name)}] ${shown(raw)} ${problem}`;
  return err({ reason: 'bad_quantity', problem: text });
}
