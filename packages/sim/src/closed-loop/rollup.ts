// Capacity requests become the rows of a roll-up. Key: everything in the profile (requirements with
// Same, priority, spread, both buckets) plus the gang. Resources are never part of it: keys per
// resource shape made the engine credit one machine several times over. Resources add, the atomic
// unit is the maximum per dimension, and no Pod count survives.

import { assert, compareText } from '@bigfleet/base';
import { type Need, type Profile, type Resources, saturatingAdd } from '@bigfleet/engine';

/** What one Pod demands. */
export interface CapacityRequest {
  readonly profile: Profile;
  /** The gang; empty for plain requests. */
  readonly group: string;
  readonly resources: Resources;
}

interface Row {
  readonly request: CapacityRequest;
  readonly aggregate: Map<string, number>;
  readonly minUnit: Map<string, number>;
}

/** Rows by fingerprint and group; arrival is stamped by who receives the roll-up. */
export function buildRollup(cluster: string, requests: Iterable<CapacityRequest>): Need[] {
  const rows = new Map<string, Row>();
  // Pods of one object share their request, so the long key is built once per object.
  const rowOf = new Map<CapacityRequest, Row>();
  for (const request of requests) {
    const hasSame = request.profile.same !== undefined;
    assert(hasSame === (request.group !== ''), 'a gang has a group, and nothing else has', {
      group: request.group,
    });
    const row = rowOf.get(request) ?? rowFor(rows, request);
    rowOf.set(request, row);
    addTo(row, request.resources);
  }
  return [...rows]
    .sort(([a], [b]) => compareText(a, b))
    .map(([, { request, aggregate, minUnit }]) => ({
      cluster,
      profile: request.profile,
      aggregate,
      minUnit,
      group: request.group,
      arrivalUnixNanos: 0n,
    }));
}

function rowFor(rows: Map<string, Row>, request: CapacityRequest): Row {
  const key = `${request.profile.fingerprint}\u0000${request.group}`;
  const known = rows.get(key);
  if (known !== undefined) return known;
  const row: Row = { request, aggregate: new Map(), minUnit: new Map() };
  rows.set(key, row);
  return row;
}

function addTo({ aggregate, minUnit }: Row, resources: Resources): void {
  for (const [name, value] of resources) {
    aggregate.set(name, saturatingAdd(aggregate.get(name) ?? 0, value));
    minUnit.set(name, Math.max(minUnit.get(name) ?? 0, value));
  }
}
