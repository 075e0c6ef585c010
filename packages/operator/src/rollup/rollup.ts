// The arithmetic of a roll-up (kubernetes §3.3): per (profile, group) the exact sum of the vectors
// and the maximum per dimension. The rows come out in one order, by fingerprint and group, so the
// same requests give the same bytes whatever order they arrived in; the shard skips a roll-up
// whose bytes did not change. No pod count leaves here: machine counts are the engine's output.

import { compareText } from '@bigfleet/base';
import type { Profile } from '@bigfleet/engine';
import type { RefusedRequest, RequestRef } from './capacity-request.ts';
import type { RequestDemand } from './read-request.ts';
import { type ResourceVector, printNanos } from './resource-vector.ts';
import {
  type Operator,
  OperatorMessageSchema,
  type PenaltyBucket,
  type WhenUnsatisfiable,
  encodeInit,
  fromMap,
} from '@bigfleet/wire';

export interface RollupNeed {
  readonly profile: Profile;
  readonly group: string;
  /** Quantities by resource name, sorted by name. */
  readonly aggregateResources: ReadonlyMap<string, string>;
  readonly minUnit: ReadonlyMap<string, string>;
}

export interface Rollup {
  readonly needs: readonly RollupNeed[];
  /** Requests with a bad profile, left out one by one. */
  readonly refused: readonly RefusedRequest[];
  /** Requests of pods on foreign nodes, left out on purpose. */
  readonly foreignCount: number;
  /** What an applied roll-up acknowledges: everything taken in that is still Pending. */
  readonly unacknowledged: readonly RequestRef[];
  readonly requestCount: number;
}

/** Requests with one key and one vector. */
export interface CountedDemand extends RequestDemand {
  readonly requestCount: number;
}

interface Row {
  readonly profile: Profile;
  readonly group: string;
  readonly sums: Map<string, bigint>;
  readonly maxima: Map<string, bigint>;
}

export function sumCells(cells: Iterable<CountedDemand>): RollupNeed[] {
  const rows = new Map<string, Row>();
  for (const cell of cells) addTo(rowOf(rows, cell), cell.vector, BigInt(cell.requestCount));
  return [...rows.values()].sort(compareRows).map(({ profile, group, sums, maxima }) => ({
    profile,
    group,
    aggregateResources: printed(sums),
    minUnit: printed(maxima),
  }));
}

function rowOf(rows: Map<string, Row>, { profile, group }: RequestDemand): Row {
  const key = JSON.stringify([profile.fingerprint, group]);
  let row = rows.get(key);
  if (row === undefined) {
    row = { profile, group, sums: new Map(), maxima: new Map() };
    rows.set(key, row);
  }
  return row;
}

function addTo({ sums, maxima }: Row, vector: ResourceVector, count: bigint): void {
  for (const [name, nanos] of vector) {
    sums.set(name, (sums.get(name) ?? 0n) + nanos * count);
    if (nanos > (maxima.get(name) ?? 0n)) maxima.set(name, nanos);
  }
}

function compareRows(a: Row, b: Row): number {
  return compareText(a.profile.fingerprint, b.profile.fingerprint) || compareText(a.group, b.group);
}

function printed(nanosByName: ReadonlyMap<string, bigint>): Map<string, string> {
  const sorted = [...nanosByName].sort(([a], [b]) => compareText(a, b));
  return new Map(sorted.map(([name, nanos]) => [name, printNanos(nanos)]));
}

/**
 * A roll-up as the frame that carries it. Encoded once, when it is built, so that its size is known
 * before it is sent: a roll-up over the message limit must never reach the stream, where it would
 * end the session, be sent again by the next one, and freeze demand without a sign (kubernetes §2.1).
 */
export function encodeRollup(
  clusterId: string,
  timestampUnixNanos: bigint,
  needs: readonly RollupNeed[],
): Uint8Array {
  return encodeInit(OperatorMessageSchema, {
    payload: {
      case: 'rollup',
      value: { clusterId, timestampUnixNanos, needs: needs.map(needInit) },
    },
  });
}

function needInit({ profile, group, aggregateResources, minUnit }: RollupNeed) {
  return {
    requirements: profile.requirements.map(({ key, operator, values }) => ({
      key,
      operator: operator as Operator,
      values: [...values],
    })),
    aggregateResources: fromMap(aggregateResources),
    priority: profile.priority,
    spread: profile.spread.map(({ topologyKey, maxSkew, whenUnsatisfiable }) => ({
      topologyKey,
      maxSkew,
      whenUnsatisfiable: whenUnsatisfiable as WhenUnsatisfiable,
    })),
    interruptionPenaltyBucket: profile.interruptionBucket as number as PenaltyBucket,
    reclamationPenaltyBucket: profile.reclamationBucket as number as PenaltyBucket,
    minUnit: fromMap(minUnit),
    group,
  };
}
