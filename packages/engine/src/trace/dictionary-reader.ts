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
  /** By number, from 1; 0 is no resources and nothing else. */
  readonly vectors: Resources[] = [noResources];
  readonly shapes: (Shape | undefined)[] = [undefined];
  readonly assignments: (Assignment | undefined)[] = [undefined];
  readonly profiles: (Profile | undefined)[] = [undefined];
  readonly needs: (NeedBody | undefined)[] = [undefined];

  text(reader: ByteReader): string {
    return this.named(reader, this.#texts) ?? '';
  }

  defineText(reader: ByteReader): void {
    const text = this.#textFront.read(reader);
    this.define(reader, this.#texts, text, this.#textFront.length);
  }

  resources(reader: ByteReader): Resources {
    return this.named(reader, this.vectors) ?? noResources;
  }

  /** A known id by its number, or 0 and a new one. */
  id(reader: ByteReader): string {
    const number = reader.varint();
    if (number > 0) return this.named(reader, this.#ids, number) ?? '';
    const id = this.#idFront.read(reader);
    this.define(reader, this.#ids, id, this.#idFront.length);
    return id;
  }

  /** The next number of the table stands for the value, which took so many bytes. */
  define<T>(reader: ByteReader, table: (T | undefined)[], value: T, bytes: number): void {
    this.#entryCount += 1;
    this.#byteCount += bytes;
    if (this.#entryCount > MAX_DICTIONARY_ENTRIES) reader.fail('the dictionaries are too large');
    if (this.#byteCount > MAX_DICTIONARY_BYTES) reader.fail('the dictionaries are too large');
    if (!reader.hasFailed) table.push(value);
  }

  /** What a number of the table stands for; without a failure it is never undefined. */
  named<T>(
    reader: ByteReader,
    table: readonly T[],
    number: number = reader.varint(),
  ): T | undefined {
    const value = table[number];
    if (value === undefined) reader.fail('a number that names nothing');
    return value;
  }

  reset(): void {
    this.#entryCount = 0;
    this.#byteCount = 0;
    this.#textFront = new FrontDecoder();
    this.#idFront = new FrontDecoder();
    for (const table of [this.#texts, this.#ids, this.vectors]) table.length = 1;
    for (const table of [this.shapes, this.assignments, this.profiles, this.needs]) {
      table.length = 1;
    }
  }
}
