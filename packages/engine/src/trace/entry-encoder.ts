// Each entry as bytes. Definitions go to the frame first, then the entry that names them: an
// entry never holds a definition, or equal values would have different bytes.

import { compareText } from '@bigfleet/base';
import type { CycleOptions } from '../cycle/engine.ts';
import {
  type Assignment,
  type HostRef,
  type Machine,
  noAssignment,
  withheldReasons,
} from '../model/machine.ts';
import type { Need } from '../model/need.ts';
import type { MoveChanges } from '../store/inventory.ts';
import { ByteWriter } from '../bytes/byte-writer.ts';
import type { Decided, DecidedAction, TraceEntry } from './entry.ts';
import { HAS_BINDING, HAS_HOST, MoveBit, Op, QuotaForm, WITHHELD_SHIFT } from './format.ts';
import { FrontEncoder } from './front-coding.ts';
import { ACTION_HASH_BYTES } from './action-hash.ts';
import {
  MAX_ROLLUP_ROWS,
  type RecordingProblem,
  WRITER_DICTIONARY_BYTES,
  WRITER_DICTIONARY_ENTRIES,
} from './limits.ts';
import { ModelEncoder } from './model-encoder.ts';
import { TimeEncoder } from './time-code.ts';

/** T while K names all of it: a new optional field stops compiling here until a trace holds it. */
type Exactly<T, K extends keyof T> = [Exclude<keyof T, K>] extends [never] ? T : never;

type RecordedChanges = Exactly<
  MoveChanges,
  'host' | 'cluster' | 'lastError' | 'assigned' | 'intendedCluster'
>;
type RecordedOptions = Exactly<CycleOptions, 'nowMs' | 'quotaRemaining' | 'isFullPass'>;
type Entry<K extends TraceEntry['kind']> = Extract<TraceEntry, { kind: K }>;

export class EntryEncoder {
  readonly #out: ByteWriter;
  readonly #model: ModelEncoder;
  readonly #entry: ByteWriter = new ByteWriter();
  readonly #times: TimeEncoder = new TimeEncoder();
  #hosts: FrontEncoder = new FrontEncoder();
  #quota: ReadonlyMap<string, number> = new Map();

  /** Appends to `out`. */
  constructor(out: ByteWriter) {
    this.#out = out;
    this.#model = new ModelEncoder(out);
  }

  get dictionaryEntries(): number {
    return this.#model.dictionary.entryCount;
  }

  get dictionaryBytes(): number {
    return this.#model.dictionary.byteCount;
  }

  /** Starts the dictionaries afresh when they are large: what they hold must stay bounded. */
  renewDictionaries(maxEntries: number = WRITER_DICTIONARY_ENTRIES): void {
    const { entryCount, byteCount } = this.#model.dictionary;
    if (entryCount < maxEntries && byteCount < WRITER_DICTIONARY_BYTES) return;
    this.#model.reset();
    this.#hosts = new FrontEncoder();
  }

  /** What a trace cannot hold, if that is what the entry is; then nothing more can follow. */
  encode(entry: TraceEntry): RecordingProblem | undefined {
    this.#entry.clear();
    this.#encode(entry);
    if (this.#model.problem === undefined) this.#out.bytes(this.#entry.written);
    return this.#model.problem;
  }

  #encode(entry: TraceEntry): void {
    switch (entry.kind) {
      case 'put':
        return this.#put(entry.machine, entry.nowMs);
      case 'remove':
        return this.#idEntry(Op.remove, entry.id);
      case 'move':
        return this.#move(entry, entry.changes);
      case 'withhold':
        this.#idEntry(Op.withhold, entry.id);
        return this.#entry.byte(withheldReasons.indexOf(entry.reason));
      case 'idle_since':
        this.#idEntry(Op.idleSince, entry.id);
        return this.#time(entry.sinceMs);
      case 'rollup':
        return this.#demand(Op.rollup, entry.cluster, entry.needs);
      case 'demand':
        return this.#demand(Op.demand, entry.cluster, entry.needs);
      case 'reported':
        return this.#fields(Op.reported, this.#model.text(entry.cluster));
      case 'held_off':
        return this.#heldOff(entry.heldOff);
      case 'brakes':
        this.#entry.byte(Op.brakes);
        this.#limits(entry.brakes.needs);
        return this.#limits(entry.brakes.types);
      case 'release_policy':
        this.#entry.byte(Op.releasePolicy);
        this.#model.number(entry.policy.onDemandHoldMs, this.#entry);
        return this.#model.number(entry.policy.spotHoldMs, this.#entry);
      case 'cycle':
        return this.#cycle(entry.options);
      case 'decided':
        return this.#decided(entry.decided);
      case 'parking':
        this.#fields(Op.parking, this.#model.text(entry.needKey));
        return this.#model.number(entry.ageCycles, this.#entry);
      case 'shortfall':
        return this.#shortfall(entry);
      case 'snapshot_end':
        return this.#fields(Op.snapshotEnd, entry.machineCount, entry.rowCount);
    }
  }

