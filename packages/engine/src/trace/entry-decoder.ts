// Records of a frame back into entries. A frame that passed its checksum is still not trusted:
// the first record that makes no sense ends the reading, with nothing of it applied.

import { type UnmetCode, unmetReasons } from '@bigfleet/base';
import type { CycleOptions } from '../cycle/engine.ts';
import { ActionKind, type ActionKindCode } from '../model/action.ts';
import {
  type Assignment,
  type HostRef,
  noAssignment,
  type Withheld,
  withheldReasons,
} from '../model/machine.ts';
import type { Need } from '../model/need.ts';
import { isStateCode, State, type StateCode } from '../model/state.ts';
import type { MoveChanges } from '../store/inventory.ts';
import { ACTION_HASH_BYTES, type ActionHash } from './action-hash.ts';
import type { ByteReader } from '../bytes/byte-reader.ts';
import type { NeedBody } from './dictionary-reader.ts';
import type { Decided, DecidedAction, TraceEntry } from './entry.ts';
import { HAS_BINDING, HAS_HOST, MoveBit, Op, QuotaForm, WITHHELD_SHIFT } from './format.ts';
import { FrontDecoder } from './front-coding.ts';
import { MAX_ROLLUP_ROWS } from './limits.ts';
import { ModelDecoder } from './model-decoder.ts';
import { TimeDecoder } from './time-code.ts';

type MutableChanges = { -readonly [K in keyof MoveChanges]: MoveChanges[K] };

export class EntryDecoder {
  readonly #model: ModelDecoder = new ModelDecoder();
  readonly #times: TimeDecoder = new TimeDecoder();
  #hosts: FrontDecoder = new FrontDecoder();
  #quota: ReadonlyMap<string, number> = new Map();

