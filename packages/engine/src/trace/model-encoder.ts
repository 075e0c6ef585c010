// Machines' shapes, assignments, profiles and need rows as dictionary entries. Every method
// gives the number of its value and defines it first if it is new. The first thing that a trace
// cannot hold sets `problem`; numbers given after that mean nothing and the entry is dropped.

import type { PenaltyBucket } from '@bigfleet/base';
import { type Assignment, isBucket, type Machine } from '../model/machine.ts';
import type { Need } from '../model/need.ts';
import { createProfile, type Profile } from '../model/profile.ts';
import { isOperatorCode } from '../model/requirement.ts';
import type { Resources } from '../model/resources.ts';
import { ByteWriter } from '../bytes/byte-writer.ts';
import { type BodyOp, DictionaryWriter } from './dictionary-writer.ts';
import { Op } from './format.ts';
import { MAX_BODY_TEXT, type RecordingProblem } from './limits.ts';

interface EncodedShape {
  readonly number: number;
  /** The one that was encoded. */
  readonly machine: Machine;
}

export class ModelEncoder {
  readonly dictionary: DictionaryWriter;
  #problem: RecordingProblem | undefined;
  #textLeft = 0;
  readonly #small: ByteWriter = new ByteWriter();
  readonly #large: ByteWriter = new ByteWriter();
  /** Equal fingerprint is equal profile: saves encoding a profile per row. */
  readonly #profiles = new Map<string, number>();
  /** The one that was asked for last: needs of one roll-up share their unit. */
  #lastResources: { readonly number: number; readonly resources: Resources } | undefined;
  /** By labels object, which is immutable: machines of one List share theirs. */
  #shapes = new WeakMap<Machine['labels'], EncodedShape>();

  constructor(out: ByteWriter) {
    this.dictionary = new DictionaryWriter(out);
  }

  get problem(): RecordingProblem | undefined {
    return this.#problem;
  }

  refuse(problem: RecordingProblem): void {
    this.#problem ??= problem;
  }

  reset(): void {
    this.dictionary.reset();
    this.#profiles.clear();
    this.#lastResources = undefined;
    this.#shapes = new WeakMap();
  }

  text(text: string): number {
    const number = this.dictionary.text(text);
    if (number === undefined) this.refuse('text_too_long');
    return number ?? 0;
  }

  /** A text of the body that is being built. */
  #bodyText(text: string): number {
    this.#textLeft -= text.length;
    if (this.#textLeft < 0) this.refuse('text_too_long');
    return this.text(text);
  }

