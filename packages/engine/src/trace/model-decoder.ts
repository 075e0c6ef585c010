// Definitions back into values. Whatever a code stands for is checked here, so that nothing
// behind this point meets a state, bucket or operator that does not exist.

import { decodePenaltyBucket, type PenaltyBucket, ZERO_BUCKET } from '@bigfleet/base';
import { CapacityType, type CapacityTypeCode, isCapacityTypeCode } from '../model/capacity-type.ts';
import type { Assignment } from '../model/machine.ts';
import { createProfile, type ProfileInit } from '../model/profile.ts';
import { isOperatorCode, Operator, type OperatorCode } from '../model/requirement.ts';
import type { Resources } from '../model/resources.ts';
import type { ByteReader } from '../bytes/byte-reader.ts';
import { DictionaryReader, type NeedBody, type Shape } from './dictionary-reader.ts';
import { Op } from './format.ts';
import { MAX_BODY_TEXT } from './limits.ts';

export class ModelDecoder {
  readonly dictionary: DictionaryReader = new DictionaryReader();
  #textLeft = 0;

  /** False when the operation is no definition. */
  define(op: number, reader: ByteReader): boolean {
    const { dictionary } = this;
    const start = reader.remaining;
    const size = (): number => start - reader.remaining;
    this.#textLeft = MAX_BODY_TEXT;
    switch (op) {
      case Op.defineText:
        dictionary.defineText(reader);
        return true;
      case Op.defineResources:
        dictionary.define(reader, dictionary.vectors, this.#resources(reader), size());
        return true;
      case Op.defineShape:
        dictionary.define(reader, dictionary.shapes, this.#shape(reader), size());
        return true;
      case Op.defineAssignment:
        dictionary.define(reader, dictionary.assignments, this.#assignment(reader), size());
        return true;
      case Op.defineProfile:
        this.#profile(reader, size);
        return true;
      case Op.defineNeed:
        this.#need(reader, size);
        return true;
      case Op.reset:
        dictionary.reset();
        return true;
      default:
        return false;
    }
  }

  int32(reader: ByteReader): number {
    const value = reader.signed();
    if ((value | 0) !== value) reader.fail('a number is out of range');
    return value | 0;
  }

  /** A text of the body that is being read. */
  #text(reader: ByteReader): string {
    const text = this.dictionary.text(reader);
    this.#textLeft -= text.length;
    if (this.#textLeft < 0) reader.fail('a value names too much text');
    return text;
  }

  #resources(reader: ByteReader): Resources {
    const resources = new Map<string, number>();
    for (let left = reader.count(); left > 0 && !reader.hasFailed; left--) {
      const quanta = reader.varint();
      const name = this.#text(reader);
      if (quanta === 0 || resources.has(name)) reader.fail('a resource is zero or doubled');
      resources.set(name, quanta);
    }
    return resources;
  }

  #shape(reader: ByteReader): Shape {
    return {
      provider: this.#text(reader),
      instanceType: this.#text(reader),
      zone: this.#text(reader),
      capacityType: capacityTypeOf(reader),
      labels: this.#labels(reader),
      allocatable: this.dictionary.resources(reader),
      pricePerHour: reader.number(),
      interruptionProbability: reader.number(),
    };
  }

  #labels(reader: ByteReader): Map<string, string> {
    const labels = new Map<string, string>();
    for (let left = reader.count(); left > 0 && !reader.hasFailed; left--) {
      const key = this.#text(reader);
      if (labels.has(key)) reader.fail('a label is doubled');
      labels.set(key, this.#text(reader));
    }
    return labels;
  }

  #assignment(reader: ByteReader): Assignment {
    return {
      priority: this.int32(reader),
      interruptionBucket: bucketOf(reader),
      reclamationBucket: bucketOf(reader),
      needFingerprint: this.#text(reader),
      group: this.#text(reader),
    };
  }

  #profile(reader: ByteReader, size: () => number): void {
    const init: ProfileInit = {
      priority: this.int32(reader),
      interruptionBucket: bucketOf(reader),
      reclamationBucket: bucketOf(reader),
      requirements: reader.list(() => ({
        key: this.#text(reader),
        operator: operatorOf(reader),
        values: reader.list(() => this.#text(reader)),
      })),
      spread: reader.list(() => ({
        topologyKey: this.#text(reader),
        maxSkew: reader.number(),
        whenUnsatisfiable: reader.number(),
      })),
    };
    if (reader.hasFailed) return;
    const { dictionary } = this;
    dictionary.define(reader, dictionary.profiles, createProfile(init), size());
  }

  #need(reader: ByteReader, size: () => number): void {
    const { dictionary } = this;
    const cluster = this.#text(reader);
    const profile = dictionary.named(reader, dictionary.profiles);
    const group = this.#text(reader);
    const minUnit = dictionary.resources(reader);
    const aggregate = this.#resources(reader);
    if (profile === undefined) return;
    const need: NeedBody = { cluster, profile, aggregate, minUnit, group };
    dictionary.define(reader, dictionary.needs, need, size());
  }
}

function capacityTypeOf(reader: ByteReader): CapacityTypeCode {
  const type = reader.byte();
  if (isCapacityTypeCode(type)) return type;
  reader.fail('no such capacity type');
  return CapacityType.OnDemand;
}

function operatorOf(reader: ByteReader): OperatorCode {
  const operator = reader.byte();
  if (isOperatorCode(operator)) return operator;
  reader.fail('no such operator');
  return Operator.Exists;
}

function bucketOf(reader: ByteReader): PenaltyBucket {
  const wire = reader.byte();
  const bucket = wire === 0 ? undefined : decodePenaltyBucket(wire);
  if (bucket === undefined) reader.fail('no such penalty bucket');
  return bucket ?? ZERO_BUCKET;
}
