// Decisions as the engine recorded them, and the records themselves. A record is told once, however often
// it comes (a resumed stream sends the last one again, a back-fill may overlap the stream). Bytes that
// cannot be read are counted, never thrown: a record cut in the middle is a finding, not a crash.

import { actionReasons, reasonEntry } from '@bigfleet/base';
import {
  actionKindName,
  capacityTypeName,
  type CycleDispositions,
  decodeDispositions,
  decodeRecord,
  type DecisionRecord,
  dispositionAt,
  isDispositions,
  reasonOf,
} from '@bigfleet/engine';
import type { Decision } from '../api/index.ts';
import type { RecordFacts } from '../facts.ts';
import type { CapacityName, KindName } from '../words.ts';
import { ToldRecords } from './told-records.ts';

/** One cycle of one shard. */
export interface KeptRecord {
  readonly shard: string;
  readonly epoch: bigint;
  readonly cycle: number;
  readonly atMs: number;
  readonly actionHash: string;
  readonly payload: Uint8Array;
  dispositions: Uint8Array | undefined;
}

export interface DecisionLogOptions {
  readonly maxDecisions: number;
  readonly maxRecordBytes: number;
  /** Each decision once, in the order of its record. */
  readonly onDecision: (decision: Decision) => void;
}

interface Waiting {
  readonly kept: KeptRecord;
  readonly record: DecisionRecord;
}

const UNNAMED = 'unnamed';

export class DecisionLog {
  readonly #options: DecisionLogOptions;
  /** In the order of their time; what was dropped leaves its place empty at once. */
  #decisions: (Decision | undefined)[] = [];
  #first = 0;
  readonly #records = new Map<string, KeptRecord>();
  /** By shard. */
  readonly #told = new Map<string, ToldRecords>();
  /** Decided, and what became of it is not known yet: told with the next word of its shard. */
  readonly #waiting = new Map<string, Waiting>();
  recordBytes = 0;
  damagedCount = 0;

  constructor(options: DecisionLogOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#decisions.length - this.#first;
  }

  /** Of the oldest that is kept. */
  get oldestMs(): number | undefined {
    return this.#decisions[this.#first]?.atMs;
  }

  /** True when something new was learnt. */
  record(shard: string, facts: RecordFacts): boolean {
    const isFates = isDispositions(facts.payload);
    if (!this.#toldOf(shard).add(facts.epoch, facts.cycle, isFates)) return false;
    const name = `${shard}/${facts.epoch}/${facts.cycle}`;
    if (isFates) return this.#dispose(shard, name, facts);
    this.flush(shard);
    const decoded = decodeRecord(facts.payload);
    if (!decoded.ok) {
      this.damagedCount += 1;
      return true;
    }
    const { epoch, cycle, atMs, actionHash } = facts;
    const payload = ownBytes(facts.payload);
    const kept: KeptRecord = {
      shard,
      epoch,
      cycle,
      atMs,
      actionHash,
      payload,
      dispositions: undefined,
    };
    this.#keep(name, kept);
    this.#waiting.set(shard, { kept, record: decoded.value });
    return true;
  }

  /** Tells what waits for its fate: nothing more is to come about it. */
  flush(shard: string): boolean {
    const waiting = this.#waiting.get(shard);
    if (waiting === undefined) return false;
    this.#waiting.delete(shard);
    this.#tell(waiting, undefined);
    return true;
  }

  recordOf(shard: string, epoch: bigint, cycle: number): KeptRecord | undefined {
    return this.#records.get(`${shard}/${epoch}/${cycle}`);
  }

  /** Newest first, up to the moment. */
  *newestFirst(atMs: number): Generator<Decision> {
    for (let at = this.#after(atMs) - 1; at >= this.#first; at--) {
      yield this.#decisions[at] as Decision;
    }
  }

  /** Oldest first, of the span; both ends are in it. */
  *between(fromMs: number, toMs: number): Generator<Decision> {
    const end = this.#after(toMs);
    for (let at = this.#after(fromMs - 1); at < end; at++) yield this.#decisions[at] as Decision;
  }

  #toldOf(shard: string): ToldRecords {
    let told = this.#told.get(shard);
    if (told === undefined) this.#told.set(shard, (told = new ToldRecords()));
    return told;
  }

  #keep(name: string, kept: KeptRecord): void {
    this.#records.set(name, kept);
    this.recordBytes += kept.payload.length;
    this.#trimRecords();
  }

