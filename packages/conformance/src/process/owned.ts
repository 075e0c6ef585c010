// A provider process that the durable lane kills and boots again on the same state. The new one
// gets another port: the old sockets may linger in the kernel.

import type { OwnedProcess } from '../harness/check.ts';
import { dialEndpoint } from '../harness/dial.ts';
import { type BootEnvironment, type BootRequest, bootProcess } from './boot.ts';

/** Of each call in the durable lane (conformance §5.9). */
export const DURABLE_CALL_DEADLINE_MS = 10_000;

export interface DurableProcess extends OwnedProcess {
  /** Of the running process. */
  readonly target: string;
  /** Closes the endpoint and kills the process. Idempotent. */
  stop(): Promise<void>;
}

export async function bootDurable(
  environment: BootEnvironment,
  request: Omit<BootRequest, 'statePath'>,
): Promise<DurableProcess> {
  const { launch, tls } = request;
  const statePath = await environment.workspace.statePath(launch.name);
  const boot = async () => {
    const { target, kill } = await bootProcess(environment, { ...request, statePath });
    const callDeadlineMs = DURABLE_CALL_DEADLINE_MS;
    return {
      target,
      kill,
      endpoint: dialEndpoint({ ...environment, target, tls, callDeadlineMs }),
    };
  };
  let running = await boot();
  const stop = async (): Promise<void> => {
    running.endpoint.close();
    await running.kill();
  };
  return {
    get endpoint() {
      return running.endpoint;
    },
    get target() {
      return running.target;
    },
    stop,
    killAndReboot: async () => {
      await stop();
      running = await boot();
      return running.endpoint;
    },
  };
}
