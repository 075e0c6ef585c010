// One metric name: resolves label values to series, adds and removes rows of an open label, and
// enforces its bound. Overflow drops the new value, never an old one: which clusters are shown must
// not depend on who arrived last.

import { assert } from '@bigfleet/base';
import type { Family, InstrumentType } from './instruments.ts';
import { isRepresentable, type LabelDeclarations, type LabelValues } from './labels.ts';
import type { Series } from './series.ts';
import { NOWHERE, type SeriesStore } from './series-store.ts';

export const OVERFLOW_REASONS = ['full', 'unrepresentable'] as const;
export type OverflowReason = (typeof OVERFLOW_REASONS)[number];

export interface FamilyOptions<S> {
  readonly name: string;
  readonly store: SeriesStore;
  readonly series: (store: SeriesStore, index: number) => S;
  readonly onOverflow: (reason: OverflowReason) => void;
}

/** What a scrape needs to know of a family, whatever its labels are. */
export interface FamilySource {
  readonly name: string;
  readonly help: string;
  readonly type: InstrumentType;
  readonly labelNames: readonly string[];
  /** Finite bounds of a histogram, undefined otherwise. */
  readonly bounds: readonly number[] | undefined;
  readonly store: SeriesStore;
}

export class SeriesFamily<L extends LabelDeclarations, S extends Series> implements Family<L, S> {
  readonly name: string;
  readonly #store: SeriesStore;
  readonly #create: (store: SeriesStore, index: number) => S;
  readonly #onOverflow: (reason: OverflowReason) => void;
  readonly #nowhere: S;
  readonly #series: (S | undefined)[] = [];

  constructor(options: FamilyOptions<S>) {
    this.name = options.name;
    this.#store = options.store;
    this.#create = options.series;
    this.#onOverflow = options.onOverflow;
    this.#nowhere = this.#create(this.#store, NOWHERE);
  }

  labels(values: LabelValues<L>): S {
    const { space } = this.#store;
    const closedIndex = space.closedIndex(values);
    const start = this.#rowFor(space.open === undefined ? '' : (values[space.open.name] ?? ''));
    return start === undefined ? this.#nowhere : this.#at(start + closedIndex);
  }

  all(): readonly S[] {
    const start = this.#store.space.open === undefined ? this.#store.rowStart('') : undefined;
    assert(start !== undefined, 'all() is for families without an open label', { name: this.name });
    return Array.from({ length: this.#store.space.closedCount }, (_, closed) =>
      this.#at(start + closed),
    );
  }

  remove(openValue: string): boolean {
    assert(this.#store.space.open !== undefined, 'remove() needs an open label', {
      name: this.name,
    });
    const start = this.#store.removeRow(openValue);
    if (start === undefined) return false;
    for (let closed = 0; closed < this.#store.space.closedCount; closed++) {
      this.#series[start + closed]?.detach();
      this.#series[start + closed] = undefined;
    }
    return true;
  }

  removeAll(): void {
    for (const openValue of this.#store.openValues()) this.remove(openValue);
  }

  #rowFor(openValue: string): number | undefined {
    const known = this.#store.rowStart(openValue);
    if (known !== undefined) return known;
    if (!isRepresentable(openValue)) {
      this.#onOverflow('unrepresentable');
      return undefined;
    }
    if (this.#store.rowCount >= (this.#store.space.open?.max ?? 0)) {
      this.#onOverflow('full');
      return undefined;
    }
    return this.#store.addRow(openValue);
  }

  #at(index: number): S {
    const known = this.#series[index];
    if (known !== undefined) return known;
    const created = this.#create(this.#store, index);
    this.#series[index] = created;
    return created;
  }
}
