// A provider process that the durable lane kills and boots again on the same state. The new one
// gets another port: the old sockets may linger in the kernel.

import type { OwnedProcess } from '../harness/check.ts';
import { dialEndpoint } from '../harness/dial.ts';
import type { Endpoint } from '../harness/endpoint.ts';
import { type BootEnvironment, type BootedProcess, type BootRequest, bootProcess } from './boot.ts';

/** Of each call in the durable lane (conformance §5.9). */
export const DURABLE_CALL_DEADLINE_MS = 10_000;

export async function bootDurable(
  environment: BootEnvironment,
  request: Omit<BootRequest, 'statePath'>,
): Promise<DurableProcess> {
  const statePath = await environment.workspace.statePath(request.launch.name);
  const onState: BootRequest = { ...request, statePath };
  return new DurableProcess(environment, onState, await bootProcess(environment, onState));
}

export class DurableProcess implements OwnedProcess {
  readonly #environment: BootEnvironment;
  readonly #request: BootRequest;
  #running: BootedProcess;
  #endpoint: Endpoint;

  constructor(environment: BootEnvironment, request: BootRequest, running: BootedProcess) {
    this.#environment = environment;
    this.#request = request;
    this.#running = running;
    this.#endpoint = this.#dial();
  }

  get endpoint(): Endpoint {
    return this.#endpoint;
  }

  /** Of the running process. */
  get target(): string {
    return this.#running.target;
  }

  async killAndReboot(): Promise<Endpoint> {
    await this.stop();
    this.#running = await bootProcess(this.#environment, this.#request);
    this.#endpoint = this.#dial();
    return this.#endpoint;
  }

  /** Closes the endpoint and kills the process. Idempotent. */
  async stop(): Promise<void> {
    this.#endpoint.close();
    await this.#running.kill();
  }

  #dial(): Endpoint {
    const { target } = this.#running;
    const { tls } = this.#request;
    const callDeadlineMs = DURABLE_CALL_DEADLINE_MS;
    return dialEndpoint({ ...this.#environment, target, tls, callDeadlineMs });
  }
}
