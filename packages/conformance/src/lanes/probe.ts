// Asks an endpoint for its optional capabilities before a lane judges it. What cannot be probed
// counts as present: then the checks fail or skip for their own reason, and nothing is excused.

import type { Capabilities } from '../harness/context.ts';
import { probeCapabilities } from '../harness/probe.ts';
import { ALL_CAPABILITIES, type LaneEnvironment } from './environment.ts';
import type { RemoteTarget } from './judged.ts';
import { runCheck } from './run-check.ts';

export async function probe(
  environment: LaneEnvironment,
  remote: RemoteTarget,
): Promise<Capabilities> {
  let capabilities = ALL_CAPABILITIES;
  const lane = { ...remote, capabilities };
  // Its result is of no interest: a probe that fails leaves the capabilities as they are.
  await runCheck(environment, lane, {
    name: 'probe',
    run: async (context) => {
      capabilities = await probeCapabilities(context);
    },
  });
  return capabilities;
}
