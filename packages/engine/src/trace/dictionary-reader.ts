// The reader's half of the dictionaries, bounded in entries and bytes: a definition of three
// bytes can continue a long text, so the size of the trace bounds nothing by itself. Bytes are
// counted as the writer counts them: whole texts, bodies as they are written.

import type { Assignment, Machine } from '../model/machine.ts';
import type { Need } from '../model/need.ts';
import type { Profile } from '../model/profile.ts';
import { noResources, type Resources } from '../model/resources.ts';
import type { ByteReader } from '../bytes/byte-reader.ts';
import { FrontDecoder } from './front-coding.ts';
import { MAX_DICTIONARY_BYTES, MAX_DICTIONARY_ENTRIES } from './limits.ts';

export type Shape = Pick<
  Machine,
  | 'provider'
  | 'instanceType'
  | 'zone'
  | 'capacityType'
  | 'labels'
  | 'allocatable'
  | 'pricePerHour'
  | 'interruptionProbability'
>;
export type NeedBody = Omit<Need, 'arrivalUnixNanos'>;

export class DictionaryReader {
  #entryCount = 0;
  #byteCount = 0;
  #textFront = new FrontDecoder();
  #idFront = new FrontDecoder();
  readonly #texts: string[] = [''];
  readonly #ids: string[] = [''];
  readonly #resources: Resources[] = [noResources];
  readonly #shapes: (Shape | undefined)[] = [undefined];
  readonly #assignments: (Assignment | undefined)[] = [undefined];
  readonly #profiles: (Profile | undefined)[] = [undefined];
  readonly #needs: (NeedBody | undefined)[] = [undefined];

  defineText(reader: ByteReader): void {
    const text = this.#textFront.read(reader);
    this.#add(reader, this.#texts, text, this.#textFront.length);
  }

  defineResources(reader: ByteReader, resources: Resources, bytes: number): void {
    this.#add(reader, this.#resources, resources, bytes);
  }

  defineShape(reader: ByteReader, shape: Shape, bytes: number): void {
    this.#add(reader, this.#shapes, shape, bytes);
  }

  defineAssignment(reader: ByteReader, assigned: Assignment, bytes: number): void {
    this.#add(reader, this.#assignments, assigned, bytes);
  }

  defineProfile(reader: ByteReader, profile: Profile, bytes: number): void {
    this.#add(reader, this.#profiles, profile, bytes);
  }

  defineNeed(reader: ByteReader, need: NeedBody, bytes: number): void {
    this.#add(reader, this.#needs, need, bytes);
  }

  text(reader: ByteReader): string {
    return this.#named(reader, this.#texts, reader.varint()) ?? '';
  }

  /** A known id by its number, or 0 and a new one. */
  id(reader: ByteReader): string {
    const number = reader.varint();
    if (number > 0) return this.#named(reader, this.#ids, number) ?? '';
    const id = this.#idFront.read(reader);
    this.#add(reader, this.#ids, id, this.#idFront.length);
    return id;
  }

  resources(reader: ByteReader): Resources {
    return this.#named(reader, this.#resources, reader.varint()) ?? noResources;
  }

  shape(reader: ByteReader): Shape | undefined {
    return this.#named(reader, this.#shapes, reader.varint());
  }

  assignment(reader: ByteReader): Assignment | undefined {
    return this.#named(reader, this.#assignments, reader.varint());
  }

  profile(reader: ByteReader): Profile | undefined {
    return this.#named(reader, this.#profiles, reader.varint());
  }

  need(reader: ByteReader, number: number): NeedBody | undefined {
    return this.#named(reader, this.#needs, number);
  }

  reset(): void {
    this.#entryCount = 0;
    this.#byteCount = 0;
    this.#textFront = new FrontDecoder();
    this.#idFront = new FrontDecoder();
    for (const table of [this.#texts, this.#ids, this.#resources]) table.length = 1;
    for (const table of [this.#shapes, this.#assignments, this.#profiles, this.#needs]) {
      table.length = 1;
    }
  }

  #add<T>(reader: ByteReader, table: T[], value: T, bytes: number): void {
    this.#entryCount += 1;
    this.#byteCount += bytes;
    if (this.#entryCount > MAX_DICTIONARY_ENTRIES) reader.fail('the dictionaries are too large');
    if (this.#byteCount > MAX_DICTIONARY_BYTES) reader.fail('the dictionaries are too large');
    if (!reader.hasFailed) table.push(value);
  }

  #named<T>(reader: ByteReader, table: readonly T[], number: number): T | undefined {
    const value = table[number];
    if (value === undefined) reader.fail('a number that names nothing');
    return value;
  }
}
