// What a decision record names more than once, each written once: texts, and classes of
// machines with what their pools held when acquisition began. A name is its place in the table.

import type { Inventory } from '../store/inventory.ts';
import { ByteWriter } from './byte-writer.ts';

export class RecordTables {
  readonly #inventory: Inventory;
  readonly strings: ByteWriter = new ByteWriter();
  readonly classes: ByteWriter = new ByteWriter();
  stringCount = 0;
  classCount = 0;
  /** By interned id or class: its place, valid for the tagged record. */
  readonly #fingerprints: Places = new Places();
  readonly #groups: Places = new Places();
  readonly #clusters: Places = new Places();
  readonly #classes: Places = new Places();
  #record = 0;

  constructor(inventory: Inventory) {
    this.#inventory = inventory;
  }

  begin(): void {
    this.#record += 1;
    this.stringCount = 0;
    this.classCount = 0;
    this.strings.clear();
    this.classes.clear();
  }

  cluster(cluster: number): number {
    const known = this.#clusters.find(cluster, this.#record);
    if (known >= 0) return known;
    return this.#addString(this.#clusters, cluster, this.#inventory.clusters.text(cluster));
  }

  fingerprint(fingerprint: number): number {
    const known = this.#fingerprints.find(fingerprint, this.#record);
    if (known >= 0) return known;
    const text = this.#inventory.fingerprints.text(fingerprint);
    return this.#addString(this.#fingerprints, fingerprint, text);
  }

  group(group: number): number {
    const known = this.#groups.find(group, this.#record);
    if (known >= 0) return known;
    return this.#addString(this.#groups, group, this.#inventory.groups.text(group));
  }

  class(klass: number): number {
    const known = this.#classes.find(klass, this.#record);
    if (known >= 0) return known;
    const { classes, idlePools, speculativePools } = this.#inventory;
    const shape = classes.shape(klass);
    const out = this.classes;
    out.text(shape?.provider ?? '');
    out.text(shape?.instanceType ?? '');
    out.text(shape?.zone ?? '');
    out.byte(classes.capacityType[klass] as number);
    out.double(classes.price[klass] as number);
    out.double(classes.probability[klass] as number);
    out.varint(idlePools[klass]?.size ?? 0);
    out.varint(speculativePools[klass]?.size ?? 0);
    this.#classes.set(klass, this.#record, this.classCount);
    return this.classCount++;
  }

  #addString(places: Places, id: number, text: string): number {
    this.strings.text(text);
    places.set(id, this.#record, this.stringCount);
    return this.stringCount++;
  }
}

/** Dense id to place in the current record, without clearing between records. */
class Places {
  #records: Int32Array = new Int32Array(64);
  #places: Int32Array = new Int32Array(64);

  find(id: number, record: number): number {
    return this.#records[id] === record ? (this.#places[id] as number) : -1;
  }

  set(id: number, record: number, place: number): void {
    if (id >= this.#records.length) this.#grow(id + 1);
    this.#records[id] = record;
    this.#places[id] = place;
  }

  #grow(needed: number): void {
    const capacity = Math.max(needed, this.#records.length * 2);
    const records = new Int32Array(capacity);
    const places = new Int32Array(capacity);
    records.set(this.#records);
    places.set(this.#places);
    this.#records = records;
    this.#places = places;
  }
}
