// B101, B106–B108: what a record carries in each state, that a machine at rest stays at rest, and
// that one which served four tenants carries nothing of them.

import { type Check, type CheckContext, defineCheck } from '../../harness/check.ts';
import { acknowledged, ensure } from '../../harness/expect.ts';
import { type MachineView, isStable, isTransitional, legalStates } from '../../harness/machine.ts';
import { ensureCluster, ensureMetadata, ensureUnbound } from '../../harness/metadata.ts';
import { expectState, neverReaches, read, staysIn } from '../../harness/reach.ts';
import {
  configureTo,
  createToIdle,
  drainToIdle,
  onConfigured,
  onIdle,
  onSlot,
  release,
  standardCluster,
  walkToIdle,
} from '../../harness/walk.ts';
import { watch } from '../../harness/trace.ts';

const ROUNDS = 4;
const GRACE_SECONDS = 5n;

async function noResidue(context: CheckContext): Promise<void> {
  const id = await walkToIdle(context);
  ensureClean(await read(context, id), 'after Create');
  for (let round = 1; round <= ROUNDS; round++) {
    const clusterId = `conf-round-${round}`;
    const metadata = new Map([
      [`round/${round}`, 'tenant'],
      ['shared/key', `value ${round}`],
    ]);
    const { machine } = await configureTo(context, id, { clusterId, metadata });
    ensureCluster(machine, clusterId, `round ${round}, CONFIGURED`);
    ensureMetadata(machine, metadata, `round ${round}, CONFIGURED`);
    await drainToIdle(context, id, GRACE_SECONDS);
    ensureClean(await read(context, id), `round ${round}, after Drain`);
  }
  await release(context, id);
}

function ensureClean(machine: MachineView, where: string): void {
  ensure(
    machine.state === 'IDLE',
    () => `${where}: expected ${machine.id} to be IDLE, is ${machine.state}`,
  );
  ensureUnbound(machine, where);
  ensure(
    machine.lastError === '',
    () =>
      `${where}: expected no last_error on ${machine.id}, is ${JSON.stringify(machine.lastError)}`,
  );
}

const WINDOW_MS = 300;

async function clusterIffBound(context: CheckContext, machineId: string): Promise<void> {
  ensureCluster(await read(context, machineId), '', 'at IDLE');
  const clusterId = 'conf-bound';
  const answer = await context.endpoint.configure({ machineId, clusterId });
  const ack = acknowledged(answer, `Configure ${machineId}`);
  for (const sample of await watch(context, { machineId, until: 'CONFIGURED', ack })) {
    if (sample.state === 'CONFIGURING') ensureCluster(sample, clusterId, 'at CONFIGURING');
  }
  ensureCluster(await expectState(context, machineId, 'CONFIGURED'), clusterId, 'at CONFIGURED');
  await drainToIdle(context, machineId, 0n);
  ensureCluster(await expectState(context, machineId, 'IDLE'), '', 'at IDLE after Drain');
}

async function hostByState(context: CheckContext, machineId: string): Promise<void> {
  ensureHost(await expectState(context, machineId, 'SPECULATIVE'), false);
  ensureHost((await createToIdle(context, machineId)).machine, true);
  const binding = { clusterId: standardCluster };
  ensureHost((await configureTo(context, machineId, binding)).machine, true);
  ensureHost((await drainToIdle(context, machineId, 0n)).machine, true);
}

function ensureHost(machine: MachineView, isExpected: boolean): void {
  const { id, state, host } = machine;
  ensure(isStable(state), () => `${id}: expected a stable state at rest, is ${state}`);
  ensure(
    (host !== undefined) === isExpected,
    () => `${id} at ${state}: expected ${isExpected ? 'a host, has none' : `no host, has one`}`,
  );
}

async function restsAtRest(context: CheckContext, machineId: string): Promise<void> {
  await restsIn(context, machineId, 'CONFIGURED');
  await drainToIdle(context, machineId, 0n);
  await restsIn(context, machineId, 'IDLE');
}

async function restsIn(
  context: CheckContext,
  machineId: string,
  state: 'CONFIGURED' | 'IDLE',
): Promise<void> {
  await staysIn(context, machineId, state, WINDOW_MS);
  await neverReaches(context, machineId, legalStates.filter(isTransitional), WINDOW_MS);
  await expectState(context, machineId, state);
}

export const restChecks: readonly Check[] = [
  defineCheck('B101', 'Binding and metadata', noResidue),
  defineCheck('B106', 'Binding and metadata', onIdle(clusterIffBound)),
  defineCheck('B107', 'The shape of a machine', onSlot(hostByState)),
  defineCheck('B108', 'Six calls', onConfigured(restsAtRest)),
];