  #fields(op: number, ...fields: readonly number[]): void {
    this.#entry.byte(op);
    for (const field of fields) this.#entry.varint(field);
  }

  #idEntry(op: number, id: string): void {
    this.#entry.byte(op);
    this.#id(id);
  }

  #id(id: string): void {
    if (!this.#model.dictionary.id(id, this.#entry)) this.#model.refuse('text_too_long');
  }

  #time(timeMs: number): void {
    if (!this.#times.write(timeMs, this.#entry)) this.#model.refuse('number_is_nan');
  }

  #put(machine: Machine, nowMs: number): void {
    const { host, cluster, intendedCluster, lastError, assigned } = machine;
    const hasBinding =
      cluster !== '' || intendedCluster !== '' || lastError !== '' || !isUnassigned(assigned);
    this.#idEntry(Op.put, machine.id);
    this.#time(nowMs);
    this.#entry.byte(
      machine.state |
        (withheldReasons.indexOf(machine.withheld) << WITHHELD_SHIFT) |
        (host === undefined ? 0 : HAS_HOST) |
        (hasBinding ? HAS_BINDING : 0),
    );
    this.#entry.varint(this.#model.shape(machine));
    if (host !== undefined) this.#host(host);
    if (!hasBinding) return;
    for (const text of [cluster, intendedCluster, lastError]) {
      this.#entry.varint(this.#model.text(text));
    }
    this.#entry.varint(this.#model.assignment(assigned));
  }

  #host(host: HostRef): void {
    this.#entry.varint(this.#model.text(host.provider));
    if (!this.#hosts.write(host.ref, this.#entry)) this.#model.refuse('text_too_long');
  }

  #move({ id, to, nowMs }: Entry<'move'>, changes: RecordedChanges): void {
    const { host, cluster, lastError, assigned, intendedCluster } = changes;
    this.#idEntry(Op.move, id);
    this.#time(nowMs);
    this.#entry.byte(to);
    this.#entry.byte(
      (host === undefined ? 0 : MoveBit.host) |
        (cluster === undefined ? 0 : MoveBit.cluster) |
        (lastError === undefined ? 0 : MoveBit.lastError) |
        (assigned === undefined ? 0 : MoveBit.assigned) |
        (intendedCluster === undefined ? 0 : MoveBit.intendedCluster),
    );
    if (host !== undefined) this.#host(host);
    for (const text of [cluster, lastError, intendedCluster]) {
      if (text !== undefined) this.#entry.varint(this.#model.text(text));
    }
    if (assigned !== undefined) this.#entry.varint(this.#model.assignment(assigned));
  }

  /** Rows that were defined one after the other, as an unchanged roll-up's were, form one run. */
  #demand(op: number, cluster: string, needs: readonly Need[]): void {
    if (needs.length > MAX_ROLLUP_ROWS) return this.#model.refuse('too_many_rows');
    const numbers = needs.map((need) => this.#model.need(need));
    this.#fields(op, this.#model.text(cluster), needs.length);
    let next = 0;
    for (let at = 0; at < numbers.length; ) {
      const start = numbers[at]!;
      let length = 1;
      while (numbers[at + length] === start + length) length += 1;
      this.#entry.signed(start - next);
      this.#entry.varint(length - 1);
      next = start + length;
      at += length;
    }
    this.#arrivals(needs);
  }

  #arrivals(needs: readonly Need[]): void {
    let before = 0n;
    for (let at = 0; at < needs.length; ) {
      const arrival = (needs[at] as Need).arrivalUnixNanos;
      if (BigInt.asIntN(64, arrival) !== arrival) return this.#model.refuse('arrival_out_of_range');
      let length = 1;
      while (needs[at + length]?.arrivalUnixNanos === arrival) length += 1;
      this.#entry.signed64(BigInt.asIntN(64, arrival - before));
      this.#entry.varint(length - 1);
      before = arrival;
      at += length;
    }
  }

  #heldOff(heldOff: ReadonlySet<string>): void {
    const keys = [...heldOff].sort(compareText);
    this.#fields(Op.heldOff, keys.length);
    for (const key of keys) this.#entry.varint(this.#model.text(key));
  }

  #cycle({ nowMs, quotaRemaining, isFullPass }: RecordedOptions): void {
    const isSame = quotaRemaining !== undefined && haveSameLimits(quotaRemaining, this.#quota);
    const form =
      quotaRemaining === undefined
        ? QuotaForm.none
        : isSame
          ? QuotaForm.unchanged
          : QuotaForm.listed;
    const passForm = isFullPass === undefined ? 0 : isFullPass ? 2 : 1;
    this.#entry.byte(Op.cycle);
    this.#time(nowMs);
    this.#entry.byte(form | (passForm << 2));
    if (quotaRemaining === undefined || isSame) return;
    this.#quota = new Map(quotaRemaining);
    this.#limits(quotaRemaining);
  }

  #limits(limits: ReadonlyMap<string, number>): void {
    this.#entry.varint(limits.size);
    for (const [key, limit] of limits) {
      this.#entry.varint(this.#model.text(key));
      this.#model.number(limit, this.#entry);
    }
  }

  #decided({ hash, actionCount, actions }: Decided): void {
    this.#entry.byte(Op.decided);
    for (let at = 0; at < ACTION_HASH_BYTES; at++) {
      this.#entry.byte(Number.parseInt(hash.slice(at * 2, at * 2 + 2), 16));
    }
    this.#entry.varint(actionCount);
    this.#entry.byte(actions === undefined ? 0 : 1);
    for (const action of actions ?? []) this.#action(action);
  }

  #action(action: DecidedAction): void {
    this.#entry.byte(action.kind);
    this.#id(action.machineId);
    for (const text of [action.cluster, action.fingerprint, action.group]) {
      this.#entry.varint(this.#model.text(text));
    }
    this.#model.int32(action.graceSeconds, this.#entry);
    this.#model.int32(action.preemptorPriority, this.#entry);
  }

  #shortfall({ fingerprint, shortfall }: Entry<'shortfall'>): void {
    const { profile, deficit, minUnit, ageCycles, reasonCode, clusters } = shortfall;
    this.#fields(
      Op.shortfall,
      this.#model.text(fingerprint),
      this.#model.profile(profile),
      this.#model.resources(deficit),
      this.#model.resources(minUnit),
      this.#model.text(reasonCode),
      clusters.length,
    );
    for (const cluster of clusters) this.#entry.varint(this.#model.text(cluster));
    this.#model.number(ageCycles, this.#entry);
  }
}

function isUnassigned(assigned: Assignment): boolean {
  return (
    assigned.needFingerprint === '' &&
    assigned.group === '' &&
    assigned.priority === noAssignment.priority &&
    assigned.interruptionBucket === noAssignment.interruptionBucket &&
    assigned.reclamationBucket === noAssignment.reclamationBucket
  );
}

export function haveSameLimits(
  a: ReadonlyMap<string, number>,
  b: ReadonlyMap<string, number>,
): boolean {
  if (a.size !== b.size) return false;
  // Not ===: 0 and −0 are told apart, as everywhere in a trace.
  for (const [key, limit] of a) if (!Object.is(b.get(key), limit)) return false;
  return true;
}
