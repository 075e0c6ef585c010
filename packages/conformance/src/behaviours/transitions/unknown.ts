// B207, B208, B215: ids that name nothing.

import type { Check } from '../../harness/check.ts';
import type { CheckContext } from '../../harness/context.ts';
import { defineCheck } from '../../harness/define.ts';
import { refusedWith } from '../../harness/expect.ts';
import { fencedCall, type Mutation, uniqueShardId } from '../../harness/fencing.ts';

const alwaysImplemented: readonly Mutation[] = ['create', 'configure', 'drain'];

/** An id that no provider can hold. */
export function ghostId(context: CheckContext): string {
  return uniqueShardId(context, 'ghost');
}

async function unknownCreatesNothing(context: CheckContext): Promise<void> {
  const machineId = ghostId(context);
  for (const mutation of alwaysImplemented) {
    const answer = await fencedCall(context, mutation, machineId, undefined);
    refusedWith(answer, ['NOT_FOUND'], `${mutation} of the unknown ${machineId}`);
  }
  const read = await context.endpoint.get(machineId);
  refusedWith(read, ['NOT_FOUND'], `Get of the unknown ${machineId} after mutations`);
}

async function emptyIdIsMalformed(context: CheckContext): Promise<void> {
  refusedWith(await context.endpoint.get(''), ['INVALID_ARGUMENT'], 'Get without an id');
  for (const mutation of alwaysImplemented) {
    const answer = await fencedCall(context, mutation, '', undefined);
    refusedWith(answer, ['INVALID_ARGUMENT'], `${mutation} without a machine id`);
  }
}

async function unknownGetAndDelete(context: CheckContext): Promise<void> {
  const machineId = ghostId(context);
  const { endpoint } = context;
  refusedWith(await endpoint.get(machineId), ['NOT_FOUND'], `Get of the unknown ${machineId}`);
  const answer = await endpoint.delete({ machineId });
  refusedWith(answer, ['NOT_FOUND', 'UNIMPLEMENTED'], `Delete of the unknown ${machineId}`);
}

export const unknownChecks: readonly Check[] = [
  defineCheck('B207', 'The order of checks', unknownCreatesNothing),
  defineCheck('B208', 'The order of checks', emptyIdIsMalformed),
  defineCheck('B215', 'Codes by state', unknownGetAndDelete),
];
