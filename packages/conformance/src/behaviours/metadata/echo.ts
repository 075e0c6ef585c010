// B501, B504, B505: what Configure stored comes back byte for byte, from acceptance on, and belongs
// to the provider alone.

import type { Check } from '../../harness/check.ts';
import type { CheckContext } from '../../harness/context.ts';
import { defineCheck } from '../../harness/define.ts';
import { acknowledged, ensure } from '../../harness/expect.ts';
import { listed } from '../../harness/inventory.ts';
import { ensureCluster, ensureMetadata } from '../../harness/metadata.ts';
import { expectState, mustReach, read } from '../../harness/reach.ts';
import { watch } from '../../harness/trace.ts';
import { configureTo, release, standardBlob, walkToIdle } from '../../harness/walk.ts';
import { hostileMap } from './hostile-map.ts';

const clusterId = 'conf-echo';

async function hostileMapVerbatim(context: CheckContext): Promise<void> {
  const metadata = hostileMap();
  const machineId = await walkToIdle(context);
  await configureTo(context, machineId, { clusterId, metadata });
  for (let reading = 1; reading <= 4; reading++) {
    ensureMetadata(await read(context, machineId), metadata, `Get number ${reading}`);
  }
  const { machines } = await listed(context, { states: ['CONFIGURED'] });
  const record = machines.find(({ id }) => id === machineId);
  ensure(record !== undefined, () => `List(CONFIGURED): ${machineId} is missing`);
  ensureMetadata(record, metadata, 'List(CONFIGURED)');
  await release(context, machineId);
}

async function visibleWhileConfiguring(context: CheckContext): Promise<void> {
  const metadata = new Map([
    ['early/a', 'visible'],
    ['early/b', 'from\u0000acceptance'],
  ]);
  const machineId = await walkToIdle(context);
  const call = { machineId, clusterId, blob: standardBlob, metadata };
  const ack = acknowledged(await context.endpoint.configure(call), `Configure ${machineId}`);
  for (const sample of await watch(context, { machineId, until: 'CONFIGURED', ack })) {
    if (sample.state === 'CONFIGURING') ensureMetadata(sample, metadata, 'at CONFIGURING');
  }
  const machine = await expectState(context, machineId, 'CONFIGURED');
  ensureMetadata(machine, metadata, 'at CONFIGURED');
  await release(context, machineId);
}

async function noAliasing(context: CheckContext): Promise<void> {
  const metadata = new Map([
    ['alias/changed', 'original'],
    ['alias/deleted', 'original'],
  ]);
  const original = new Map(metadata);
  const machineId = await walkToIdle(context);
  const call = { machineId, clusterId, blob: standardBlob, metadata };
  acknowledged(await context.endpoint.configure(call), `Configure ${machineId}`);
  await mustReach(context, machineId, 'CONFIGURED');
  metadata.set('alias/changed', 'mutated by the caller');
  metadata.delete('alias/deleted');
  metadata.set('alias/added', 'by the caller');
  for (let reading = 1; reading <= 2; reading++) {
    const machine = await read(context, machineId);
    ensureMetadata(machine, original, `Get ${reading} after the caller changed its own map`);
    ensureCluster(machine, clusterId, `Get ${reading}`);
  }
  await release(context, machineId);
}

export const echoChecks: readonly Check[] = [
  defineCheck('B501', 'Binding and metadata', hostileMapVerbatim),
  defineCheck('B504', 'Binding and metadata', visibleWhileConfiguring),
  defineCheck('B505', 'Binding and metadata', noAliasing),
];
