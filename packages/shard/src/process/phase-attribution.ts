// Diagnostic lines about who gets what and why not, every 20th cycle (shard §12.4): how much demand
// is open, and whether machines that are given back would have served it. Off by default, and then
// nothing of it runs. Bounded: it compares a sample, and lets I/O in between pages of verdicts.

import type { Timers } from '@bigfleet/base';
import { ActionKind, covers, type Machine, satisfiesAll, type Verdict } from '@bigfleet/engine';
import type { Logger } from '@bigfleet/telemetry';
import type { CycleReport, ShardObserver } from '../core/observer.ts';
import type { EngineHost } from '../engine-host/engine-host.ts';
import type { Fleet } from '../fleet/fleet.ts';

const EVERY_CYCLES = 20;
const LINES_MAX = 5;
const PAGE_ROWS = 1_000;
/** Of open needs and of reclaims: a diagnosis, no census. */
const SAMPLE_MAX = 500;

export interface PhaseAttributionOptions {
  readonly host: EngineHost;
  readonly fleet: () => Fleet;
  readonly logger: Logger;
  readonly timers: Timers;
  readonly supervise: (component: string, work: Promise<void>) => void;
}

export function createPhaseAttribution(options: PhaseAttributionOptions): Partial<ShardObserver> {
  let isRunning = false;
  const run = async (report: CycleReport): Promise<void> => {
    isRunning = true;
    try {
      await attribute(options, reclaimsOf(report, options.fleet()));
    } finally {
      isRunning = false;
    }
  };
  return {
    onCycle: (report) => {
      if (isRunning || report.cycle % EVERY_CYCLES !== 0) return;
      options.supervise('phase attribution', run(report));
    },
  };
}

interface Demand {
  totalCount: number;
  sameCount: number;
  openCount: number;
  openSameCount: number;
  readonly open: Verdict[];
  readonly satisfiedGangs: Verdict[];
}

async function attribute(
  { host, logger, timers }: PhaseAttributionOptions,
  reclaims: readonly Machine[],
): Promise<void> {
  const demand = await readDemand(host, timers);
  const matching = reclaims.filter((machine) => serves(machine, demand.open));
  const fitting = matching.filter((machine) => serves(machine, demand.open, true));
  logger.info('phase attribution', {
    needs_total: demand.totalCount,
    needs_same: demand.sameCount,
    p1_unsatisfied: demand.openCount,
    p1_unsatisfied_same: demand.openSameCount,
    p3_reclaim: reclaims.length,
    p3_reclaim_matches_unsatisfied: matching.length,
    p3_reclaim_matches_and_fits: fitting.length,
  });
  for (const { id, cluster, instanceType, zone } of matching.slice(0, LINES_MAX)) {
    logger.info('reclaim attribution', { machine: id, cluster, instance_type: instanceType, zone });
  }
  const gangs = demand.open.filter(({ need }) => need.profile.same !== undefined);
  for (const gang of gangs.slice(0, LINES_MAX)) logGang(logger, 'gang attribution', gang);
  for (const gang of demand.satisfiedGangs) logGang(logger, 'satisfied gang attribution', gang);
}

async function readDemand(host: EngineHost, timers: Timers): Promise<Demand> {
  const demand: Demand = {
    totalCount: 0,
    sameCount: 0,
    openCount: 0,
    openSameCount: 0,
    open: [],
    satisfiedGangs: [],
  };
  for (let offset = 0; ; offset += PAGE_ROWS) {
    const { rows, total } = await host.verdicts({ cluster: '', offset, limit: PAGE_ROWS });
    for (const { verdict } of rows) note(demand, verdict);
    if (offset + PAGE_ROWS >= total) return demand;
    await timers.turn();
  }
}

function note(demand: Demand, verdict: Verdict): void {
  const isGang = verdict.need.profile.same !== undefined;
  demand.totalCount += 1;
  if (isGang) demand.sameCount += 1;
  if (!verdict.satisfied) {
    demand.openCount += 1;
    if (isGang) demand.openSameCount += 1;
    if (demand.open.length < SAMPLE_MAX) demand.open.push(verdict);
  } else if (isGang && demand.satisfiedGangs.length < LINES_MAX)
    demand.satisfiedGangs.push(verdict);
}

/** As they are now; one that is gone already is left out. */
function reclaimsOf({ answer: { actions } }: CycleReport, fleet: Fleet): readonly Machine[] {
  const machines: Machine[] = [];
  for (let at = 0; at < actions.count && machines.length < SAMPLE_MAX; at++) {
    if (actions.kind[at] !== ActionKind.Reclaim) continue;
    const slot = actions.slot[at]!;
    const generation = actions.generation[at]!;
    if (fleet.isSame({ slot, generation })) machines.push(fleet.read(slot));
  }
  return machines;
}

function serves(machine: Machine, open: readonly Verdict[], mustFit = false): boolean {
  return open.some(
    ({ need: { profile, minUnit } }) =>
      satisfiesAll(machine, profile.requirements) &&
      (!mustFit || covers(machine.allocatable, minUnit)),
  );
}

function logGang(logger: Logger, text: string, verdict: Verdict): void {
  const { need, claimedCount, sameDomain, sameSatisfiable, parked, reasonCode } = verdict;
  logger.info(text, {
    cluster: need.cluster,
    group: need.group,
    fingerprint: need.profile.fingerprint,
    claimed: claimedCount,
    domain: sameDomain ?? '',
    satisfiable: sameSatisfiable,
    parked,
    reason: reasonCode,
  });
}
