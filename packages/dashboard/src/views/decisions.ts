// Decisions: what happened and why, as the engine recorded it; lanes per cluster over all that match, and
// machines that left one cluster for another.

import { compareText } from '@bigfleet/base';
import type { Answer, Decision, Params } from '../api/index.ts';
import { dollarsOfUnits, unitsOfDollars } from '../mirror/money.ts';
import type { World } from '../mirror/world.ts';
import { KIND_NAMES } from '../words.ts';
import { endOf, frameOf, type ViewContext } from './context.ts';

const MOVES_SHOWN = 1_000;

export function decisionsView(
  world: World,
  params: Params<'decisions'>,
  context: ViewContext,
): Answer<'decisions'> {
  const { log, coordinator } = context.mirror;
  const fromMs = params.from;
  const toMs = Math.min(params.to === 0 ? Number.MAX_SAFE_INTEGER : params.to, endOf(world));
  const matching: Decision[] = [];
  const lanes = new Map<string, { byKind: number[]; units: number }>();
  const moves = new Moves(params);
  for (const decision of log.between(fromMs, toMs)) {
    if (params.shard !== '' && decision.shard !== params.shard) continue;
    moves.see(decision);
    if (!isMatch(decision, params)) continue;
    matching.push(decision);
    const lane = lanes.get(decision.cluster) ?? { byKind: KIND_NAMES.map(() => 0), units: 0 };
    const kind = KIND_NAMES.indexOf(decision.kind);
    lane.byKind[kind] = (lane.byKind[kind] ?? 0) + 1;
    lane.units += unitsOfDollars(decision.dollarsPerHour);
    lanes.set(decision.cluster, lane);
  }
  return {
    frame: frameOf(world, context),
    total: matching.length,
    oldestMs: log.oldestMs ?? world.atMs,
    decisions: matching.slice(-params.limit).reverse(),
    lanes: [...lanes]
      .sort(([a], [b]) => compareText(a, b))
      .map(([cluster, { byKind, units }]) => ({
        cluster,
        byKind,
        dollarsPerHour: dollarsOfUnits(units),
      })),
    moves: moves.found.slice(-MOVES_SHOWN),
    transfers: (coordinator?.transfers ?? []).filter(
      ({ createdMs, updatedMs }) => createdMs <= toMs && updatedMs >= fromMs,
    ),
    damagedRecords: log.damagedCount,
  };
}

function isMatch(decision: Decision, params: Params<'decisions'>): boolean {
  return (
    (params.cluster === '' || decision.cluster === params.cluster) &&
    (params.machine === '' || decision.machine === params.machine) &&
    (params.kind === '' || decision.kind === params.kind) &&
    (params.reason === '' || decision.reason === params.reason)
  );
}

class Moves {
  readonly found: Answer<'decisions'>['moves'] = [];
  readonly #left = new Map<string, Decision>();
  readonly #params: Params<'decisions'>;

  constructor(params: Params<'decisions'>) {
    this.#params = params;
  }

  /** In the order of their times. */
  see(decision: Decision): void {
    const { machine, kind, heldBack } = decision;
    if (heldBack !== '') return;
    if (kind === 'Reclaim' || kind === 'Preempt') this.#left.set(machine, decision);
    if (kind === 'Delete') this.#left.delete(machine);
    if (kind !== 'Bootstrap' && kind !== 'Provision') return;
    const before = this.#left.get(machine);
    this.#left.delete(machine);
    if (before === undefined || before.cluster === decision.cluster) return;
    const { cluster, machine: wanted } = this.#params;
    if (wanted !== '' && wanted !== machine) return;
    if (cluster !== '' && cluster !== before.cluster && cluster !== decision.cluster) return;
    this.found.push({
      machine,
      from: before.cluster,
      fromMs: before.atMs,
      fromId: before.id,
      to: decision.cluster,
      toMs: decision.atMs,
      toId: decision.id,
    });
  }
}
