// The one part that an author writes: six small methods between the kit and the substrate. They
// await and return; a rejection means that the machine has failed. Fencing, idempotency, timeouts,
// metadata and the readiness gate are the kit's.

import {
  type Backend,
  type ConfigureInstanceOptions,
  type CreatedInstance,
  type CreateInstanceOptions,
  type DeleteInstanceOptions,
  type DescribeOptions,
  type DrainInstanceOptions,
  type HostRef,
  type Instance,
  type MachineRecord,
  type Offering,
  offeringSlots,
  ProviderError,
} from '@bigfleet/providerkit';
import { allocatableOf, interruptionOf, priceOf } from './shapes.ts';
import type { Substrate } from './substrate.ts';

export interface BackendOptions {
  /** `HostRef.provider`: implementation and region, the same for a host's whole life. */
  readonly label: string;
  readonly offerings: readonly Offering[];
  readonly substrate: Substrate;
}

export class SubstrateBackend implements Backend {
  readonly #label: string;
  readonly #offerings: readonly Offering[];
  readonly #substrate: Substrate;

  constructor({ label, offerings, substrate }: BackendOptions) {
    this.#label = label;
    this.#offerings = offerings;
    this.#substrate = substrate;
  }

  /** Every slot of the quota, and the host that fills it, if there is one. */
  async describe({ signal }: DescribeOptions): Promise<readonly Instance[]> {
    const hosts = await this.#substrate.hosts(signal);
    const byMachine = new Map(hosts.map((host) => [host.machineId, host.ref]));
    return [...offeringSlots(this.#label, this.#offerings)].map(({ id, offering }) => {
      const ref = byMachine.get(id);
      return {
        ...instanceOf(id, offering),
        ...(ref === undefined ? {} : { host: this.#host(ref) }),
      };
    });
  }

  async createInstance(options: CreateInstanceOptions): Promise<CreatedInstance> {
    const { machine, operationId, signal } = options;
    const { id: machineId, instanceType, zone } = machine;
    const order = { machineId, instanceType, zone, token: operationId };
    const { ref } = await this.#substrate.launch(order, signal);
    return { host: this.#host(ref) };
  }

  async configureInstance(options: ConfigureInstanceOptions): Promise<void> {
    const { machine, bootstrapBlob, signal } = options;
    await this.#substrate.join(refOf(machine), bootstrapBlob, signal);
  }

  async drainInstance(options: DrainInstanceOptions): Promise<void> {
    const { machine, gracePeriodSeconds, signal } = options;
    await this.#substrate.leave(refOf(machine), gracePeriodSeconds, signal);
  }

  /** Leave this method out when all capacity is fixed: Delete then answers UNIMPLEMENTED. */
  async deleteInstance({ machine, signal }: DeleteInstanceOptions): Promise<void> {
    await this.#substrate.terminate(refOf(machine), signal);
  }

  #host(ref: string): HostRef {
    return { provider: this.#label, ref };
  }
}

function instanceOf(id: string, offering: Offering): Instance {
  const { instanceType, zone, capacityType, resources, labels } = offering;
  const allocatable = allocatableOf(instanceType);
  return {
    id,
    instanceType,
    zone,
    capacityType,
    pricePerHour: priceOf(offering) ?? Number.NaN,
    interruptionProbability: interruptionOf(offering),
    resources,
    ...(allocatable === undefined ? {} : { allocatable }),
    labels,
  };
}

function refOf({ id, host }: MachineRecord): string {
  if (host !== undefined) return host.ref;
  throw new ProviderError({
    class: 'not_found',
    op: 'host',
    vendorCode: 'none',
    message: `${id} has no host`,
  });
}