  #trimRecords(): void {
    for (const [name, { payload, dispositions }] of this.#records) {
      if (this.recordBytes <= this.#options.maxRecordBytes) return;
      this.#records.delete(name);
      this.recordBytes -= payload.length + (dispositions?.length ?? 0);
    }
  }

  #dispose(shard: string, name: string, facts: RecordFacts): boolean {
    const decoded = decodeDispositions(facts.payload);
    if (!decoded.ok) {
      this.damagedCount += 1;
      this.flush(shard);
      return true;
    }
    const kept = this.#records.get(name);
    if (kept !== undefined) {
      kept.dispositions = ownBytes(facts.payload);
      this.recordBytes += kept.dispositions.length;
      this.#trimRecords();
    }
    const waiting = this.#waiting.get(shard);
    if (waiting !== undefined && waiting.kept === kept) {
      this.#waiting.delete(shard);
      this.#tell(waiting, decoded.value);
    } else this.#correct(name, decoded.value);
    return true;
  }

  /** The decisions were told before their fate was known. */
  #correct(name: string, dispositions: CycleDispositions): void {
    const prefix = `${name}/`;
    for (let at = this.#first; at < this.#decisions.length; at++) {
      const decision = this.#decisions[at] as Decision;
      if (!decision.id.startsWith(prefix)) continue;
      const place = Number(decision.id.slice(prefix.length));
      const heldBack = dispositionAt(dispositions, place) ?? '';
      if (heldBack !== decision.heldBack) this.#decisions[at] = { ...decision, heldBack };
    }
  }

  #tell({ kept, record }: Waiting, dispositions: CycleDispositions | undefined): void {
    const decisions = decisionsOf(kept, record, dispositions);
    for (const decision of decisions) {
      this.#insert(decision);
      this.#options.onDecision(decision);
    }
  }

  #insert(decision: Decision): void {
    const last = this.#decisions.at(-1);
    if (last === undefined || this.count === 0 || last.atMs <= decision.atMs) {
      this.#decisions.push(decision);
    } else this.#decisions.splice(this.#after(decision.atMs), 0, decision);
    if (this.count <= this.#options.maxDecisions) return;
    this.#decisions[this.#first] = undefined;
    this.#first += 1;
    if (this.#first > 1_024 && this.#first * 2 > this.#decisions.length) {
      this.#decisions = this.#decisions.slice(this.#first);
      this.#first = 0;
    }
  }

  /** The first place behind the moment. */
  #after(atMs: number): number {
    let low = this.#first;
    let high = this.#decisions.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#decisions[middle] as Decision).atMs <= atMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** All actions of a record, by their place. */
export function decisionsOf(
  { shard, epoch, cycle, atMs }: Pick<KeptRecord, 'shard' | 'epoch' | 'cycle' | 'atMs'>,
  record: DecisionRecord,
  dispositions: CycleDispositions | undefined,
): Decision[] {
  return record.actions.map((action, place) => {
    const { shape } = action;
    const need = record.needs[action.need];
    const reason = reasonOf(action.kind);
    return {
      id: `${shard}/${epoch}/${cycle}/${place}`,
      shard,
      epoch: String(epoch),
      cycle,
      atMs,
      kind: actionKindName(action.kind) as KindName,
      reason,
      reasonText: actionReasons[reason].meaning,
      machine: action.machineId,
      cluster: action.cluster,
      provider: shape.provider,
      instanceType: shape.instanceType,
      zone: shape.zone,
      capacityType: capacityTypeName(shape.capacityType) as CapacityName,
      dollarsPerHour: shape.pricePerHour,
      need:
        need === undefined
          ? null
          : { cluster: need.cluster, fingerprint: need.fingerprint, group: need.group },
      domain: need?.domain ?? '',
      heldBack: dispositions === undefined ? '' : (dispositionAt(dispositions, place) ?? ''),
    };
  });
}

/** What a fate says, in words. */
export function heldBackText(code: string): string {
  if (code === UNNAMED) return 'It may have been held back: the record had no room to say so.';
  const found =
    reasonEntry('deferred', code) ??
    reasonEntry('skipped', code) ??
    reasonEntry('instruction', code);
  return found?.meaning ?? code;
}

/** A slice of a large frame must not keep the frame. */
function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice();
}
