// The operator's first words on a real cluster: nothing before its caches are whole, never less than the last
// whole set, a hint although nothing is asked for, and under which names it believes the shard.
//
// The control plane starts without BigFleet's definitions, as a cluster before its installation.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startShardProcess } from '../shard/shard-process.ts';
import {
  CertificateAuthority,
  createPemDir,
  eventually,
  http,
  monotonicMs,
  startProcess,
} from '../toolkit/index.ts';
import type { Json } from './api.ts';
import { skipWithout } from './binaries.ts';
import { demandIsWhole, needsAtShard } from './demand.ts';
import { each, requestsPath } from './pods-and-requests.ts';
import { isConnected, rollupCount, rollupsGoOn, sessionCount } from './session-view.ts';
import { startWorld, type World } from './world/world.ts';

const skip = skipWithout('controlPlane', 'helm');
const CONNECTED = 'bigfleet_operator_session_connected';
const INTERVAL = '--rollup-interval=1s';
/** Several pages of a list. */
const REQUEST_COUNT = 1_150;

let world: World;

before(async () => {
  if (skip !== false) return;
  world = await startWorld({
    isIdle: true,
    controlPlane: { hasDefinitions: false },
    operatorArgs: ['--qps=500', '--burst=1000'],
  });
});

after(async () => {
  await world?.[Symbol.asyncDispose]();
});

function ready(): Promise<{ readonly status: number; readonly body: string }> {
  return http({ url: `http://${world.operator.metricsAddress}/readyz` });
}

async function created(path: string, body: Json): Promise<void> {
  await world.plane.admin.must(world.plane.admin.create(path, body));
}

test('10. No roll-up is sent before first sync; CRD absent ⇒ none at all', { skip }, async (t) => {
  world.explainFailures(t);
  const { shard, operator } = world;
  await shard.start(shard.args.filter((one) => !one.startsWith('--provider=')));
  await operator.start(operator.args.filter((one) => one !== INTERVAL));
  const head = operator.tail().split('\n').slice(0, 3).join('\n');
  assert.match(
    head,
    /msg="operator started".* cluster=kube-test shard=127\.\S+ rollup_interval=10s/,
  );
  await eventually(async () => (await ready()).body.includes('capacityrequests'), {
    what: 'it says what it waits for',
    details: () => world.tails(),
  });
  const unready = await ready();
  assert.deepEqual(
    [unready.status, await sessionCount(world, 'installed'), await rollupCount(world)],
    [503, 0, 0],
  );
  assert.equal(await operator.metric(CONNECTED), 0);
});

test('20. Fresh cluster, no CRs, no provider: one AvailableCapacity object within 30 s', {
  skip,
}, async (t) => {
  world.explainFailures(t);
  const { plane } = world;
  // As the guide installs them.
  for (const plural of ['capacityrequests', 'upcomingnodes', 'availablecapacities']) {
    const file = `api/crd/bigfleet.lucy.sh_${plural}.yaml`;
    const applied = await plane.kubectl(['apply', '-f', join(import.meta.dirname, '../..', file)]);
    assert.equal(applied.code, 0, applied.output);
  }
  await eventually(async () => (await ready()).status === 200, {
    what: 'the operator has seen the definitions',
    details: () => world.tails(),
  });
  const readyAtMs = monotonicMs();
  const rows = await eventually(
    async () => {
      const { code, output } = await plane.kubectl(['get', 'availablecapacity']);
      return code === 0 && output.includes('ac-') && output.trim().split('\n');
    },
    { what: 'kubectl get availablecapacity', details: () => world.tails() },
  );
  t.diagnostic(
    `an AvailableCapacity object ${Math.round(monotonicMs() - readyAtMs)} ms after ready`,
  );
  assert.match(rows[0] ?? '', /^NAME +AVAILABILITY +AVAILABLE +COST/);
  assert.equal(rows.length, 2, rows.join('\n'));
  assert.match(rows[1] ?? '', /^ac-[0-9a-f]{32} +None +0 +0$/);
});

