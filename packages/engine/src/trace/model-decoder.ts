// Definitions back into values. Whatever a code stands for is checked here, so that nothing
// behind this point meets a state, bucket or operator that does not exist.

import { decodePenaltyBucket, type PenaltyBucket, ZERO_BUCKET } from '@bigfleet/base';
import { CapacityType, type CapacityTypeCode, isCapacityTypeCode } from '../model/capacity-type.ts';
import type { Assignment } from '../model/machine.ts';
import { createProfile, type ProfileInit, type Spread } from '../model/profile.ts';
import { Operator, type OperatorCode, type Requirement } from '../model/requirement.ts';
import type { Resources } from '../model/resources.ts';
import type { ByteReader } from '../bytes/byte-reader.ts';
import { DictionaryReader, type NeedBody, type Shape } from './dictionary-reader.ts';
import { isOperatorCode, Op } from './format.ts';
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
        dictionary.defineResources(reader, this.#resources(reader), size());
        return true;
      case Op.defineShape:
        dictionary.defineShape(reader, this.#shape(reader), size());
        return true;
      case Op.defineAssignment:
        dictionary.defineAssignment(reader, this.#assignment(reader), size());
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
    const provider = this.#text(reader);
    const instanceType = this.#text(reader);
    const zone = this.#text(reader);
    const capacityType = capacityTypeOf(reader);
    const labels = new Map<string, string>();
    for (let left = reader.count(); left > 0 && !reader.hasFailed; left--) {
      const key = this.#text(reader);
      if (labels.has(key)) reader.fail('a label is doubled');
      labels.set(key, this.#text(reader));
    }
    const allocatable = this.dictionary.resources(reader);
    const pricePerHour = reader.number();
    const interruptionProbability = reader.number();
    return {
      provider,
      instanceType,
      zone,
      capacityType,
      labels,
      allocatable,
      pricePerHour,
      interruptionProbability,
    };
  }

  #assignment(reader: ByteReader): Assignment {
    const priority = this.int32(reader);
    const interruptionBucket = bucketOf(reader);
    const reclamationBucket = bucketOf(reader);
    const needFingerprint = this.#text(reader);
    const group = this.#text(reader);
    return { priority, interruptionBucket, reclamationBucket, needFingerprint, group };
  }

  #profile(reader: ByteReader, size: () => number): void {
    const priority = this.int32(reader);
    const interruptionBucket = bucketOf(reader);
    const reclamationBucket = bucketOf(reader);
    const requirements = this.#requirements(reader);
    const spread = this.#spread(reader);
    const init: ProfileInit = {
      priority,
      interruptionBucket,
      reclamationBucket,
      requirements,
      spread,
    };
    if (!reader.hasFailed) this.dictionary.defineProfile(reader, createProfile(init), size());
  }

  #requirements(reader: ByteReader): Requirement[] {
    const requirements: Requirement[] = [];
    for (let left = reader.count(); left > 0 && !reader.hasFailed; left--) {
      const key = this.#text(reader);
      const operator = operatorOf(reader);
      const values: string[] = [];
      for (let more = reader.count(); more > 0 && !reader.hasFailed; more--) {
        values.push(this.#text(reader));
      }
      requirements.push({ key, operator, values });
    }
    return requirements;
  }

  #spread(reader: ByteReader): Spread[] {
    const spread: Spread[] = [];
    for (let left = reader.count(); left > 0 && !reader.hasFailed; left--) {
      const topologyKey = this.#text(reader);
      const maxSkew = reader.number();
      spread.push({ topologyKey, maxSkew, whenUnsatisfiable: reader.number() });
    }
    return spread;
  }

  #need(reader: ByteReader, size: () => number): void {
    const cluster = this.#text(reader);
    const profile = this.dictionary.profile(reader);
    const group = this.#text(reader);
    const minUnit = this.dictionary.resources(reader);
    const aggregate = this.#resources(reader);
    if (profile === undefined) return;
    const need: NeedBody = { cluster, profile, aggregate, minUnit, group };
    this.dictionary.defineNeed(reader, need, size());
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
