// A real shard and a real dashboard, each a process, over a provider whose machines, prices and zones the test
// names one by one: what they decide and cost is known to the cent. Clusters are the production operator's
// session over a cluster in memory; every Pod fills one machine.

import path from 'node:path';
import { realRuntime } from '@bigfleet/base/real';
import { CapacityType } from '@bigfleet/engine';
import { FakeProvider, type FakeSpec, serveFake } from '@bigfleet/shard/testing';
import { MachineState } from '@bigfleet/wire';
import { startOperator, startShardProcess, type TestOperator } from '../shard/shard-process.ts';
import { createTempDir, eventually } from '../toolkit/index.ts';
import { startDashboardProcess } from './dashboard-process.ts';
import { askApi } from './synthetic-dashboard.ts';

export interface NamedMachine {
  readonly id: string;
  readonly zone: string;
  readonly pricePerHour: number;
}

export interface ContestedFleet extends AsyncDisposable {
  /** Of the dashboard. */
  readonly url: string;
  readonly provider: FakeProvider;
  ask<T>(view: string): Promise<T>;
  join(cluster: string): TestOperator;
}

/** Machines are idle from the start; the provider never sells others. */
export async function startContested(machines: readonly NamedMachine[]): Promise<ContestedFleet> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(createTempDir('contested'));
  const runtime = realRuntime();
  const provider = new FakeProvider({ runtime, label: 'yard', isFixedCapacity: true });
  for (const machine of machines) provider.addIdle(specOf(machine));
  const served = await serveFake({ runtime, fake: provider, listen: '127.0.0.1:0' });
  stack.defer(() => served.stop());
  const shard = stack.use(
    await startShardProcess([
      `--data-dir=${path.join(folder.path, 'shard')}`,
      `--provider=yard=${served.address}`,
    ]),
  );
  const dashboard = stack.use(
    await startDashboardProcess(`--shard=shard-0=${shard.address}`, '--simulated'),
  );
  const { url } = dashboard;
  const ask = <T>(view: string): Promise<T> => askApi<T>(url, view);
  const isWhole = async (): Promise<boolean> =>
    (await ask<{ readonly total: number }>('map')).total === machines.length;
  await eventually(isWhole, { what: 'the dashboard shows every machine' });
  const owned = stack.move();
  return {
    url,
    provider,
    ask,
    join: (cluster) => owned.use(startOperator(cluster, () => shard.address)),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Until exactly these machines serve the cluster. */
export async function serves(
  { cluster }: TestOperator,
  what: string,
  count: number,
): Promise<void> {
  await eventually(() => cluster.machinesIn(MachineState.CONFIGURED).length === count, {
    what: `${what} has ${count} machines`,
  });
}

function specOf({ id, zone, pricePerHour }: NamedMachine): FakeSpec {
  return {
    id,
    zone,
    pricePerHour,
    instanceType: 'yard-1',
    capacityType: CapacityType.Reserved,
    interruptionProbability: 0,
    resources: new Map([['cpu', '1']]),
    allocatable: new Map([
      ['cpu', '1'],
      ['pods', '10'],
    ]),
    labels: new Map(),
  };
}
