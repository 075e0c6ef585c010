// What moved a short while ago and therefore stays: flows between two shards and single machines.
// Monotonic time, soft: a new leader starts empty, and the age gate re-arms meanwhile. Bounded: the
// oldest entry is forgotten first, and there are fewer moves in one cooldown than entries.

import { compareText } from '@bigfleet/base';
import type { Move } from './plan.ts';
import type { RebalanceSettings } from './settings.ts';

const MAX_FLOWS_PER_PAIR = 64;
const MAX_PAIRS = 20_000;
const MAX_MACHINES = 50_000;
const MIN_CYCLES = 8;
const PASSES = 2;

/** Assumed until two reports of a shard have shown its own. */
export const DEFAULT_REPORT_INTERVAL_MS = 10_000;

export function cooldownMs(
  settings: Pick<RebalanceSettings, 'cooldownCycles' | 'intervalMs'>,
  reportIntervalMs: number,
): number {
  const cycles = Math.max(MIN_CYCLES, settings.cooldownCycles);
  return Math.max(cycles * reportIntervalMs, PASSES * settings.intervalMs);
}

/**
 * A flow is what moves between two shards, in either direction: moving the same kind of thing back
 * a moment later is oscillation, whichever pass thought it useful. An empty type or zone means
 * "any" and meets every other, because an unpinned move may have carried exactly the pinned
 * machines.
 */
export interface Flow {
  /** Machines, a drain that makes some idle, or the slices of one quota (`name/region`). */
  readonly kind: 'machines' | 'drain' | `quota:${string}`;
  readonly instanceType: string;
  readonly zone: string;
  /** Sorted. */
  readonly shards: readonly [string, string];
}

type FlowParts = Omit<Flow, 'shards'> & { readonly from: string; readonly to: string };

export function flowOf({ from, to, ...what }: FlowParts): Flow {
  const shards: [string, string] = compareText(from, to) <= 0 ? [from, to] : [to, from];
  return { ...what, shards };
}

export function flowOfMove(move: Move): Flow {
  const { from, to } = move;
  if (move.tier === 2) {
    const kind = `quota:${move.provider}/${move.region}` as const;
    return flowOf({ kind, instanceType: '', zone: '', from, to });
  }
  const { instanceType, zone } = move.selector;
  return flowOf({ kind: move.tier === 1 ? 'machines' : 'drain', instanceType, zone, from, to });
}

function pairKey(flow: Flow): string {
  return `${flow.kind}|${flow.shards[0]}|${flow.shards[1]}`;
}

export function meets(a: Flow, b: Flow): boolean {
  return (
    pairKey(a) === pairKey(b) && agrees(a.instanceType, b.instanceType) && agrees(a.zone, b.zone)
  );
}

function agrees(a: string, b: string): boolean {
  return a === b || a === '' || b === '';
}

interface CoolingFlow {
  readonly flow: Flow;
  readonly untilMs: number;
  readonly refusedBy: string | undefined;
}

export class Cooldowns {
  readonly #flows = new Map<string, CoolingFlow[]>();
  readonly #machines = new Map<string, number>();

  coolFlow(flow: Flow, nowMs: number, durationMs: number, refusedBy?: string): void {
    const key = pairKey(flow);
    const others = this.#cooling(flow, nowMs);
    this.#flows.delete(key);
    const entry = { flow, untilMs: nowMs + durationMs, refusedBy };
    this.#flows.set(key, [...others, entry].slice(-MAX_FLOWS_PER_PAIR));
    forgetOldest(this.#flows, MAX_PAIRS);
  }

  coolMachines(machineIds: readonly string[], nowMs: number, durationMs: number): void {
    for (const machineId of machineIds) {
      this.#machines.delete(machineId);
      this.#machines.set(machineId, nowMs + durationMs);
    }
    forgetOldest(this.#machines, MAX_MACHINES);
  }

  isFlowCooling(flow: Flow, nowMs: number): boolean {
    return this.#cooling(flow, nowMs).some((entry) => meets(entry.flow, flow));
  }

  /** The flow cools because this donor was asked for exactly that and had nothing. */
  hasRefused(flow: Flow, donorId: string, nowMs: number): boolean {
    return this.#cooling(flow, nowMs).some(
      ({ flow: { instanceType, zone }, refusedBy }) =>
        refusedBy === donorId && instanceType === flow.instanceType && zone === flow.zone,
    );
  }

  isMachineCooling(machineId: string, nowMs: number): boolean {
    return (this.#machines.get(machineId) ?? 0) > nowMs;
  }

  /** What cools between the shards of the flow. */
  #cooling(flow: Flow, nowMs: number): readonly CoolingFlow[] {
    return (this.#flows.get(pairKey(flow)) ?? []).filter(({ untilMs }) => untilMs > nowMs);
  }
}

function forgetOldest(map: Map<string, unknown>, limit: number): void {
  for (const key of map.keys()) {
    if (map.size <= limit) return;
    map.delete(key);
  }
}
