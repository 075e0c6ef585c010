// B101: a machine that served four tenants carries nothing of them.

import type { Check } from '../../harness/check.ts';
import type { CheckContext } from '../../harness/context.ts';
import { defineCheck } from '../../harness/define.ts';
import { ensure } from '../../harness/expect.ts';
import type { MachineView } from '../../harness/machine.ts';
import { ensureCluster, ensureMetadata, ensureUnbound } from '../../harness/metadata.ts';
import { read } from '../../harness/reach.ts';
import { configureTo, drainToIdle, release, walkToIdle } from '../../harness/walk.ts';

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

export const roundChecks: readonly Check[] = [
  defineCheck('B101', 'Binding and metadata', noResidue),
];
