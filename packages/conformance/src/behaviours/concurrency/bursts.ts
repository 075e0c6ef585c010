// B401–B403, B406, B408, B409: identical calls at once are one operation, also over two
// connections, and every ack shows one consistent instant.

import { type Check, type CheckContext, defineCheck } from '../../harness/check.ts';
import type { Ack, Answer, Endpoint } from '../../harness/endpoint.ts';
import { acknowledged, ensure } from '../../harness/expect.ts';
import { BURST, fanout, singleOpId } from '../../harness/fanout.ts';
import { listed } from '../../harness/inventory.ts';
import type { MachineView, State } from '../../harness/machine.ts';
import { ensureCluster, ensureMetadata, ensureUnbound } from '../../harness/metadata.ts';
import { needsDelete } from '../../harness/probe.ts';
import { mustReach } from '../../harness/reach.ts';
import {
  onConfigured,
  onIdle,
  onSlot,
  release,
  standardBlob,
  walkToIdle,
} from '../../harness/walk.ts';

const clusterId = 'conf-burst';
const metadata: ReadonlyMap<string, string> = new Map([
  ['burst/a', '1'],
  ['burst/b', '2'],
]);

async function createsCollapse(context: CheckContext, machineId: string): Promise<void> {
  const answers = await fanout(BURST, () => context.endpoint.create({ machineId }));
  singleOpId(answers, `${BURST} concurrent Creates of ${machineId}`);
  ensureUnbound(await settledOnce(context, machineId, 'IDLE'), 'after concurrent Creates');
}

async function configuresCollapse(context: CheckContext, machineId: string): Promise<void> {
  const answers = await fanout(BURST, () => configure(context.endpoint, machineId));
  singleOpId(answers, `${BURST} concurrent Configures of ${machineId}`);
  ensureBound(await settledOnce(context, machineId, 'CONFIGURED'));
}

async function drainsCollapse(context: CheckContext, machineId: string): Promise<void> {
  const answers = await fanout(BURST, () =>
    context.endpoint.drain({ machineId, graceSeconds: 0n }),
  );
  singleOpId(answers, `${BURST} concurrent Drains of ${machineId}`);
  ensureUnbound(await settledOnce(context, machineId, 'IDLE'), 'after concurrent Drains');
}

async function deletesCollapse(context: CheckContext): Promise<void> {
  needsDelete(context);
  const machineId = await walkToIdle(context);
  const answers = await fanout(BURST, () => context.endpoint.delete({ machineId }));
  singleOpId(answers, `${BURST} concurrent Deletes of ${machineId}`);
  await settledOnce(context, machineId, 'SPECULATIVE');
}

async function twoConnections(context: CheckContext): Promise<void> {
  const second = await context.secondConnection();
  try {
    const machineId = await walkToIdle(context);
    const both = [context.endpoint, second];
    const answers = await fanout(BURST, (index) =>
      configure(index % 2 === 0 ? context.endpoint : second, machineId),
    );
    const operationId = singleOpId(answers, `concurrent Configures over two connections`);
    ensureBound(await settledOnce(context, machineId, 'CONFIGURED'));
    for (const [index, endpoint] of both.entries()) {
      const what = `Configure ${machineId} again over connection ${index + 1}`;
      const replay = acknowledged(await configure(endpoint, machineId), what);
      ensure(
        replay.operationId === operationId,
        () => `${what}: expected operation_id ${operationId}, got ${replay.operationId}`,
      );
    }
    await release(context, machineId);
  } finally {
    second.close();
  }
}

async function noTornSnapshot(context: CheckContext, machineId: string): Promise<void> {
  const answers = await fanout(BURST, () => configure(context.endpoint, machineId));
  singleOpId(answers, `${BURST} concurrent Configures of ${machineId}`);
  for (const answer of answers) if (answer.ok) ensureWhole(answer.value, machineId);
  ensureBound(await settledOnce(context, machineId, 'CONFIGURED'));
}

/**
 * Binding and state of one instant: both states carry the binding from acceptance on
 * (provider-contract §7).
 */
function ensureWhole({ machine }: Ack, machineId: string): void {
  if (machine === undefined) return;
  const what = `the ack of Configure ${machineId}`;
  ensure(machine.id === machineId, () => `${what}: its snapshot is of ${machine.id}`);
  ensure(
    machine.state === 'CONFIGURING' || machine.state === 'CONFIGURED',
    () => `${what}: expected a CONFIGURING or CONFIGURED snapshot, got ${machine.state}`,
  );
  ensureCluster(machine, clusterId, `${what}, ${machine.state}`);
  ensureMetadata(machine, metadata, `${what}, ${machine.state}`);
}

function configure(endpoint: Endpoint, machineId: string): Promise<Answer<Ack>> {
  return endpoint.configure({ machineId, clusterId, blob: standardBlob, metadata });
}

/** Settled, and one record of it in the filtered list. */
async function settledOnce(
  context: CheckContext,
  machineId: string,
  state: State,
): Promise<MachineView> {
  const machine = await mustReach(context, machineId, state);
  const { machines } = await listed(context, { states: [state] });
  const count = machines.filter(({ id }) => id === machineId).length;
  ensure(count === 1, () => `List(${state}): expected ${machineId} once, found ${count} records`);
  return machine;
}

function ensureBound(machine: MachineView): void {
  ensureCluster(machine, clusterId, 'after concurrent Configures');
  ensureMetadata(machine, metadata, 'after concurrent Configures');
}

export const burstChecks: readonly Check[] = [
  defineCheck('B401', 'Retries', onSlot(createsCollapse)),
  defineCheck('B402', 'Retries', onIdle(configuresCollapse)),
  defineCheck('B403', 'Retries', onConfigured(drainsCollapse, { clusterId, metadata })),
  defineCheck('B406', 'Retries', twoConnections),
  defineCheck('B408', 'Retries', onIdle(noTornSnapshot)),
  defineCheck('B409', 'Retries', deletesCollapse),
];
