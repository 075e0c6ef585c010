// B502, B503: the map lives and dies with its binding, and is never cut.

import { type Check, CheckFailed } from '../../harness/check.ts';
import type { CheckContext } from '../../harness/context.ts';
import { defineCheck } from '../../harness/define.ts';
import { isCode, shown } from '../../harness/expect.ts';
import { ensureCluster, ensureMetadata, ensureUnbound } from '../../harness/metadata.ts';
import { expectState, mustReach, read } from '../../harness/reach.ts';
import { configureTo, drainToIdle, onIdle, standardBlob } from '../../harness/walk.ts';
import { ensureUntouched } from '../transitions/untouched.ts';

const OVERSIZED_SETTLE_MS = 30_000;
const WINDOW_MS = 300;

async function clearedAndReplaced(context: CheckContext, machineId: string): Promise<void> {
  const first = new Map([
    ['first/a', '1'],
    ['first/b', '2'],
    ['first/c', '3'],
  ]);
  await configureTo(context, machineId, { clusterId: 'conf-first', metadata: first });
  ensureMetadata(await read(context, machineId), first, 'first binding');
  await drainToIdle(context, machineId, 5n);
  ensureUnbound(await expectState(context, machineId, 'IDLE'), 'after Drain');
  const second = new Map([
    ['second/x', '8'],
    ['second/y', '9'],
  ]);
  await configureTo(context, machineId, { clusterId: 'conf-second', metadata: second });
  const machine = await read(context, machineId);
  ensureCluster(machine, 'conf-second', 'second binding');
  ensureMetadata(machine, second, 'second binding');
}

async function oversizedNeverTruncated(context: CheckContext, machineId: string): Promise<void> {
  const metadata = new Map<string, string>();
  for (let at = 0; at < 256; at++) metadata.set(`oversized/${at}`, `${at}:`.padEnd(8192, 'y'));
  const call = { machineId, clusterId: 'conf-oversized', blob: standardBlob, metadata };
  const answer = await context.endpoint.configure(call);
  if (answer.ok) {
    const machine = await mustReach(context, machineId, 'CONFIGURED', OVERSIZED_SETTLE_MS);
    ensureMetadata(machine, metadata, 'after a Configure with 2 MiB of metadata');
    // Every later List would carry these 2 MiB.
    await drainToIdle(context, machineId, 0n);
  } else if (isCode(answer, 'INVALID_ARGUMENT')) {
    await ensureUntouched(context, { machineId, state: 'IDLE', windowMs: WINDOW_MS });
  } else {
    throw new CheckFailed(
      `Configure ${machineId} with 2 MiB of metadata: expected OK or INVALID_ARGUMENT, ` +
        `got ${shown(answer)}`,
    );
  }
}

export const bindingChecks: readonly Check[] = [
  defineCheck('B502', 'Binding and metadata', onIdle(clearedAndReplaced)),
  defineCheck('B503', 'Binding and metadata', onIdle(oversizedNeverTruncated)),
];
