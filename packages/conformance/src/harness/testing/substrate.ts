// The substrate under the kit's provider in these tests: slots that become hosts in memory, with
// the fault hooks of conformance §4.1. `workMs` is what every operation takes: 0 is a provider
// whose transitions nobody sees, more is one that is caught in the act.

import { type Runtime, sleep } from '@bigfleet/base';
import type { Backend, Instance } from '@bigfleet/providerkit';

export interface SubstrateOptions {
  readonly runtime: Runtime;
  readonly seedCount: number;
  readonly workMs: number;
  readonly hasDelete: boolean;
  readonly createFaultCount?: number;
  /** Of the provider: what `fault-slow-ok` outlasts. */
  readonly timeoutMs: number;
}

export function createSubstrate(options: SubstrateOptions): Backend {
  const { runtime, workMs, timeoutMs } = options;
  const slots = seedSlots(options);
  const hosts = new Set<string>();
  /** Nodes that joined, by machine: a restarted provider asks again. */
  const joined = new Map<string, string>();
  const work = (signal: AbortSignal): Promise<void> => sleep(runtime, workMs, signal);
  const untilCancelled = (signal: AbortSignal): Promise<never> =>
    sleep(runtime, 24 * 3_600_000, signal).then(() => {
      throw new Error('nobody cancelled');
    });
  const backend: Backend = {
    describe: async () => slots.map((slot) => (hosts.has(slot.id) ? asHost(slot) : slot)),
    createInstance: async ({ machine, signal }) => {
      await work(signal);
      if (machine.labels.get('conformance.fault/create') === 'error') {
        throw new Error('the substrate has no capacity');
      }
      hosts.add(machine.id);
      return { host: hostOf(machine.id) };
    },
    configureInstance: async ({ machine, clusterId, signal }) => {
      if (clusterId === 'fault-error') throw new Error('the join hook failed');
      if (clusterId === 'fault-timeout') await untilCancelled(signal);
      if (clusterId === 'fault-slow-ok') await sleep(runtime, timeoutMs + 1_000);
      else await work(signal);
      joined.set(machine.id, clusterId);
    },
    confirmNodeReady: async ({ machine, clusterId, signal }) => {
      const isReady = joined.get(machine.id) === clusterId;
      if (!isReady || clusterId === 'fault-readiness-block') await untilCancelled(signal);
    },
    drainInstance: async ({ machine, signal }) => {
      await work(signal);
      if (machine.cluster === 'fault-drain-error') throw new Error('the node does not stop');
      joined.delete(machine.id);
    },
  };
  if (!options.hasDelete) return backend;
  return {
    ...backend,
    deleteInstance: async ({ machine, signal }) => {
      await work(signal);
      hosts.delete(machine.id);
    },
  };
}

function hostOf(id: string): { readonly provider: string; readonly ref: string } {
  return { provider: 'test', ref: `host-of-${id}` };
}

function asHost(slot: Instance): Instance {
  return { ...slot, host: hostOf(slot.id) };
}

function seedSlots({ seedCount, createFaultCount = 0 }: SubstrateOptions): readonly Instance[] {
  const slots: Instance[] = [];
  for (let at = 0; at < seedCount; at++) slots.push(slot(`slot-${at}`, at % 3 === 0));
  for (let at = 0; at < createFaultCount; at++) {
    const labels = new Map([['conformance.fault/create', 'error']]);
    slots.push({ ...slot(`faultcreate-${at}`, false), labels });
  }
  return slots;
}

function slot(id: string, isSpot: boolean): Instance {
  return {
    id,
    instanceType: 'standard-4',
    zone: 'zone-a',
    capacityType: isSpot ? 'Spot' : 'OnDemand',
    pricePerHour: isSpot ? 0.12 : 0.4,
    interruptionProbability: isSpot ? 0.05 : 0,
    resources: new Map([
      ['cpu', '4'],
      ['memory', '16Gi'],
    ]),
    allocatable: new Map([
      ['cpu', '3900m'],
      ['memory', '15Gi'],
    ]),
  };
}
