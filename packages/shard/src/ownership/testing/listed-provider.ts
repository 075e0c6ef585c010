// A provider that shows what it is told is there, by List and Get, and changes nothing: for tests in
// which somebody else decides what machines do.

import { encodeInit, fromMap, MachineListSchema } from '@bigfleet/wire';
import type { Provider, ReportedMachine, TransitionAck } from '../../provider/provider.ts';
import { ProviderError } from '../../provider/provider-error.ts';

export class ListedProvider implements Provider {
  readonly #machines: () => readonly ReportedMachine[];

  constructor(machines: () => readonly ReportedMachine[]) {
    this.#machines = machines;
  }

  async list(): Promise<Uint8Array> {
    const machines = this.#machines().map(({ host, ...rest }) => ({
      ...rest,
      ...(host === undefined ? {} : { host: { provider: host.provider, ref: host.ref } }),
      resources: { resources: fromMap(rest.resources) },
      allocatable: { resources: fromMap(rest.allocatable) },
      labels: fromMap(rest.labels),
      shardMetadata: fromMap(rest.shardMetadata),
    }));
    return encodeInit(MachineListSchema, { machines });
  }

  async get(machineId: string): Promise<ReportedMachine> {
    const found = this.#machines().find(({ id }) => id === machineId);
    if (found !== undefined) return found;
    const message = `there is no ${machineId}`;
    throw new ProviderError({ failure: 'not_found', status: 'NOT_FOUND', message });
  }

  create(): Promise<TransitionAck> {
    return refuse();
  }

  configure(): Promise<TransitionAck> {
    return refuse();
  }

  drain(): Promise<TransitionAck> {
    return refuse();
  }

  delete(): Promise<TransitionAck> {
    return refuse();
  }
}

function refuse(): Promise<never> {
  const message = 'this provider only shows machines';
  return Promise.reject(new ProviderError({ failure: 'rejected', status: 'ABORTED', message }));
}