  #begin(body: ByteWriter): ByteWriter {
    body.clear();
    this.#textLeft = MAX_BODY_TEXT;
    return body;
  }

  number(value: number, out: ByteWriter): void {
    if (Number.isNaN(value)) this.refuse('number_is_nan');
    else out.number(value);
  }

  int32(value: number, out: ByteWriter): void {
    if ((value | 0) === value) out.signed(value);
    else this.refuse('priority_out_of_range');
  }

  resources(resources: Resources): number {
    if (resources.size === 0) return 0;
    if (this.#lastResources?.resources === resources) return this.#lastResources.number;
    const body = this.#begin(this.#small);
    this.#writeResources(resources, body);
    const number = this.#define(Op.defineResources, body);
    this.#lastResources = this.#problem === undefined ? { number, resources } : undefined;
    return number;
  }

  /** Everything that makes machines interchangeable. */
  shape(machine: Machine): number {
    const known = this.#shapes.get(machine.labels);
    if (known !== undefined && hasSameShape(known.machine, machine)) return known.number;
    const number = this.#encodeShape(machine);
    if (this.#problem === undefined) this.#shapes.set(machine.labels, { number, machine });
    return number;
  }

  #encodeShape(machine: Machine): number {
    const allocatable = this.resources(machine.allocatable);
    const body = this.#begin(this.#large);
    body.varint(this.#bodyText(machine.provider));
    body.varint(this.#bodyText(machine.instanceType));
    body.varint(this.#bodyText(machine.zone));
    body.byte(machine.capacityType);
    body.varint(machine.labels.size);
    for (const [key, value] of machine.labels) {
      body.varint(this.#bodyText(key));
      body.varint(this.#bodyText(value));
    }
    body.varint(allocatable);
    this.number(machine.pricePerHour, body);
    this.number(machine.interruptionProbability, body);
    return this.#define(Op.defineShape, body);
  }

  assignment(assigned: Assignment): number {
    const body = this.#begin(this.#small);
    this.int32(assigned.priority, body);
    this.#writeBuckets(assigned.interruptionBucket, assigned.reclamationBucket, body);
    body.varint(this.#bodyText(assigned.needFingerprint));
    body.varint(this.#bodyText(assigned.group));
    return this.#define(Op.defineAssignment, body);
  }

  profile(profile: Profile): number {
    const known = this.#profiles.get(profile.fingerprint);
    if (known !== undefined) return known;
    // A profile that does not come back as itself would replay as another one.
    if (!comesBack(profile)) {
      this.refuse('profile_not_canonical');
      return 0;
    }
    const number = this.#define(Op.defineProfile, this.#profileBody(profile));
    if (this.#problem === undefined) this.#profiles.set(profile.fingerprint, number);
    return number;
  }

  /** The row without its arrival, which changes more often than the rest. */
  need(need: Need): number {
    const profile = this.profile(need.profile);
    const minUnit = this.resources(need.minUnit);
    const body = this.#begin(this.#large);
    body.varint(this.#bodyText(need.cluster));
    body.varint(profile);
    body.varint(this.#bodyText(need.group));
    body.varint(minUnit);
    this.#writeResources(need.aggregate, body);
    return this.#define(Op.defineNeed, body);
  }

  #profileBody(profile: Profile): ByteWriter {
    const body = this.#begin(this.#large);
    this.int32(profile.priority, body);
    this.#writeBuckets(profile.interruptionBucket, profile.reclamationBucket, body);
    body.varint(profile.requirements.length);
    for (const { key, operator, values } of profile.requirements) {
      body.varint(this.#bodyText(key));
      body.byte(operator);
      body.varint(values.length);
      for (const value of values) body.varint(this.#bodyText(value));
    }
    body.varint(profile.spread.length);
    for (const { topologyKey, maxSkew, whenUnsatisfiable } of profile.spread) {
      body.varint(this.#bodyText(topologyKey));
      this.number(maxSkew, body);
      this.number(whenUnsatisfiable, body);
    }
    return body;
  }

  #writeBuckets(interruption: PenaltyBucket, reclamation: PenaltyBucket, body: ByteWriter): void {
    if (isBucket(interruption) && isBucket(reclamation)) {
      body.byte(interruption);
      body.byte(reclamation);
    } else {
      this.refuse('priority_out_of_range');
    }
  }

  #writeResources(resources: Resources, body: ByteWriter): void {
    body.varint(resources.size);
    for (const [name, quanta] of resources) {
      if (!(Number.isSafeInteger(quanta) && quanta > 0)) this.refuse('resource_out_of_range');
      else body.varint(quanta);
      body.varint(this.#bodyText(name));
    }
  }

  #define(op: BodyOp, body: ByteWriter): number {
    return this.#problem === undefined ? this.dictionary.body(op, body) : 0;
  }
}

function comesBack(profile: Profile): boolean {
  return (
    profile.requirements.every(({ operator }) => isOperatorCode(operator)) &&
    createProfile(profile).fingerprint === profile.fingerprint
  );
}

/** Of machines with the same labels object; a twin of equal resources is merely encoded again. */
function hasSameShape(a: Machine, b: Machine): boolean {
  return (
    a.allocatable === b.allocatable &&
    Object.is(a.pricePerHour, b.pricePerHour) &&
    Object.is(a.interruptionProbability, b.interruptionProbability) &&
    a.capacityType === b.capacityType &&
    a.instanceType === b.instanceType &&
    a.zone === b.zone &&
    a.provider === b.provider
  );
}
