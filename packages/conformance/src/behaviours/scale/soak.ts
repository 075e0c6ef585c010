// B1104, B1105, B1109: under churn for the whole soak, nothing leaks, nothing is lost, and idle
// machines do not drift.

import { type Check, type CheckContext, defineCheck } from '../../harness/check.ts';
import { ensure } from '../../harness/expect.ts';
import { mapLimited } from '../../harness/fanout.ts';
import { fullList } from '../../harness/inventory.ts';
import { isTransitional, type MachineView } from '../../harness/machine.ts';
import { ensureUnbound } from '../../harness/metadata.ts';
import { pickSpeculative } from '../../harness/pick.ts';
import { quiescence } from '../../harness/quiescence.ts';
import { read, told } from '../../harness/reach.ts';
import { poll } from '../../harness/wait.ts';
import {
  configureTo,
  createToIdle,
  deleteToSpeculative,
  drainToIdle,
  release,
  walkNToIdle,
} from '../../harness/walk.ts';

const MACHINES = 8;
/** More than a soak can reach; a bound all the same. */
const MAX_ROUNDS = 1_000_000;
const DRIFT_MIN_MS = 500;
const DRIFT_MAX_MS = 3_000;
const PARALLEL_SETTLE_MS = 30_000;

async function churnLeaksNothing(context: CheckContext): Promise<void> {
  const ids = await walkNToIdle(context, MACHINES);
  const rounds = await forSoak(context, MAX_ROUNDS, async (round) => {
    await mapLimited(ids, MACHINES, (machineId) => churn(context, machineId, round));
  });
  context.note(`${rounds} rounds on ${MACHINES} machines`);
  await release(context, ...ids);
}

async function churn(context: CheckContext, machineId: string, round: number): Promise<void> {
  const settle = { withinMs: PARALLEL_SETTLE_MS };
  const metadata = new Map([[`churn/${round}`, machineId]]);
  await configureTo(context, machineId, { clusterId: `conf-churn-${round}`, metadata }, settle);
  await drainToIdle(context, machineId, 0n, settle);
  const machine = await read(context, machineId);
  ensureUnbound(machine, `IDLE after round ${round}`);
  ensure(
    machine.state === 'IDLE' && machine.lastError === '',
    () => `${machineId} after round ${round}: expected a clean IDLE, is ${told(machine)}`,
  );
}

async function countConserved(context: CheckContext): Promise<void> {
  const before = (await quiescence(context)).machines;
  const baseline = residentCount(before);
  const kept: string[] = [];
  const slots = before.length - baseline;
  // Without Delete each round uses a slot up: half of them are left to the other checks.
  const maxRounds = context.capabilities.delete ? MAX_ROUNDS : Math.ceil(slots / 2);
  const rounds = await forSoak(context, maxRounds, async () => {
    const machineId = await pickSpeculative(context);
    await createToIdle(context, machineId);
    await ensureResident(context, baseline + kept.length + 1, `after Create ${machineId}`);
    if (context.capabilities.delete) {
      await deleteToSpeculative(context, machineId);
      await ensureResident(context, baseline + kept.length, `after Delete ${machineId}`);
    } else {
      kept.push(machineId);
    }
  });
  const after = (await fullList(context)).machines;
  ensure(
    after.length === before.length,
    () => `the fleet had ${before.length} machines before ${rounds} rounds, ${after.length} after`,
  );
  context.note(`${rounds} rounds`);
}

async function ensureResident(
  context: CheckContext,
  expected: number,
  when: string,
): Promise<void> {
  const count = residentCount((await fullList(context)).machines);
  ensure(
    count === expected,
    () => `${when}: expected ${expected} machines with a host (created − deleted), found ${count}`,
  );
}

function residentCount(machines: readonly MachineView[]): number {
  return machines.filter(({ state }) => state !== 'SPECULATIVE').length;
}

async function noDrift(context: CheckContext): Promise<void> {
  const ids = await walkNToIdle(context, MACHINES);
  const windowMs = Math.min(Math.max(context.scale.soakMs / 4, DRIFT_MIN_MS), DRIFT_MAX_MS);
  let sampleCount = 0;
  const drifted = await poll(context, { forMs: windowMs }, async () => {
    for (const machineId of ids) {
      const answer = await context.endpoint.get(machineId);
      if (!answer.ok) continue;
      sampleCount++;
      if (isTransitional(answer.value.state) || answer.value.state === 'FAILED')
        return answer.value;
    }
    return undefined;
  });
  ensure(
    drifted === undefined,
    () => `${drifted?.id}: nobody called it, and it is ${told(drifted)}`,
  );
  ensure(sampleCount >= MACHINES, `only ${sampleCount} of the Gets succeeded`);
  await release(context, ...ids);
}

/** Rounds until the soak time is over, at least one; how many there were. */
async function forSoak(
  context: CheckContext,
  maxRounds: number,
  round: (number: number) => Promise<void>,
): Promise<number> {
  const { clock } = context.runtime;
  const endMs = clock.monotonicMs() + context.scale.soakMs;
  let count = 0;
  do {
    await round(count);
    count++;
  } while (clock.monotonicMs() < endMs && count < maxRounds);
  return count;
}

export const soakChecks: readonly Check[] = [
  defineCheck('B1104', 'Binding and metadata', churnLeaksNothing),
  defineCheck('B1105', 'Listing', countConserved),
  defineCheck('B1109', 'Six calls', noDrift),
];
