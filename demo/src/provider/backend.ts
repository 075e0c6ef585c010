// The simulated substrate: hosts in memory, transitions that take their time and sometimes fail.
// Asynchronous on purpose: a synchronous stand-in hides everything that waiting brings. Fencing,
// idempotency, time-outs and the record of each machine are the kit's. What the bootstrap blob starts on a
// host is a node of its cluster (`nodes.ts`).

import { type Runtime, sleep } from '@bigfleet/base';
import {
  type Backend,
  type ConfigureInstanceOptions,
  type CreatedInstance,
  type CreateInstanceOptions,
  type DeleteInstanceOptions,
  type DrainInstanceOptions,
  type ErrorClass,
  forecastInterruption,
  type HostRef,
  type Instance,
  type MachineRecord,
  ProviderError,
} from '@bigfleet/providerkit';
import type { Market } from './market.ts';
import type { JoinedNode, MachineNodes } from './nodes.ts';
import type { Pace, Step } from './pace.ts';
import { allocatableOf } from './shapes.ts';
import type { SimulatedSlot } from './slots.ts';

export interface SimulatedBackendOptions {
  readonly runtime: Runtime;
  /** `HostRef.provider`. */
  readonly label: string;
  readonly slots: readonly SimulatedSlot[];
  readonly market: Market;
  readonly pace: Pace;
  readonly nodes: MachineNodes;
  /** Whether creates and configures are drawn to fail. */
  readonly mayFail: boolean;
  readonly onFailure: (step: Step) => void;
}

interface Host {
  readonly ref: string;
  readonly isSpot: boolean;
  /** What it serves a cluster as. */
  node: JoinedNode | undefined;
}

export interface LostHost {
  readonly machineId: string;
  readonly ref: string;
}

type Fallible = 'create' | 'configure';

const failures: Readonly<Record<Fallible, readonly [vendorCode: string, message: string]>> = {
  create: ['InsufficientInstanceCapacity', 'simulated: no such machine is free'],
  configure: ['JoinHookFailed', 'simulated: the join hook exited 1'],
};

const classes: Readonly<Record<Fallible, ErrorClass>> = { create: 'capacity', configure: 'guest' };

function failure(op: Fallible, vendorCode: string, message: string): ProviderError {
  return new ProviderError({ class: classes[op], op, vendorCode, message });
}

export class SimulatedBackend implements Backend {
  readonly #options: SimulatedBackendOptions;
  readonly #hosts = new Map<string, Host>();
  readonly #lostZones = new Set<string>();

  constructor(options: SimulatedBackendOptions) {
    this.#options = options;
    for (const slot of options.slots) this.#powerOn(slot);
  }

