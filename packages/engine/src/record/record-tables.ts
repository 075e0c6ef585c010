// What a decision record names more than once, each written once: texts, and classes of
// machines with what their pools held when acquisition began. A name is its place in the table.

import { grown } from '../store/classes.ts';
import type { Interner } from '../store/interner.ts';
import type { Inventory } from '../store/inventory.ts';
import { ByteWriter } from '../bytes/byte-writer.ts';

/** Half of what a place can hold: no record names as many things as the other half. */
const MAX_BASE = 2 ** 30;

export class RecordTables {
  readonly #inventory: Inventory;
  readonly strings: ByteWriter = new ByteWriter();
  readonly classes: ByteWriter = new ByteWriter();
  stringCount = 0;
  classCount = 0;
  readonly #fingerprints: Places = new Places();
  readonly #groups: Places = new Places();
  readonly #clusters: Places = new Places();
  readonly #classes: Places = new Places();
  /** What places are counted from in this record: those of earlier ones are below it. */
  #base = 1;

  constructor(inventory: Inventory) {
    this.#inventory = inventory;
  }

  begin(): void {
    this.#base += Math.max(this.stringCount, this.classCount);
    if (this.#base > MAX_BASE) this.#restart();
    this.stringCount = 0;
    this.classCount = 0;
    this.strings.clear();
    this.classes.clear();
  }

  #restart(): void {
    this.#base = 1;
    for (const places of [this.#fingerprints, this.#groups, this.#clusters, this.#classes]) {
      places.forget();
    }
  }

  cluster(cluster: number): number {
    return this.#string(this.#clusters, this.#inventory.clusters, cluster);
  }

  fingerprint(fingerprint: number): number {
    return this.#string(this.#fingerprints, this.#inventory.fingerprints, fingerprint);
  }

  group(group: number): number {
    return this.#string(this.#groups, this.#inventory.groups, group);
  }

  #string(places: Places, texts: Interner, id: number): number {
    const known = places.find(id, this.#base);
    if (known >= 0) return known;
    this.strings.text(texts.text(id));
    places.set(id, this.#base, this.stringCount);
    return this.stringCount++;
  }

  class(klass: number): number {
    const known = this.#classes.find(klass, this.#base);
    if (known >= 0) return known;
    const { classes, idlePools, speculativePools } = this.#inventory;
    const shape = classes.shape(klass);
    const out = this.classes;
    out.text(shape?.provider ?? '');
    out.text(shape?.instanceType ?? '');
    out.text(shape?.zone ?? '');
    out.byte(classes.capacityType[klass]!);
    out.double(classes.price[klass]!);
    out.double(classes.probability[klass]!);
    out.varint(idlePools[klass]?.size ?? 0);
    out.varint(speculativePools[klass]?.size ?? 0);
    this.#classes.set(klass, this.#base, this.classCount);
    return this.classCount++;
  }
}

/** Dense id to place in the current record, without clearing between records. */
class Places {
  /** Counted from the base of the record that set it. */
  #places: Int32Array = new Int32Array(64);

  /** Below 0 for none. */
  find(id: number, base: number): number {
    return id < this.#places.length ? this.#places[id]! - base : -1;
  }

  set(id: number, base: number, place: number): void {
    if (id >= this.#places.length) {
      this.#places = grown(this.#places, new Int32Array(Math.max(id + 1, id * 2)));
    }
    this.#places[id] = base + place;
  }

  forget(): void {
    this.#places.fill(0);
  }
}
