// What fails in a row and what is held off for it (adr 0085): needs whose machines never join, and
// instance types that fail in several clusters.

import type { CallOptions, FailureRun, NeedBrake, TypeBrake } from '@bigfleet/wire';
import type { ShardApi } from '../connect/shards.ts';
import { durationText, utcTime } from '../output/text.ts';
import { defineKind, fromShards, isOfCluster, type Kind, type ListQuery } from './kind.ts';
import { shortNeed } from './need-name.ts';

/** Names that a brake does not have stay empty. */
const NO_NAMES = {
  cluster: '',
  /** Short form, for `brakes clear`. */
  need: '',
  fingerprint: '',
  provider: '',
  instanceType: '',
};

function needBrakeRow(brake: NeedBrake, shard: string, nowUnixNanos: bigint) {
  const { clusterId: cluster, profileFingerprint: fingerprint, run } = brake;
  // Gangs of one profile are held off together.
  const need = shortNeed(fingerprint, '');
  const names = { ...NO_NAMES, cluster, need, fingerprint };
  const name = `${cluster}/${need}`;
  return { kind: 'need' as const, name, shard, ...names, ...runRow(run, nowUnixNanos) };
}

function typeBrakeRow(brake: TypeBrake, shard: string, nowUnixNanos: bigint) {
  const { provider, instanceType, run } = brake;
  const names = { ...NO_NAMES, provider, instanceType };
  const name = `${provider}/${instanceType}`;
  return { kind: 'type' as const, name, shard, ...names, ...runRow(run, nowUnixNanos) };
}

type BrakeRow = ReturnType<typeof needBrakeRow> | ReturnType<typeof typeBrakeRow>;

function runRow(run: FailureRun | undefined, nowUnixNanos: bigint) {
  const endsUnixNanos = run?.pauseEndsUnixNanos ?? 0n;
  const leftMs = Number((endsUnixNanos - nowUnixNanos) / 1_000_000n);
  return {
    failures: run?.failures ?? 0,
    heldOff: endsUnixNanos !== 0n,
    pauseSeconds: run?.pauseSeconds ?? 0,
    nextProbe: utcTime(endsUnixNanos) ?? null,
    /** `due` when it may go. */
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
