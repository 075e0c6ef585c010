// A scripted run of small commits whose every prefix is a different state, and the states that a
// load after it may answer with.

import { createRandom, type Runtime, seededEntropy } from '@bigfleet/base';
import type { MachineRecord } from '../../../model/machine.ts';
import type { StoreChange, StoreImage } from '../../store.ts';
import { StateImage } from '../../state-image.ts';

export const INCARNATION = 'incarnation-1';
export const PATH = '/state/state.json';

/** Time stands still: nothing in the store may depend on it but pauses, which tests set to 0. */
export const stillRuntime: Pick<Runtime, 'clock' | 'timers' | 'entropy'> = {
  clock: { monotonicMs: () => 0, unixNanos: () => 0n },
  timers: {
    after: () => ({ cancel: () => {} }),
    turn: () => Promise.resolve(),
  },
  entropy: seededEntropy(createRandom('journal tests')),
};

export function machine(id: string, modifiedRevision: number): MachineRecord {
  return {
    id,
    state: 'Idle',
    host: { provider: 'p', ref: `host-${id}` },
    instanceType: 't',
    zone: 'z',
    capacityType: 'Spot',
    pricePerHour: 0.125,
    interruptionProbability: 0.01,
    resources: new Map([['cpu', '1']]),
    labels: new Map(),
    lastError: '',
    cluster: '',
    shardMetadata: new Map(),
    modifiedRevision,
  };
}

/** Commit `index` of the script: several changes, so that a torn commit would show. */
export function scriptedCommit(index: number): readonly StoreChange[] {
  const id = `m${index % 3}`;
  const revision: StoreChange = { kind: 'revision', revision: index + 1 };
  const mark = { shardId: 's', machineId: id, epoch: 1n, sequence: BigInt(index) };
  switch (index % 4) {
    case 0:
      return [{ kind: 'machine', record: machine(id, index + 1) }, revision];
    case 1:
      return [{ kind: 'fence', mark }, revision];
    case 2: {
      const operation = { machineId: id, kind: 'create', operationId: `op-${index}` } as const;
      return [{ kind: 'operation', operation }, { kind: 'fence', mark }, revision];
    }
    default:
      return [{ kind: 'machine-removed', machineId: id }, revision];
  }
}

/** What the store holds after these commits, in one spelling whatever the order of its parts. */
export function stateAfter(commits: readonly (readonly StoreChange[])[]): string {
  const image = new StateImage(INCARNATION);
  for (const changes of commits) image.applyAll(changes);
  return spelled(image.toStoreImage());
}

export function spelled(image: StoreImage | undefined): string {
  if (image === undefined) return 'first boot';
  const { incarnation, revision } = image;
  const parts = [...image.machines, ...image.fences, ...image.operations].map((part) =>
    JSON.stringify(part, (_key, value: unknown) => plain(value)),
  );
  return JSON.stringify([incarnation, revision, parts.toSorted()]);
}

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  if (value instanceof Map) {
    const entries = [...(value as Map<string, string>)];
    return entries.map((entry) => JSON.stringify(entry)).toSorted();
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
