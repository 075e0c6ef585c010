// All CapacityRequests of a cluster, read once each and kept small: a record points at its cell, the
// pair of aggregation key and vector, and thousands of pods share a cell. Cells are counted and go
// with their last request, so a cluster that keeps starting new gangs does not grow for ever.
//
// A roll-up is rebuilt from the records every time; there are no running sums that could drift.
// An index is complete or not used: a relist fills a new one and swaps it in whole.

import { assert, ok, type Result } from '@bigfleet/base';
import type { CapacityRequest, Refusal, RefusedRequest, RequestRef } from './capacity-request.ts';
import { type RequestDemand, readRequest } from './read-request.ts';
import { vectorKey } from './resource-vector.ts';
import { type CountedDemand, type Rollup, sumCells } from './rollup.ts';

interface KeyedDemand extends RequestDemand {
  /** Of its cell. */
  readonly id: string;
}

/** One aggregation key and one vector. */
interface Cell extends CountedDemand, KeyedDemand {
  requestCount: number;
  /** Requests seen by the roll-up that is being built; 0 outside of it. */
  tally: number;
}

interface RequestRecord extends RequestRef {
  readonly isAcknowledged: boolean;
  /** A cell when it counts; otherwise why it does not. */
  readonly cell: Cell | undefined;
  readonly refusal: Refusal | undefined;
}

/** Gangs make specs of their own, so that there is no end of different ones. */
const MAX_READ_SPECS = 4_096;
const MAX_SPEC_LENGTH = 4_096;

const foreign: Refusal = { reason: 'foreign_node', problem: 'the pod runs on a foreign node' };

export class DemandIndex {
  readonly #records = new Map<string, RequestRecord>();
  readonly #cells = new Map<string, Cell>();
  readonly #readSpecs = new Map<string, Result<KeyedDemand, Refusal>>();

  get requestCount(): number {
    return this.#records.size;
  }

  /** Distinct pairs of key and vector; what a roll-up costs beyond one step per request. */
  get cellCount(): number {
    return this.#cells.size;
  }

  /** Adds or replaces the object of this uid. Returns why it is left out of the roll-up, if it is. */
  set(request: CapacityRequest): Refusal | undefined {
    const { namespace, name, uid, resourceVersion, isAcknowledged } = request;
    const before = this.#records.get(uid)?.cell;
    const demand = request.isForeign ? undefined : this.#read(request);
    const cell = demand?.ok === true ? this.#enter(demand.value) : undefined;
    const refusal = demand === undefined ? foreign : demand.ok ? undefined : demand.error;
    this.#records.set(uid, {
      namespace,
      name,
      uid,
      resourceVersion,
      isAcknowledged,
      cell,
      refusal,
    });
    if (before !== undefined) this.#leave(before);
    return refusal;
  }

  /** It is in the roll-up, or left out as foreign, and nobody has told its owner so. */
  isUnacknowledged(uid: string): boolean {
    const record = this.#records.get(uid);
    return record !== undefined && awaitsAcknowledgement(record);
  }

  /** False if no object of this uid is known. */
  delete(uid: string): boolean {
    const record = this.#records.get(uid);
    if (record === undefined) return false;
    this.#records.delete(uid);
    if (record.cell !== undefined) this.#leave(record.cell);
    return true;
  }

  /**
   * The total demand as of now. Cost: one step per request without allocation, then exact sums per
   * cell, few enough that it need not yield: `bench/kube/rollup.bench.ts` holds it.
   */
  rollup(): Rollup {
    const refused: RefusedRequest[] = [];
    const unacknowledged: RequestRef[] = [];
    let foreignCount = 0;
    for (const record of this.#records.values()) {
      const { cell, refusal } = record;
      if (cell !== undefined) cell.tally++;
      else if (refusal === foreign) foreignCount++;
      else if (refusal !== undefined) refused.push({ request: record, refusal });
      if (awaitsAcknowledgement(record)) unacknowledged.push(record);
    }
    this.#checkTallies();
    const needs = sumCells(this.#cells.values());
    return { needs, refused, foreignCount, unacknowledged, requestCount: this.#records.size };
  }

  #checkTallies(): void {
    for (const cell of this.#cells.values()) {
      assert(cell.tally === cell.requestCount, 'a cell counts other requests than it has', {
        tally: cell.tally,
        requestCount: cell.requestCount,
      });
      cell.tally = 0;
    }
  }

  /** Thousands of requests have one spec: it is read once. */
  #read(request: CapacityRequest): Result<KeyedDemand, Refusal> {
    const text = specText(request);
    const known = text === undefined ? undefined : this.#readSpecs.get(text);
    if (known !== undefined) return known;
    const read = readRequest(request);
    const demand = read.ok ? ok(keyed(read.value)) : read;
    if (text === undefined) return demand;
    if (this.#readSpecs.size >= MAX_READ_SPECS) this.#readSpecs.clear();
    this.#readSpecs.set(text, demand);
    return demand;
  }

  #enter(demand: KeyedDemand): Cell {
    const { id } = demand;
    let cell = this.#cells.get(id);
    if (cell === undefined) {
      cell = { ...demand, requestCount: 0, tally: 0 };
      this.#cells.set(id, cell);
    }
    cell.requestCount++;
    return cell;
  }

  #leave(cell: Cell): void {
    cell.requestCount--;
    if (cell.requestCount === 0) this.#cells.delete(cell.id);
  }
}

function awaitsAcknowledgement({ cell, refusal, isAcknowledged }: RequestRecord): boolean {
  return !isAcknowledged && (cell !== undefined || refusal === foreign);
}

function keyed(demand: RequestDemand): KeyedDemand {
  const { profile, group, vector } = demand;
  return { ...demand, id: JSON.stringify([profile.fingerprint, group, vectorKey(vector)]) };
}

/**
 * Equal texts are equal demand; undefined where text does not decide. The namespace counts for a gang
 * alone. An infinity, as JSON's 1e400 is read, prints as null.
 */
function specText({ namespace, spec }: CapacityRequest): string | undefined {
  const text = JSON.stringify(spec) ?? '';
  if (text.length > MAX_SPEC_LENGTH || text.includes('null')) return undefined;
  return text.includes('coLocation') ? `${namespace} ${text}` : text;
}