/** Whether a process can be given a host table of its own. */
const noHosts = hostsProblem();

function inHosts(file: string): readonly string[] {
  const rights = process.getuid?.() === 0 ? '-m' : '-rm';
  return [rights, 'sh', '-c', 'mount --bind "$0" /etc/hosts && exec "$@"', file];
}

function hostsProblem(): string | false {
  try {
    execFileSync('unshare', [...inHosts('/etc/hosts'), 'true'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'NOT TESTED: no mount namespace for a host table';
  }
}

test('24. mTLS handshake with both documented shard addresses and with `--shard-server-name`', {
  skip: skip === false ? noHosts : skip,
}, async (t) => {
  world.explainFailures(t);
  const { operator, folder } = world;
  await operator.stop();
  await using stack = new AsyncDisposableStack();
  const authority = await CertificateAuthority.root();
  const flags = async (uri: string, commonName: string, dnsNames: readonly string[] = []) => {
    const leaf = await authority.leaf({ uris: [uri], commonName, dnsNames });
    const { certFile, keyFile, caFile } = stack.use(await createPemDir(leaf));
    return [`--tls-cert=${certFile}`, `--tls-key=${keyFile}`, `--tls-ca=${caFile}`];
  };
  const namespace = 'bigfleet-system';
  const perPod = `bigfleet-shard-0.bigfleet-shard-headless.${namespace}.svc`;
  const service = ['', `.${namespace}`, `.${namespace}.svc`, `.${namespace}.svc.cluster.local`];
  const names = [perPod, ...service.map((rest) => `bigfleet-shard${rest}`)];
  const outside = 'shards.example.test';
  const shard = stack.use(
    await startShardProcess([
      `--data-dir=${join(folder, 'shard-tls')}`,
      '--require-session-cn',
      '--require-tls',
      ...(await flags('bigfleet://shard/shard-0', 'shard-0', names)),
    ]),
  );
  const port = shard.address.split(':').at(-1);
  const hosts = join(folder, 'hosts');
  writeFileSync(hosts, `127.0.0.1 ${[...names, outside].join(' ')}\n`);
  const given = /^--(cluster-id|shard-addr|metrics-addr)=/;
  const plain = operator.args.filter((one) => !given.test(one));
  /** Each for a cluster of its own, so that none replaces another. */
  const startAt = async (clusterId: string, host: string, more: readonly string[] = []) => {
    const command = [
      process.execPath,
      join(import.meta.dirname, '../../packages/cli/src/operator-main.ts'),
      ...plain,
      `--cluster-id=${clusterId}`,
      `--shard-addr=${host}:${port}`,
      '--metrics-addr=127.0.0.1:0',
      '--require-tls',
      ...(await flags(`bigfleet://cluster/${clusterId}`, clusterId)),
      ...more,
    ];
    const args = [...inHosts(hosts), ...command];
    return stack.use(await startProcess({ name: `operator at ${host}`, command: 'unshare', args }));
  };
  const believed: readonly (readonly [string, readonly string[]])[] = [
    [perPod, ['--shard-id=shard-0']],
    [`bigfleet-shard.${namespace}.svc`, []],
    [`bigfleet-shard.${namespace}`, []],
    [outside, [`--shard-server-name=bigfleet-shard.${namespace}.svc`]],
    ['127.0.0.1', [`--shard-server-name=${perPod}`, '--shard-id=shard-0']],
  ];
  await Promise.all([
    ...believed.map(async ([host, more], at) => {
      const child = await startAt(`believes-${at}`, host, more);
      await child.waitForLine(/ msg="session established" /);
      assert.doesNotMatch(child.output.text(), /session ended/);
    }),
    ...[outside, '127.0.0.1'].map(async (host, at) => {
      const child = await startAt(`doubts-${at}`, host);
      const [line] = await child.waitForLine(/.* msg="session ended, reconnecting" .*/);
      assert.ok(line.includes('identity_denied') && line.includes(host), line);
      assert.equal(child.exit, undefined);
    }),
  ]);
  await stack.disposeAsync();
  await world.shard.restart([...world.shard.args, `--provider=test=${world.machines.address}`]);
  await operator.start([INTERVAL, ...operator.args]);
  await isConnected(world);
});

/** What the shard has of the requests that no machine can serve. */
async function listedCpu(): Promise<string | undefined> {
  const needs = await needsAtShard(world.shardAddress, world.clusterId);
  return needs?.find(({ fingerprint }) => fingerprint.includes('pool:1:listed'))?.resources['cpu'];
}

test('10. No roll-up is sent before first sync, however often its lists break', {
  skip,
}, async (t) => {
  world.explainFailures(t);
  const { plane, operator, proxies } = world;
  await plane.namespace('listed');
  const numbers = Array.from({ length: REQUEST_COUNT }, (_, at) => at);
  await each(numbers, (at) =>
    created(requestsPath('listed'), {
      apiVersion: 'bigfleet.lucy.sh/v1alpha1',
      kind: 'CapacityRequest',
      metadata: { name: `r-${at}` },
      spec: {
        requirements: [{ key: 'pool', operator: 'In', values: ['listed'] }],
        resources: { cpu: '1m' },
        priority: 0,
      },
    }),
  );
  const whole = `${REQUEST_COUNT}m`;
  await eventually(async () => (await listedCpu()) === whole, {
    what: 'the shard has them all',
    details: () => world.tails(),
  });
  await operator.kill();
  // Without a session nothing is told; roll-ups of the killed process may still wait in the shard.
  const sessions = await sessionCount(world, 'installed');
  proxies.operator.fault('down', { bytesPerSecond: 50_000 });
  await operator.start();
  for (let broken = 0; broken < 3; broken++) {
    await eventually(() => proxies.operator.connectionCount > 0, { what: 'it lists' });
    const now = await sessionCount(world, 'installed');
    const [cpu, { status }] = [await listedCpu(), await ready()];
    // Unready afterwards: it was so when the sessions were counted.
    assert.equal(status, 503);
    assert.deepEqual([now, cpu], [sessions, whole]);
    proxies.operator.reset();
  }
  await proxies.operator.heal();
  await rollupsGoOn(world);
  assert.equal(await listedCpu(), whole);
});

test('10. List failing mid-relist ⇒ previous full set still sent', { skip }, async (t) => {
  world.explainFailures(t);
  const { plane, operator, proxies } = world;
  const { admin } = plane;
  const gone =
    'bigfleet_operator_informer_relists_total{resource="capacityrequests",reason="gone"}';
  const relists = await operator.metric(gone);
  proxies.operator.refuse();
  proxies.operator.reset();
  await each(
    Array.from({ length: 100 }, (_, at) => at),
    (at) => admin.must(admin.delete(`${requestsPath('listed')}/r-${at}`)),
  );
  await plane.compact();
  // Its watch cache could still serve the old versions.
  await plane.restartApiserver();
  proxies.operator.fault('down', { bytesPerSecond: 50_000 });
  await proxies.operator.accept();
  for (let broken = 0; broken < 3; broken++) {
    await eventually(() => proxies.operator.connectionCount > 0, { what: 'it lists again' });
    await rollupsGoOn(world, 2);
    assert.equal(await listedCpu(), `${REQUEST_COUNT}m`);
    proxies.operator.reset();
  }
  assert.equal(await operator.metric(gone), relists, 'no list is over');
  await proxies.operator.heal();
  await eventually(async () => (await listedCpu()) === `${REQUEST_COUNT - 100}m`, {
    what: 'the new full set',
    details: () => world.tails(),
  });
  await demandIsWhole(admin, world.shardAddress, world.clusterId);
  assert.ok((await operator.metric(gone)) > relists);
  await admin.must(admin.delete(requestsPath('listed')));
  await eventually(async () => (await listedCpu()) === undefined, {
    what: 'the demand is withdrawn',
    details: () => world.tails(),
  });
});
