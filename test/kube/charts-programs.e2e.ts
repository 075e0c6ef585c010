// Proves that programs start with what charts render: a coordinator, a shard and a provider, each with its chart's
// own command line, make a fleet; and every value of the provider's chart is a flag that its kit takes.

import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parseProviderFlags, type ProviderDefinition } from '@bigfleet/providerkit';
import { createTempDir, eventually, leasePorts, startProcess } from '../toolkit/index.ts';
import { skipWithout } from './binaries.ts';
import { CHARTS, chartOf, everythingOf, variantsOf } from './charts/catalogue.ts';
import { containersOf, Helm, nested, ROOT, type Values } from './charts/helm.ts';

const PROVIDER = 'bigfleet-provider-template';
const hasProvider = CHARTS.some(({ name }) => name === PROVIDER);
const noProvider = hasProvider ? false : 'there is no providers/ here';
const BIN = path.join(ROOT, 'bin');

/** Only its name and flags are looked at. */
const DEFINITION: ProviderDefinition = {
  name: 'template',
  version: '0.1.0',
  offerings: { capacityTypes: ['OnDemand'] },
  defaultMix: [],
  createBackend: () => assert.fail('nothing is started'),
};

/** Flags that no value renders, with the reason. */
const UNRENDERED: Readonly<Record<string, string>> = {
  'use-fake-backend': 'templateBackend=fake says the same',
  help: 'prints',
  version: 'prints',
};

describe('programs, with what charts render', { skip: skipWithout('helm') }, () => {
  let helm: Helm;
  before(() => {
    helm = new Helm();
  });
  after(() => helm[Symbol.asyncDispose]());

  async function argumentsOf(chart: string, container: string, values: Values): Promise<string[]> {
    const { folder } = chartOf(chart);
    const objects = await helm.objects(folder, nested(values));
    const args = containersOf(objects).get(container)?.args ?? assert.fail(`no ${container}`);
    // What the kubelet and the cluster's DNS would do.
    return args.map((argument) =>
      argument
        .replace(/\$\(POD_NAME\)\.[a-z.-]+\.svc/, '127.0.0.1')
        .replace(/=bigfleet-[a-z.-]+\.svc:/, '=127.0.0.1:')
        .replace('$(POD_NAME)', `bigfleet-${container}-0`),
    );
  }

  test('a fleet of one coordinator, one shard and one provider', { skip: noProvider }, async () => {
    await using folder = createTempDir('charts');
    const leases = await leasePorts(7);
    const [grpc, raft, metrics, shard, shardMetrics, provider, providerMetrics] = leases.map(
      ({ port }) => port,
    );
    const planeValues: Values = {
      'coordinator.replicas': 1,
      'coordinator.dataDir': path.join(folder.path, 'coordinator'),
      'coordinator.service.grpcPort': grpc,
      'coordinator.service.raftPort': raft,
      'coordinator.service.metricsPort': metrics,
      'shard.dataDir': path.join(folder.path, 'shard'),
      'shard.service.grpcPort': shard,
      'shard.service.metricsPort': shardMetrics,
      'shard.providers': [{ name: 'template', addr: `127.0.0.1:${provider}` }],
    };
    const providerValues: Values = {
      templateBackend: 'fake',
      'ports.grpc': provider,
      'ports.metrics': providerMetrics,
      'state.path': path.join(folder.path, 'provider/state.json'),
    };
    const ready = (port: number | undefined) =>
      ({ kind: 'http', url: `http://127.0.0.1:${port}/readyz` }) as const;
    await using _provider = await startProcess({
      name: 'provider',
      command: process.execPath,
      args: [
        path.join(ROOT, 'providers/_template/src/main.ts'),
        ...(await argumentsOf(PROVIDER, 'provider', providerValues)),
      ],
      ready: ready(providerMetrics),
    });
    await using _coordinator = await startProcess({
      name: 'coordinator',
      command: path.join(BIN, 'bigfleet'),
      args: await argumentsOf('bigfleet', 'coordinator', planeValues),
      ready: ready(metrics),
    });
    await using running = await startProcess({
      name: 'shard',
      command: path.join(BIN, 'bigfleet'),
      args: await argumentsOf('bigfleet', 'shard', planeValues),
      ready: ready(shardMetrics),
    });
    await eventually(
      async () => {
        await using ctl = await startProcess({
          name: 'bigfleetctl',
          command: path.join(BIN, 'bigfleetctl'),
          args: [`--coordinator=127.0.0.1:${grpc}`, 'list-shards'],
        });
        await ctl.waitExit();
        return ctl.output.text().includes(`bigfleet-shard-0  127.0.0.1:${shard}`);
      },
      { what: 'the shard is registered', everyMs: 500, details: () => running.output.text() },
    );
    for (const lease of leases) await lease.release();
  });

  test('every value of the provider chart is a flag of the kit', { skip: noProvider }, async () => {
    const chart = chartOf(PROVIDER);
    const unrendered = new Set(flagNames());
    assert.ok(unrendered.size > 15, `only ${unrendered.size} flags`);
    for (const values of [...variantsOf(chart).map((each) => each.after), everythingOf(chart)]) {
      const objects = await helm.objects(chart.folder, values);
      const argv = containersOf(objects).get('provider')?.args ?? assert.fail('no provider');
      const parsed = parseProviderFlags(DEFINITION, { argv, env: {} });
      assert.equal(parsed.kind, 'settings', JSON.stringify(parsed));
      for (const argument of argv) unrendered.delete(/^--([^=]+)/.exec(argument)?.[1] ?? '');
    }
    const unexplained = [...unrendered].filter((flag) => !(flag in UNRENDERED));
    assert.deepEqual(unexplained, [], 'flags that no value renders');
  });
});

function flagNames(): string[] {
  const printed = parseProviderFlags(DEFINITION, { argv: ['--help'], env: {} });
  assert.ok(printed.kind === 'print');
  return [...printed.text.matchAll(/^ {2}--([a-z-]+)/gm)].map(([, name = '']) => name);
}
