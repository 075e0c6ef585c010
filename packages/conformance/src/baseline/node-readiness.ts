// NodeReadiness: CONFIGURED means that the node is Ready. No black box can catch a liar, so this
// judges the suite's own fake alone, whose Configure is staged for longer than the window here:
// until the node is Ready the machine is CONFIGURING, and CONFIGURED afterwards.

import type { CheckContext } from '../harness/check.ts';
import { acknowledged, ensure } from '../harness/expect.ts';
import { mustReach, told } from '../harness/reach.ts';
import { poll, scaled } from '../harness/wait.ts';
import { release, standardBlob } from '../harness/walk.ts';
import { type BaselineCheck, baselineCluster, idleMachine, STEP } from './check.ts';

const WINDOW_MS = 1_000;

export const nodeReadiness: BaselineCheck = {
  name: 'NodeReadiness',
  run: async (context: CheckContext) => {
    const machineId = await idleMachine(context);
    const call = { machineId, clusterId: baselineCluster, blob: standardBlob };
    acknowledged(await context.endpoint.configure(call), `Configure ${machineId}`);
    const early = await poll(context, { forMs: scaled(context, WINDOW_MS) }, async () => {
      const answer = await context.endpoint.get(machineId);
      const isEarly = answer.ok && answer.value.state !== 'CONFIGURING';
      return isEarly ? answer.value : undefined;
    });
    ensure(
      early === undefined,
      () => `${machineId}: expected CONFIGURING until the node is Ready, is ${told(early)}`,
    );
    await mustReach(context, machineId, 'CONFIGURED', STEP.withinMs);
    await release(context, machineId);
  },
};
