// A backend that does what a test says: by default every call succeeds after `delayMs` of virtual
// time on a substrate in memory; a script may answer a call otherwise. Records every call, so that
// a test can count work items and see operation ids.

import { type Runtime, sleep } from '@bigfleet/base';
import type {
  Backend,
  ConfigureInstanceOptions,
  ConfirmNodeReadyOptions,
  CreatedInstance,
  CreateInstanceOptions,
  DeleteInstanceOptions,
  DrainInstanceOptions,
  Instance,
} from '../../backend/backend.ts';
import type { HostRef } from '../../model/machine.ts';

export type CallName = 'describe' | 'create' | 'configure' | 'ready' | 'drain' | 'delete';

export interface BackendCall {
  readonly name: CallName;
  readonly machineId: string;
  readonly operationId: string;
  readonly signal: AbortSignal;
  readonly gracePeriodSeconds?: number;
  readonly hostRef?: string | undefined;
}

/** Resolves to go on as usual; rejects or waits as the test likes. */
export type Script = (call: BackendCall) => Promise<void> | undefined;

export interface ScriptedBackendOptions {
  readonly runtime: Runtime;
  readonly slots: readonly Instance[];
  readonly delayMs?: number;
}

export class ScriptedBackend implements Backend {
  readonly calls: BackendCall[] = [];
  script: Script = () => undefined;
  redrive: boolean = true;
  isClosed: boolean = false;
  delayMs: number;
  /** What describe lists; hosts are added and removed by create and delete. */
  readonly instances: Map<string, Instance> = new Map();
  readonly #runtime: Runtime;
  #hostCount = 0;

  constructor(options: ScriptedBackendOptions) {
    this.#runtime = options.runtime;
    this.delayMs = options.delayMs ?? 10;
    for (const slot of options.slots) this.instances.set(slot.id, slot);
  }

  countOf(name: CallName): number {
    return this.calls.filter((call) => call.name === name).length;
  }

  async describe({ signal }: { signal: AbortSignal }): Promise<readonly Instance[]> {
    await this.#play({ name: 'describe', machineId: '', operationId: '', signal });
    return [...this.instances.values()];
  }

  async createInstance(options: CreateInstanceOptions): Promise<CreatedInstance> {
    await this.#play({ name: 'create', ...of(options) });
    return { host: this.addHost(options.machine.id) };
  }

  async configureInstance(options: ConfigureInstanceOptions): Promise<void> {
    await this.#play({ name: 'configure', ...of(options) });
  }

  async confirmNodeReady(options: ConfirmNodeReadyOptions): Promise<void> {
    await this.#play({ name: 'ready', ...of(options) });
  }

  async drainInstance(options: DrainInstanceOptions): Promise<void> {
    const { gracePeriodSeconds } = options;
    await this.#play({ name: 'drain', ...of(options), gracePeriodSeconds });
  }

  deleteInstance? = async (options: DeleteInstanceOptions): Promise<void> => {
    await this.#play({ name: 'delete', ...of(options) });
    this.removeHost(options.machine.id);
  };

  async close(): Promise<void> {
    this.isClosed = true;
  }

  addHost(machineId: string): HostRef {
    const host = { provider: 'test-1', ref: `i-${++this.#hostCount}` };
    const slot = this.instances.get(machineId);
    if (slot !== undefined) this.instances.set(machineId, { ...slot, state: 'Idle', host });
    return host;
  }

  removeHost(machineId: string): void {
    const slot = this.instances.get(machineId);
    if (slot === undefined) return;
    const { host: _host, ...rest } = slot;
    this.instances.set(machineId, { ...rest, state: 'Speculative' });
  }

  async #play(call: BackendCall): Promise<void> {
    this.calls.push(call);
    const scripted = this.script(call);
    if (scripted !== undefined) return await scripted;
    if (call.name !== 'describe') await sleep(this.#runtime, this.delayMs, call.signal);
  }
}

interface MachineCall {
  readonly machine: { readonly id: string; readonly host?: HostRef };
  readonly operationId: string;
  readonly signal: AbortSignal;
}

function of({ machine, operationId, signal }: MachineCall): Omit<BackendCall, 'name'> {
  return { machineId: machine.id, operationId, signal, hostRef: machine.host?.ref };
}
