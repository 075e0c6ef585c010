// From what the user named to an endpoint that answers: a running target, or a process that the
// suite boots. An endpoint that does not answer is told apart from one that answers wrongly.

import type { TlsMaterial } from '@bigfleet/wire';
import { describeThrown } from '@bigfleet/base';
import { bootProcess } from '../process/boot.ts';
import type { Launch } from '../process/launch.ts';
import type { Judged, LaneEnvironment, RemoteTarget } from './environment.ts';
import { unreachable } from './reachable.ts';

export interface BootPlan {
  readonly launch: Launch;
  readonly tls?: TlsMaterial | undefined;
  readonly seedCount: number;
  readonly withState: boolean;
}

export type Opened =
  | { readonly ok: true; readonly judged: Judged }
  | { readonly ok: false; readonly problem: string };

export async function openTarget(
  environment: LaneEnvironment,
  remote: RemoteTarget,
): Promise<Opened> {
  const problem = await unreachable(environment, remote);
  if (problem !== undefined) return { ok: false, problem };
  return { ok: true, judged: { ...remote, description: remote.target, close: async () => {} } };
}

export async function openProcess(environment: LaneEnvironment, plan: BootPlan): Promise<Opened> {
  const { launch, tls, seedCount, withState } = plan;
  try {
    const statePath = withState ? await environment.workspace.statePath(launch.name) : undefined;
    const request = { launch, seedCount, tls, statePath };
    const { target, kill } = await bootProcess(environment, request);
    const store = withState ? 'with state' : 'in memory';
    const description = `${launch.name} booted with ${seedCount} slots, ${store}`;
    return { ok: true, judged: { target, tls, description, close: kill } };
  } catch (error) {
    environment.signal.throwIfAborted();
    return { ok: false, problem: describeThrown(error) };
  }
}