  /** Undefined for a definition. After `reader` failed, whatever this returns means nothing. */
  decode(op: number, reader: ByteReader): TraceEntry | undefined {
    if (op === Op.reset) this.#hosts = new FrontDecoder();
    if (this.#model.define(op, reader)) return undefined;
    const { dictionary } = this.#model;
    switch (op) {
      case Op.put:
        return this.#put(reader);
      case Op.remove:
        return { kind: 'remove', id: dictionary.id(reader) };
      case Op.move:
        return this.#move(reader);
      case Op.withhold:
        return {
          kind: 'withhold',
          id: dictionary.id(reader),
          reason: withheldOf(reader, reader.byte()),
        };
      case Op.idleSince:
        return { kind: 'idle_since', id: dictionary.id(reader), sinceMs: this.#times.read(reader) };
      case Op.rollup:
        return { kind: 'rollup', ...this.#demand(reader) };
      case Op.demand:
        return { kind: 'demand', ...this.#demand(reader) };
      case Op.reported:
        return { kind: 'reported', cluster: dictionary.text(reader) };
      case Op.heldOff:
        return { kind: 'held_off', heldOff: new Set(reader.list(() => dictionary.text(reader))) };
      case Op.brakes:
        return {
          kind: 'brakes',
          brakes: { needs: this.#limits(reader), types: this.#limits(reader) },
        };
      case Op.releasePolicy:
        return {
          kind: 'release_policy',
          policy: { onDemandHoldMs: reader.number(), spotHoldMs: reader.number() },
        };
      case Op.cycle:
        return { kind: 'cycle', options: this.#cycle(reader) };
      case Op.decided:
        return { kind: 'decided', decided: this.#decided(reader) };
      case Op.parking:
        return { kind: 'parking', needKey: dictionary.text(reader), ageCycles: reader.number() };
      case Op.shortfall:
        return this.#shortfall(reader);
      case Op.snapshotEnd:
        return { kind: 'snapshot_end', machineCount: reader.varint(), rowCount: reader.varint() };
      default:
        reader.fail(`no such operation: ${op}`);
        return undefined;
    }
  }

  #put(reader: ByteReader): TraceEntry | undefined {
    const { dictionary } = this.#model;
    const id = dictionary.id(reader);
    const nowMs = this.#times.read(reader);
    const bits = reader.byte();
    const state = stateOf(reader, bits & 0xf);
    const withheld = withheldOf(reader, (bits >>> WITHHELD_SHIFT) & 3);
    const shape = dictionary.named(reader, dictionary.shapes);
    const host = (bits & HAS_HOST) === 0 ? undefined : this.#host(reader);
    const hasBinding = (bits & HAS_BINDING) !== 0;
    const cluster = hasBinding ? dictionary.text(reader) : '';
    const intendedCluster = hasBinding ? dictionary.text(reader) : '';
    const lastError = hasBinding ? dictionary.text(reader) : '';
    const assigned: Assignment | undefined = hasBinding
      ? dictionary.named(reader, dictionary.assignments)
      : noAssignment;
    if (shape === undefined || assigned === undefined) return undefined;
    return {
      kind: 'put',
      machine: {
        id,
        state,
        ...shape,
        host,
        cluster,
        lastError,
        assigned,
        intendedCluster,
        withheld,
      },
      nowMs,
    };
  }

  #host(reader: ByteReader): HostRef {
    return { provider: this.#model.dictionary.text(reader), ref: this.#hosts.read(reader) };
  }

  #move(reader: ByteReader): TraceEntry {
    const { dictionary } = this.#model;
    const id = dictionary.id(reader);
    const nowMs = this.#times.read(reader);
    const to = stateOf(reader, reader.byte());
    const bits = reader.byte();
    if (bits > 0x1f) reader.fail('no such change');
    const changes: MutableChanges = {};
    if ((bits & MoveBit.host) !== 0) changes.host = this.#host(reader);
    if ((bits & MoveBit.cluster) !== 0) changes.cluster = dictionary.text(reader);
    if ((bits & MoveBit.lastError) !== 0) changes.lastError = dictionary.text(reader);
    if ((bits & MoveBit.intendedCluster) !== 0) changes.intendedCluster = dictionary.text(reader);
    if ((bits & MoveBit.assigned) !== 0) {
      changes.assigned = dictionary.named(reader, dictionary.assignments) ?? noAssignment;
    }
    return { kind: 'move', id, to, changes, nowMs };
  }

  #demand(reader: ByteReader): { readonly cluster: string; readonly needs: readonly Need[] } {
    const cluster = this.#model.dictionary.text(reader);
    const count = reader.varint();
    if (count > MAX_ROLLUP_ROWS) reader.fail('a roll-up has too many rows');
    const bodies = this.#needBodies(reader, count);
    const arrivals = arrivalsOf(reader, count);
    if (reader.hasFailed) return { cluster, needs: [] };
    const needs = bodies.map((body, at) => ({
      ...body,
      arrivalUnixNanos: arrivals[at] as bigint,
    }));
    return { cluster, needs };
  }

  #needBodies(reader: ByteReader, count: number): NeedBody[] {
    const { dictionary } = this.#model;
    const bodies: NeedBody[] = [];
    let next = 0;
    while (bodies.length < count && !reader.hasFailed) {
      const start = next + reader.signed();
      next = start + runLength(reader, count - bodies.length);
      for (let number = start; number < next && !reader.hasFailed; number++) {
        const body = dictionary.named(reader, dictionary.needs, number);
        if (body !== undefined) bodies.push(body);
      }
    }
    return bodies;
  }

  #cycle(reader: ByteReader): CycleOptions {
    const nowMs = this.#times.read(reader);
    const bits = reader.byte();
    const form = bits & 3;
    const passForm = bits >>> 2;
    if (form > QuotaForm.listed || passForm > 2) reader.fail('no such cycle');
    if (form === QuotaForm.listed) this.#quota = this.#limits(reader);
    return {
      nowMs,
      ...(form === QuotaForm.none ? {} : { quotaRemaining: this.#quota }),
      ...(passForm === 0 ? {} : { isFullPass: passForm === 2 }),
    };
  }

  #limits(reader: ByteReader): Map<string, number> {
    const limits = new Map<string, number>();
    for (let left = reader.count(); left > 0 && !reader.hasFailed; left--) {
      const key = this.#model.dictionary.text(reader);
      if (limits.has(key)) reader.fail('a limit is doubled');
      limits.set(key, reader.number());
    }
    return limits;
  }

  #decided(reader: ByteReader): Decided {
    const bytes = reader.bytes(ACTION_HASH_BYTES);
    const hash = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
    const actionCount = reader.varint();
    const isListed = reader.byte();
    if (isListed > 1) reader.fail('no such decision');
    if (isListed === 1 && actionCount > reader.remaining) reader.fail('a count exceeds the frame');
    const actions: DecidedAction[] = [];
    while (isListed === 1 && actions.length < actionCount && !reader.hasFailed) {
      actions.push(this.#action(reader));
    }
    return {
      hash: hash as ActionHash,
      actionCount,
      actions: isListed === 1 ? actions : undefined,
    };
  }

  #action(reader: ByteReader): DecidedAction {
    const { dictionary } = this.#model;
    return {
      kind: actionKindOf(reader),
      machineId: dictionary.id(reader),
      cluster: dictionary.text(reader),
      fingerprint: dictionary.text(reader),
      group: dictionary.text(reader),
      graceSeconds: this.#model.int32(reader),
      preemptorPriority: this.#model.int32(reader),
    };
  }

  #shortfall(reader: ByteReader): TraceEntry | undefined {
    const { dictionary } = this.#model;
    const fingerprint = dictionary.text(reader);
    const profile = dictionary.named(reader, dictionary.profiles);
    const deficit = dictionary.resources(reader);
    const minUnit = dictionary.resources(reader);
    const reasonCode = dictionary.text(reader);
    const clusters = reader.list(() => dictionary.text(reader));
    const ageCycles = reader.number();
    if (!isUnmetCode(reasonCode)) reader.fail('no such reason');
    else if (profile !== undefined) {
      const shortfall = { profile, deficit, minUnit, ageCycles, reasonCode, clusters };
      return { kind: 'shortfall', fingerprint, shortfall };
    }
    return undefined;
  }
}

function runLength(reader: ByteReader, most: number): number {
  const length = reader.varint() + 1;
  if (length <= most) return length;
  reader.fail('a run is too long');
  return 0;
}

function arrivalsOf(reader: ByteReader, count: number): bigint[] {
  const arrivals: bigint[] = [];
  let arrival = 0n;
  while (arrivals.length < count && !reader.hasFailed) {
    arrival = BigInt.asIntN(64, arrival + reader.signed64());
    for (let left = runLength(reader, count - arrivals.length); left > 0; left--) {
      arrivals.push(arrival);
    }
  }
  return arrivals;
}

function stateOf(reader: ByteReader, code: number): StateCode {
  if (isStateCode(code)) return code;
  reader.fail('no such state');
  return State.Failed;
}

function withheldOf(reader: ByteReader, code: number): Withheld | undefined {
  if (code >= withheldReasons.length) reader.fail('no such reason');
  return withheldReasons[code];
}

function actionKindOf(reader: ByteReader): ActionKindCode {
  const kind = reader.byte();
  if (kind < ActionKind.Bootstrap || kind > ActionKind.Delete) reader.fail('no such action');
  return kind as ActionKindCode;
}

function isUnmetCode(code: string): code is UnmetCode {
  return Object.hasOwn(unmetReasons, code);
}
