// What fails in a row and what is held off for it (adr 0085): needs whose machines never join, and
// instance types that fail in several clusters.

import type { FailureRun, NeedBrake, TypeBrake } from '@bigfleet/wire';
import { shortNeed } from '../listings/need-name.ts';
import type { Column } from '../output/table.ts';
import { durationText, utcTime } from '../output/texts.ts';

export interface BrakeRow {
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

export function needBrakeRow(brake: NeedBrake, shard: string, nowUnixNanos: bigint): BrakeRow {
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

export function typeBrakeRow(brake: TypeBrake, shard: string, nowUnixNanos: bigint): BrakeRow {
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

export const brakeColumns: readonly Column<BrakeRow>[] = [
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
];