  /** Ids of the machines whose hosts went with the zone. Its slots are not on offer until it is back. */
  async loseZone(zone: string): Promise<readonly string[]> {
    this.#lostZones.add(zone);
    const lost = this.#options.slots.flatMap(({ id, offering }) => {
      const host = offering.zone === zone ? this.#hosts.get(id) : undefined;
      return host === undefined ? [] : [{ machineId: id, ref: host.ref }];
    });
    await Promise.all(lost.map((host) => this.lose(host)));
    return lost.map(({ machineId }) => machineId);
  }

  restoreZone(zone: string): void {
    this.#lostZones.delete(zone);
    for (const slot of this.#options.slots) if (slot.offering.zone === zone) this.#powerOn(slot);
  }

  /** Hosts that a spot market could take back now, in the order of their creation. */
  joinedSpotHosts(): readonly LostHost[] {
    return [...this.#hosts]
      .filter(([, { isSpot, node }]) => isSpot && node !== undefined)
      .map(([machineId, { ref }]) => ({ machineId, ref }));
  }

  /** False when the host is gone already. */
  async lose({ machineId, ref }: LostHost): Promise<boolean> {
    const host = this.#hosts.get(machineId);
    if (host?.ref !== ref) return false;
    this.#hosts.delete(machineId);
    if (host.node !== undefined) await this.#options.nodes.leave(host.node);
    return true;
  }

  async describe(): Promise<readonly Instance[]> {
    const { slots, market } = this.#options;
    const offered = slots.filter(({ offering }) => !this.#lostZones.has(offering.zone));
    return offered.map((slot) => {
      const host = this.#hosts.get(slot.id);
      return {
        ...instanceOf(slot, market),
        ...(host === undefined ? {} : { host: this.#hostRef(host) }),
      };
    });
  }

  async createInstance(options: CreateInstanceOptions): Promise<CreatedInstance> {
    const { machine, operationId, signal } = options;
    const ref = `i-${operationId}`;
    const known = this.#hosts.get(machine.id);
    if (known?.ref === ref) return { host: this.#hostRef(known) };
    await this.#step('create', machine, signal);
    const host = { ref, isSpot: machine.capacityType === 'Spot', node: undefined };
    this.#hosts.set(machine.id, host);
    return { host: this.#hostRef(host) };
  }

  async configureInstance(options: ConfigureInstanceOptions): Promise<void> {
    const { machine, clusterId, bootstrapBlob, signal } = options;
    await this.#step('configure', machine, signal);
    const host = this.#require(machine);
    const joined = await this.#options.nodes.join(clusterId, machine, bootstrapBlob);
    if (joined.kind === 'refused') throw failure('configure', 'JoinRefused', joined.problem);
    host.node = { clusterId, nodeName: joined.nodeName };
  }

  async drainInstance({ machine, signal }: DrainInstanceOptions): Promise<void> {
    await this.#step('drain', machine, signal);
    this.#switchOff(this.#require(machine));
  }

  async deleteInstance({ machine, signal }: DeleteInstanceOptions): Promise<void> {
    await this.#step('delete', machine, signal);
    const host = this.#hosts.get(machine.id);
    if (host !== undefined) this.#switchOff(host);
    this.#hosts.delete(machine.id);
  }

  #switchOff(host: Host): void {
    if (host.node !== undefined) this.#options.nodes.silence(host.node);
    host.node = undefined;
  }

  /** Bare metal stands there without being asked for. */
  #powerOn({ id, offering }: SimulatedSlot): void {
    if (offering.capacityType !== 'BareMetal' || this.#hosts.has(id)) return;
    this.#hosts.set(id, { ref: `rack/${id}`, isSpot: false, node: undefined });
  }

  async #step(step: Step, machine: MachineRecord, signal: AbortSignal): Promise<void> {
    const { runtime, pace, mayFail, onFailure } = this.#options;
    const { zone } = machine;
    const isFailing = mayFail && pace.fails(step);
    await sleep(runtime, pace.dwellMs(step), signal);
    if (step === 'create' && this.#lostZones.has(zone)) {
      throw failure(step, 'ZoneUnavailable', `simulated: ${zone} is lost`);
    }
    if (!isFailing || (step !== 'create' && step !== 'configure')) return;
    onFailure(step);
    const [vendorCode, message] = failures[step];
    throw failure(step, vendorCode, message);
  }

  #require({ id }: MachineRecord): Host {
    const host = this.#hosts.get(id);
    if (host !== undefined) return host;
    const message = `${id} has no host`;
    throw new ProviderError({ class: 'not_found', op: 'host', vendorCode: 'gone', message });
  }

  #hostRef({ ref }: Host): HostRef {
    return { provider: this.#options.label, ref };
  }
}

function instanceOf({ id, offering, labels }: SimulatedSlot, market: Market): Instance {
  const { instanceType, zone, capacityType, resources } = offering;
  const allocatable = allocatableOf(instanceType);
  return {
    id,
    instanceType,
    zone,
    capacityType,
    pricePerHour: market.priceOf(offering),
    interruptionProbability: forecastInterruption(capacityType, undefined),
    resources,
    ...(allocatable === undefined ? {} : { allocatable }),
    labels,
  };
}
