// Pictures and ledgers for tests of a pass: a fleet in a few words, through the real state machine
// and the real message types.

import { assert } from '@bigfleet/base';
import {
  decode,
  encodeInit,
  Operator,
  type PenaltyBucket,
  type ShardReport,
  ShardReportSchema,
} from '@bigfleet/wire';
import { Cooldowns } from '../../moves/cooldowns.ts';
import { Reservations } from '../../moves/reservations.ts';
import { DEFAULT_REBALANCE_SETTINGS } from '../../moves/settings.ts';
import { pictureOf, type ShardPicture } from '../../reports/soft-state.ts';
import type { CommandBody } from '../../state/commands.ts';
import { decide } from '../../state/decide/decide.ts';
import { FleetState } from '../../state/fleet-state.ts';
import type { PassInput } from '../pass-context.ts';

export const ADDRESS = 'provider.example:9000';
export const NOW_MS = 1_000_000;

const META = {
  schema: 1,
  clusterUid: 'uid',
  term: 1n,
  applyIndex: 0,
  lastCommandId: '',
  assignmentRevision: 0,
  ledgerGeneration: 0,
};

export interface ShortSpec {
  readonly priority?: number;
  readonly age?: number;
  readonly cpu?: string;
  readonly unit?: string | null;
  readonly bucket?: number;
  readonly reason?: string;
  readonly isSame?: boolean;
  readonly types?: readonly string[];
  readonly zones?: readonly string[];
  readonly regions?: readonly string[];
}

export interface ShardSpec {
  readonly idle?: number;
  readonly total?: number;
  readonly speculative?: number;
  readonly address?: string;
  readonly isShared?: boolean;
  readonly types?: Readonly<Record<string, number>>;
  readonly zones?: Readonly<Record<string, number>>;
  readonly short?: readonly ShortSpec[];
  readonly ageMs?: number;
}

export function ledgerOf(commands: readonly CommandBody[]): FleetState {
  const state = new FleetState({ meta: META, rows: [] });
  for (const [at, body] of commands.entries()) {
    const head = { commandId: `c${at}`, issuedAtMs: at };
    const decision = decide(state, { ...head, ...body }, state.meta.applyIndex + 1);
    assert(decision.kind === 'change', `the ledger takes ${body.kind}`);
    state.install(decision.change, head.commandId);
  }
  return state;
}

export function registered(ids: readonly string[]): CommandBody[] {
  return ids.map((id) => ({ kind: 'AddShard', id, address: `${id}:7780`, registeredAtMs: 0 }));
}

function pictureFrom(shardId: string, spec: ShardSpec): ShardPicture {
  const atMs = NOW_MS - (spec.ageMs ?? 0);
  const clock = { monotonicMs: () => atMs, unixNanos: () => 0n };
  return pictureOf(reportFrom(shardId, spec), undefined, clock);
}

export function passInput(
  shards: Readonly<Record<string, ShardSpec>>,
  more: Partial<PassInput> & { readonly commands?: readonly CommandBody[] } = {},
): PassInput {
  const { commands = [], ...changed } = more;
  const ids = Object.keys(shards);
  return {
    nowMs: NOW_MS,
    pictures: ids.map((id) => pictureFrom(id, shards[id] ?? {})),
    state: ledgerOf([...registered(ids), ...commands]),
    settings: DEFAULT_REBALANCE_SETTINGS,
    cooldowns: new Cooldowns(),
    reservations: new Reservations(),
    exhaustedBefore: new Set(),
    isRecovering: () => false,
    hasQueueRoom: () => true,
    ...changed,
  };
}

function reportFrom(shardId: string, spec: ShardSpec): ShardReport {
  const idle = spec.idle ?? 0;
  const speculative = spec.speculative ?? 0;
  const total = spec.total ?? idle + speculative;
  const shared = spec.isShared ?? true;
  const provider = {
    name: 'prov',
    address: spec.address ?? ADDRESS,
    totalMachines: total,
    idleMachines: idle,
    freeMachines: idle + speculative,
    speculativeMachines: speculative,
    shared,
    source: 'flag',
  };
  const bytes = encodeInit(ShardReportSchema, {
    shardId,
    cycle: 1n,
    shardEpoch: 1n,
    providerShared: shared,
    summary: {
      totalMachines: total,
      freeMachines: idle + speculative,
      idleMachines: idle,
      perInstanceTypeCounts: { ...spec.types },
      perZoneCounts: { ...spec.zones },
      providers: [provider],
    },
    shortfalls: (spec.short ?? []).map(shortfallInit),
  });
  return decode(ShardReportSchema, bytes, 'INTERNAL');
}

function shortfallInit(spec: ShortSpec): {
  requirements: { key: string; operator: Operator; values: string[] }[];
  deficit: { resources: { [name: string]: string } };
  minUnit?: { resources: { [name: string]: string } };
  priority: number;
  ageCycles: number;
  interruptionPenaltyBucket: PenaltyBucket;
  topologyConstrained: boolean;
  reasonCode: string;
} {
  const pins: readonly [string, readonly string[] | undefined][] = [
    ['node.kubernetes.io/instance-type', spec.types],
    ['topology.kubernetes.io/zone', spec.zones],
    ['topology.kubernetes.io/region', spec.regions],
  ];
  const unit = spec.unit === undefined ? '4' : spec.unit;
  return {
    requirements: pins.flatMap(([key, values]) =>
      values === undefined ? [] : [{ key, operator: Operator.IN, values: [...values] }],
    ),
    deficit: { resources: { cpu: spec.cpu ?? '40' } },
    ...(unit === null ? {} : { minUnit: { resources: { cpu: unit } } }),
    priority: spec.priority ?? 100,
    ageCycles: spec.age ?? 6,
    interruptionPenaltyBucket: (spec.bucket ?? 5) as PenaltyBucket,
    topologyConstrained: spec.isSame ?? false,
    reasonCode: spec.reason ?? 'no_matching_supply',
  };
}
