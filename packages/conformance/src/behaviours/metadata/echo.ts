// B501, B504, B505: what Configure stored comes back byte for byte, from acceptance on, and belongs
// to the provider alone.

import type { Check } from '../../harness/check.ts';
import type { CheckContext } from '../../harness/context.ts';
import { defineCheck } from '../../harness/define.ts';
import { acknowledged } from '../../harness/expect.ts';
import { listedRecord } from '../../harness/inventory.ts';
import { ensureCluster, ensureMetadata } from '../../harness/metadata.ts';
import { expectState, mustReach, read } from '../../harness/reach.ts';
import { watch } from '../../harness/trace.ts';
import { configureTo, onIdle, standardBlob } from '../../harness/walk.ts';
import { hostileMap } from './hostile-map.ts';

const clusterId = 'conf-echo';

async function hostileMapVerbatim(context: CheckContext, machineId: string): Promise<void> {
  const metadata = hostileMap();
  await configureTo(context, machineId, { clusterId, metadata });
  for (let reading = 1; reading <= 4; reading++) {
    ensureMetadata(await read(context, machineId), metadata, `Get number ${reading}`);
  }
  const record = await listedRecord(context, machineId, 'CONFIGURED');
  ensureMetadata(record, metadata, 'List(CONFIGURED)');
}

async function visibleWhileConfiguring(context: CheckContext, machineId: string): Promise<void> {
  const metadata = new Map([
    ['early/a', 'visible'],
    ['early/b', 'from\u0000acceptance'],
  ]);
  const call = { machineId, clusterId, blob: standardBlob, metadata };
  const ack = acknowledged(await context.endpoint.configure(call), `Configure ${machineId}`);
  for (const sample of await watch(context, { machineId, until: 'CONFIGURED', ack })) {
    if (sample.state === 'CONFIGURING') ensureMetadata(sample, metadata, 'at CONFIGURING');
  }
  const machine = await expectState(context, machineId, 'CONFIGURED');
  ensureMetadata(machine, metadata, 'at CONFIGURED');
}

async function noAliasing(context: CheckContext, machineId: string): Promise<void> {
  const metadata = new Map([
    ['alias/changed', 'original'],
    ['alias/deleted', 'original'],
  ]);
  const original = new Map(metadata);
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
}

export const echoChecks: readonly Check[] = [
  defineCheck('B501', 'Binding and metadata', onIdle(hostileMapVerbatim)),
  defineCheck('B504', 'Binding and metadata', onIdle(visibleWhileConfiguring)),
  defineCheck('B505', 'Binding and metadata', onIdle(noAliasing)),
];
