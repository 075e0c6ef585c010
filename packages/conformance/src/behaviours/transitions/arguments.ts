// B209–B211, B213: extreme arguments are either honoured in full or refused as arguments, and the
// machine shows which. Two behaviours tolerate a lenient provider; the report says which it is.

import type { FencingToken } from '@bigfleet/wire';
import { type Check, type CheckContext, CheckFailed, defineCheck } from '../../harness/check.ts';
import { acknowledged, isCode, shown } from '../../harness/expect.ts';
import { fencedCreate, shownToken, token, uniqueShardId } from '../../harness/fencing.ts';
import { ensureCluster, ensureMetadata } from '../../harness/metadata.ts';
import { pickSpeculative } from '../../harness/pick.ts';
import { mustReach } from '../../harness/reach.ts';
import {
  onConfigured,
  onIdle,
  release,
  standardBlob,
  standardCluster,
} from '../../harness/walk.ts';
import { ensureUntouched } from './transitions.ts';

const LARGE_SETTLE_MS = 20_000;
const clusterId = 'conf-arguments';

async function bigMetadata(context: CheckContext, machineId: string): Promise<void> {
  const metadata = new Map<string, string>();
  for (let at = 0; at < 512; at++) metadata.set(`big/${at}`, `${at}:`.padEnd(1024, 'x'));
  const call = { machineId, clusterId, blob: standardBlob, metadata };
  const answer = await context.endpoint.configure(call);
  if (answer.ok) {
    const machine = await mustReach(context, machineId, 'CONFIGURED', LARGE_SETTLE_MS);
    ensureCluster(machine, clusterId, 'after a Configure with 512 KiB of metadata');
    ensureMetadata(machine, metadata, 'after a Configure with 512 KiB of metadata');
  } else if (isCode(answer, 'INVALID_ARGUMENT')) {
    await ensureUntouched(context, { machineId, state: 'IDLE' });
  } else {
    throw unexpected(`Configure ${machineId} with 512 KiB of metadata`, answer);
  }
}

async function negativeGrace(context: CheckContext, machineId: string): Promise<void> {
  const answer = await context.endpoint.drain({ machineId, graceSeconds: -5n });
  if (isCode(answer, 'INVALID_ARGUMENT')) {
    await ensureUntouched(context, { machineId, state: 'CONFIGURED', cluster: clusterId });
    context.note('strict');
  } else if (answer.ok) {
    const machine = await mustReach(context, machineId, 'IDLE', LARGE_SETTLE_MS);
    ensureCluster(machine, '', 'after a Drain with a negative grace');
    context.note('lenient');
  } else {
    throw unexpected(`Drain ${machineId} with grace −5`, answer);
  }
}

async function malformedToken(context: CheckContext): Promise<void> {
  const outcomes = new Set<string>();
  for (const [epoch, sequence] of [
    [-1n, 1n],
    [1n, -1n],
    [-7n, -3n],
  ] as const) {
    const machineId = await pickSpeculative(context);
    const stamp = token(uniqueShardId(context, 'malformed'), epoch, sequence);
    outcomes.add(await malformedTokenOn(context, machineId, stamp));
    await release(context, machineId);
  }
  context.note(outcomes.has('lenient') ? 'lenient' : 'strict');
}

async function malformedTokenOn(
  context: CheckContext,
  machineId: string,
  stamp: FencingToken,
): Promise<'strict' | 'lenient'> {
  const answer = await fencedCreate(context, machineId, stamp);
  if (isCode(answer, 'INVALID_ARGUMENT')) {
    await ensureUntouched(context, { machineId, state: 'SPECULATIVE' });
    return 'strict';
  }
  if (!answer.ok) throw unexpected(`Create ${machineId} with token ${shownToken(stamp)}`, answer);
  await mustReach(context, machineId, 'IDLE');
  return 'lenient';
}

async function oversizedBlob(context: CheckContext, machineId: string): Promise<void> {
  const blob = new Uint8Array(3 * 1024 * 1024).fill(0x23);
  const call = { machineId, clusterId: standardCluster, blob };
  const answer = await context.endpoint.configure(call);
  if (answer.ok) {
    acknowledged(answer, `Configure ${machineId} with a blob of 3 MiB`);
    const machine = await mustReach(context, machineId, 'CONFIGURED', LARGE_SETTLE_MS);
    ensureCluster(machine, standardCluster, 'after a Configure with a blob of 3 MiB');
  } else if (isCode(answer, 'INVALID_ARGUMENT') || isCode(answer, 'RESOURCE_EXHAUSTED')) {
    await ensureUntouched(context, { machineId, state: 'IDLE' });
  } else {
    throw unexpected(`Configure ${machineId} with a blob of 3 MiB`, answer);
  }
}

function unexpected(what: string, answer: Parameters<typeof shown>[0]): CheckFailed {
  return new CheckFailed(`${what}: expected OK or an argument error, got ${shown(answer)}`);
}

export const argumentChecks: readonly Check[] = [
  defineCheck('B209', 'Binding and metadata', onIdle(bigMetadata)),
  defineCheck('B210', 'The order of checks', onConfigured(negativeGrace, { clusterId })),
  defineCheck('B211', 'The order of checks', malformedToken),
  defineCheck('B213', 'The order of checks', onIdle(oversizedBlob)),
];
