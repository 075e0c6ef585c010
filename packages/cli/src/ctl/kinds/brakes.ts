// What fails in a row and what is held off for it (adr 0085): needs whose machines never join, and
// instance types that fail in several clusters.

import type { CallOptions, FailureRun, NeedBrake, TypeBrake } from '@bigfleet/wire';
import type { ShardApi } from '../connect/shards.ts';
import { durationText, utcTime } from '../output/text.ts';
import { defineKind, fromShards, isOfCluster, type Kind, type ListQuery } from './kind.ts';
import { shortNeed } from './need-name.ts';

interface BrakeRow {
  readonly kind: 'need' | 'type';
  /** `<cluster>/<need>` or `<provider>/<instance type>`. */
  readonly name: string;
  readonly shard: string;
  readonly cluster: string;
  /** Short form, for `brakes clear`. */
  readonly need: string;
  readonly fingerprint: string;
  readonly provider: string;
  readonly instanceType: string;
  readonly failures: number;
  readonly heldOff: boolean;
  readonly pauseSeconds: number;
  readonly nextProbe: string | null;
  /** Until the next probe; `due` when it may go. */
  readonly nextProbeIn: string;
  readonly lastError: string;
}

function needBrakeRow(brake: NeedBrake, shard: string, nowUnixNanos: bigint): BrakeRow {
  const { clusterId: cluster, profileFingerprint: fingerprint, run } = brake;
  // Gangs of one profile are held off together.
  const need = shortNeed(fingerprint, '');
  const names = { cluster, need, fingerprint, provider: '', instanceType: '' };
  return {
    kind: 'need',
    name: `${cluster}/${need}`,
    shard,
    ...names,
    ...runRow(run, nowUnixNanos),
  };
}

function typeBrakeRow(brake: TypeBrake, shard: string, nowUnixNanos: bigint): BrakeRow {
  const { provider, instanceType, run } = brake;
  const names = { cluster: '', need: '', fingerprint: '', provider, instanceType };
  const name = `${provider}/${instanceType}`;
  return { kind: 'type', name, shard, ...names, ...runRow(run, nowUnixNanos) };
}

type RunRow = Pick<
  BrakeRow,
  'failures' | 'heldOff' | 'pauseSeconds' | 'nextProbe' | 'nextProbeIn' | 'lastError'
>;

function runRow(run: FailureRun | undefined, nowUnixNanos: bigint): RunRow {
  const endsUnixNanos = run?.pauseEndsUnixNanos ?? 0n;
  const leftMs = Number((endsUnixNanos - nowUnixNanos) / 1_000_000n);
  return {
    failures: run?.failures ?? 0,
    heldOff: endsUnixNanos !== 0n,
    pauseSeconds: run?.pauseSeconds ?? 0,
    nextProbe: utcTime(endsUnixNanos) ?? null,
    nextProbeIn: endsUnixNanos === 0n ? '' : leftMs <= 0 ? 'due' : durationText(leftMs),
    lastError: run?.lastError ?? '',
  };
}

export interface Brakes {
  /** The rail is on. */
  readonly enabled: boolean;
  readonly needs: readonly NeedBrake[];
  readonly types: readonly TypeBrake[];
}

export async function fetchBrakes({ query }: ShardApi, call: CallOptions): Promise<Brakes> {
  let enabled = false;
  const needs: NeedBrake[] = [];
  const types: TypeBrake[] = [];
  for await (const batch of query.listBrakes({}, call)) {
    enabled = batch.enabled;
    needs.push(...batch.needs);
    types.push(...batch.types);
  }
  return { enabled, needs, types };
}

/** Rows of a cluster are needs, rows of a provider types. */
function isAsked(query: ListQuery, { kind, cluster, provider }: BrakeRow): boolean {
  if (query.clusters.length > 0 && (kind !== 'need' || !isOfCluster(query, cluster))) return false;
  return query.provider === '' || query.provider === provider;
}

export const brakes: Kind = defineKind<BrakeRow>({
  plural: 'brakes',
  columns: [
    { title: 'KIND', of: ({ kind }) => kind },
    { title: 'NAME', of: ({ name }) => name },
    { title: 'FAILURES', of: ({ failures }) => String(failures) },
    {
      title: 'HELD_OFF',
      of: ({ heldOff, pauseSeconds }) => (heldOff ? durationText(pauseSeconds * 1_000) : 'no'),
      tone: ({ heldOff }) => (heldOff ? 'bad' : 'warn'),
    },
    { title: 'NEXT_PROBE', of: ({ nextProbeIn }) => nextProbeIn },
    { title: 'SHARD', of: ({ shard }) => shard },
    { title: 'PROBE_AT', of: ({ nextProbe }) => nextProbe ?? '', isWide: true },
    { title: 'FINGERPRINT', of: ({ fingerprint }) => fingerprint, isWide: true },
    { title: 'ERROR', of: ({ lastError }) => lastError, isWide: true, tone: () => 'bad' },
  ],
  filters: ['cluster', 'provider'],
  rows: fromShards({
    feature: 'list brakes',
    ask: fetchBrakes,
    rows: ({ needs, types }, shard, { query, nowUnixNanos }) =>
      [
        ...needs.map((brake) => needBrakeRow(brake, shard, nowUnixNanos)),
        ...types.map((brake) => typeBrakeRow(brake, shard, nowUnixNanos)),
      ].filter((row) => isAsked(query, row)),
    note: ({ enabled }) => (enabled ? undefined : 'runs with --configure-brake=false'),
  }),
  isNamed: ({ name }, given) => name === given,
});
