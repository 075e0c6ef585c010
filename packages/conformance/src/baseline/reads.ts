// Get and List: codes, filters, caps, field shape, revision.

import { type CheckContext, SkipCheck } from '../harness/check.ts';
import { ensure, refusedWith } from '../harness/expect.ts';
import { uniqueShardId } from '../harness/fencing.ts';
import { listed, sameBytes } from '../harness/inventory.ts';
import type { MachineView } from '../harness/machine.ts';
import { release } from '../harness/walk.ts';
import { type BaselineCheck, idleMachine } from './check.ts';

export const readChecks: readonly BaselineCheck[] = [
  { name: 'GetUnknownMachine', run: getUnknownMachine },
  { name: 'DeleteUnknownMachine', run: deleteUnknownMachine },
  { name: 'ListFiltersByState', run: listFiltersByState },
  { name: 'ListMaxResults', run: listMaxResults },
  { name: 'LabelShape', run: labelShape },
  { name: 'CostFieldBounds', run: costFieldBounds },
  { name: 'ListRevisionAdvances', run: listRevisionAdvances },
];

async function getUnknownMachine(context: CheckContext): Promise<void> {
  const ghost = uniqueShardId(context, 'ghost');
  refusedWith(await context.endpoint.get(ghost), ['NOT_FOUND'], `Get of unknown ${ghost}`);
}

async function deleteUnknownMachine(context: CheckContext): Promise<void> {
  const machineId = uniqueShardId(context, 'ghost');
  const answer = await context.endpoint.delete({ machineId });
  refusedWith(answer, ['NOT_FOUND', 'UNIMPLEMENTED'], `Delete of unknown ${machineId}`);
}

async function listFiltersByState(context: CheckContext): Promise<void> {
  const machineId = await idleMachine(context);
  const { machines } = await listed(context, { states: ['IDLE'] });
  const stranger = machines.find(({ state }) => state !== 'IDLE');
  ensure(
    stranger === undefined,
    () => `List of IDLE returned ${stranger?.id} in ${stranger?.state}`,
  );
  ensure(
    machines.some(({ id }) => id === machineId),
    `List of IDLE lacks ${machineId}, which is IDLE`,
  );
  await release(context, machineId);
}

async function listMaxResults(context: CheckContext): Promise<void> {
  const { machines } = await listed(context, { maxResults: 1 });
  ensure(machines.length <= 1, `List with max_results 1 returned ${machines.length} machines`);
}

async function labelShape(context: CheckContext): Promise<void> {
  for (const machine of await wholeInventory(context)) {
    ensure(machine.instanceType !== '', `${machine.id}: instance_type is empty`);
    ensure(
      machine.state !== 'UNSPECIFIED' && machine.state !== 'UNRECOGNISED',
      `${machine.id}: state is ${machine.state}`,
    );
  }
}

async function costFieldBounds(context: CheckContext): Promise<void> {
  for (const machine of await wholeInventory(context)) {
    const { id, pricePerHour: price, interruptionProbability: probability } = machine;
    ensure(price >= 0, `${id}: price_per_hour is ${price}, expected a number of at least 0`);
    ensure(
      probability >= 0 && probability <= 1,
      `${id}: interruption_probability is ${probability}, expected a number in [0, 1]`,
    );
  }
}

/** An endpoint without revisions offers no incremental List, which is allowed. */
async function listRevisionAdvances(context: CheckContext): Promise<void> {
  const before = await listed(context);
  if (before.revision.length === 0) return;
  const machineId = await idleMachine(context);
  const after = await listed(context);
  ensure(
    !sameBytes(before.revision, after.revision),
    `the revision of List did not change although ${machineId} went to IDLE`,
  );
  await release(context, machineId);
}

/** An empty inventory would pass every check about its members. */
async function wholeInventory(context: CheckContext): Promise<readonly MachineView[]> {
  const { machines } = await listed(context);
  if (machines.length === 0) throw new SkipCheck('precondition-unmet', 'the inventory is empty');
  return machines;
}
