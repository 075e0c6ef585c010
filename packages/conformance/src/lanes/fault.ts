// B701–B708 on an endpoint that can be told to misbehave (conformance §4.1): one that the user
// names, or the reference fault provider. The latter certifies the kit that a provider of this
// repository is built on; about a provider of anyone else it says nothing.

import { faultProviderLaunch, hasFaultProvider } from '../process/launch.ts';
import { FAULT_TIMEOUT_MS, type LaneEnvironment, type RemoteTarget } from './environment.ts';
import { type Opened, openProcess, openTarget } from './open.ts';

export const FAULT_SEED_COUNT = 64;

/** A provider under test that is built on our kit may be stood for by the reference fault provider. */
export async function openFault(
  environment: LaneEnvironment,
  faultTarget: RemoteTarget | undefined,
  isKitProvider: boolean,
): Promise<Opened> {
  if (faultTarget !== undefined) return openTarget(environment, faultTarget);
  if (!isKitProvider)
    return { ok: false, problem: 'needs --fault-target; with make FAULT_TARGET=' };
  if (!hasFaultProvider()) {
    return { ok: false, problem: 'needs --fault-target: no fault provider in this package' };
  }
  return openProcess(environment, {
    launch: faultProviderLaunch(FAULT_TIMEOUT_MS),
    seedCount: FAULT_SEED_COUNT,
    withState: false,
  });
}
