// A provider process that the durable lane kills and boots again on the same state. The new one
// gets another port: the old sockets may linger in the kernel.

import type { OwnedProcess } from '../harness/context.ts';
import { dialEndpoint } from '../harness/dial.ts';
import type { Endpoint } from '../harness/endpoint.ts';
import { type BootEnvironment, type BootedProcess, type BootRequest, bootProcess } from './boot.ts';

/** Of each call in the durable lane (conformance §5.9). */
const CALL_DEADLINE_MS = 10_000;

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
  const statePath = await environment.workspace.statePath(request.launch.name);
  const onState: BootRequest = { ...request, statePath };
  return new RebootableProcess(environment, onState, await bootProcess(environment, onState));
}

class RebootableProcess implements DurableProcess {
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

  get target(): string {
    return this.#running.target;
  }

  async killAndReboot(): Promise<Endpoint> {
    await this.stop();
    this.#running = await bootProcess(this.#environment, this.#request);
    this.#endpoint = this.#dial();
    return this.#endpoint;
  }

  async stop(): Promise<void> {
    this.#endpoint.close();
    await this.#running.kill();
  }

  #dial(): Endpoint {
    const { runtime, signal, timeScale } = this.#environment;
    const { tls } = this.#request;
    const { target } = this.#running;
    return dialEndpoint({
      runtime,
      target,
      tls,
      signal,
      timeScale,
      callDeadlineMs: CALL_DEADLINE_MS,
    });
  }
}
