// The profiles of one List as shapes that compare with known ones: quantities parsed, allocatable
// falling back to resources. Once per profile, never per machine. A profile whose quantities do
// not parse refuses its machines; the others stand.

import { isEqual, parseResources } from '@bigfleet/engine';
import type { ListColumns } from '../list/columns.ts';
import { isTooLongShape } from '../text-limits.ts';
import type { KnownShape } from './known-machines.ts';

export type ListedShape =
  | { readonly kind: 'shape'; readonly shape: KnownShape }
  | { readonly kind: 'unusable'; readonly detail: string };

export class ListedShapes {
  readonly #columns: ListColumns;
  readonly #shapes: (ListedShape | undefined)[] = [];
  /** By profile: the known shape that it was last found equal to. */
  readonly #equals: (KnownShape | undefined)[] = [];

  constructor(columns: ListColumns) {
    this.#columns = columns;
  }

  of(profile: number): ListedShape {
    const known = this.#shapes[profile];
    if (known !== undefined) return known;
    const shape = this.#read(profile);
    this.#shapes[profile] = shape;
    return shape;
  }

  isEqual(profile: number, known: KnownShape): boolean {
    if (this.#equals[profile] === known) return true;
    const listed = this.of(profile);
    if (listed.kind !== 'shape' || !areEqualShapes(listed.shape, known)) return false;
    this.#equals[profile] = known;
    return true;
  }

  #read(profile: number): ListedShape {
    const { resources, allocatable, ...rest } = this.#columns.profile(profile);
    const provided = allocatable.size === 0 ? resources : allocatable;
    const parsed = parseResources(provided, 'allocatable');
    if (!parsed.ok) return { kind: 'unusable', detail: `a quantity: ${parsed.error.code}` };
    if (isTooLongShape(rest)) return { kind: 'unusable', detail: 'its labels are too long' };
    return { kind: 'shape', shape: { ...rest, allocatable: parsed.value } };
  }
}

function areEqualShapes(a: KnownShape, b: KnownShape): boolean {
  return (
    a.pricePerHour === b.pricePerHour &&
    a.interruptionProbability === b.interruptionProbability &&
    a.capacityType === b.capacityType &&
    a.instanceType === b.instanceType &&
    a.zone === b.zone &&
    isEqual(a.allocatable, b.allocatable) &&
    areEqualLabels(a.labels, b.labels)
  );
}

function areEqualLabels(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  if (a.size !== b.size) return false;
  for (const [key, value] of a) if (b.get(key) !== value) return false;
  return true;
}
