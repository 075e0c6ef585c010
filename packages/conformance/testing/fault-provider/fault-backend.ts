// A backend that can be told to misbehave, over the wire alone (conformance §4.1): by the cluster
// that a Configure names, and by a label on slots whose creation fails. Everything else succeeds.
// It certifies the kit's handling of failures; no real backend ever looks like this.

import type { Runtime } from '@bigfleet/base';
import type {
  Backend,
  ConfigureInstanceOptions,
  ConfirmNodeReadyOptions,
  CreatedInstance,
  CreateInstanceOptions,
  DrainInstanceOptions,
  Instance,
} from '@bigfleet/providerkit';

const CREATE_FAULT_LABEL = 'conformance.fault/create';
const CREATE_FAULT_COUNT = 8;
const LATE_BY_MS = 1_000;

const shape = {
  instanceType: 'fault-standard-4',
  zone: 'fault-zone-a',
  resources: new Map([
    ['cpu', '4'],
    ['memory', '16Gi'],
  ]),
  allocatable: new Map([
    ['cpu', '4'],
    ['memory', '16Gi'],
  ]),
};
const poolLabel: readonly [string, string] = ['fault.conformance/pool', 'default'];

export interface FaultBackendOptions {
  readonly label: string;
  readonly seedCount: number;
  readonly transitionTimeoutMs: number;
  readonly timers: Runtime['timers'];
}

export class FaultBackend implements Backend {
  readonly #options: FaultBackendOptions;

  constructor(options: FaultBackendOptions) {
    this.#options = options;
  }

  async describe(): Promise<readonly Instance[]> {
    const { label, seedCount } = this.#options;
    const healthy = Array.from({ length: seedCount }, (_, index) =>
      slot(`${label}-${index}`, index),
    );
    const failing = Array.from({ length: CREATE_FAULT_COUNT }, (_, index) => ({
      ...slot(`faultcreate-${index}`, 0),
      labels: new Map([poolLabel, [CREATE_FAULT_LABEL, 'error']]),
    }));
    return [...healthy, ...failing];
  }

  async createInstance({ machine, operationId }: CreateInstanceOptions): Promise<CreatedInstance> {
    if (machine.labels.get(CREATE_FAULT_LABEL) === 'error')
      throw new Error('create fault, as asked');
    return { host: { provider: this.#options.label, ref: `host-${operationId}` } };
  }

  async configureInstance({ clusterId, signal }: ConfigureInstanceOptions): Promise<void> {
    if (clusterId === 'fault-error') throw new Error('configure fault, as asked');
    if (clusterId === 'fault-timeout') await untilAborted(signal);
    if (clusterId === 'fault-slow-ok') await this.#sleepThrough();
  }

  async confirmNodeReady({ clusterId, signal }: ConfirmNodeReadyOptions): Promise<void> {
    if (clusterId === 'fault-readiness-block') await untilAborted(signal);
    // Asked after a restart cut the Configure short: the node never joined.
    if (clusterId === 'fault-timeout') throw new Error('the node has not joined');
  }

  async drainInstance({ machine }: DrainInstanceOptions): Promise<void> {
    if (machine.cluster === 'fault-drain-error') throw new Error('drain fault, as asked');
  }

  async deleteInstance(): Promise<void> {}

  /** Deaf to cancellation, and successful when it is too late. */
  #sleepThrough(): Promise<void> {
    const { timers, transitionTimeoutMs } = this.#options;
    return new Promise((resolve) => timers.after(transitionTimeoutMs + LATE_BY_MS, resolve));
  }
}

function slot(id: string, index: number): Instance {
  const isSpot = index % 3 === 2;
  return {
    ...shape,
    id,
    capacityType: isSpot ? 'Spot' : 'OnDemand',
    pricePerHour: isSpot ? 0.12 : 0.4,
    interruptionProbability: isSpot ? 0.05 : 0,
    labels: new Map([poolLabel]),
  };
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}
