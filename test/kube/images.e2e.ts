// Proves the container images of this checkout: built without a registry, started as a cluster starts
// them (read-only, user 65532, no capability), a whole fleet of them serves a Pod, and each ends well on
// SIGTERM. What an image must not hold is looked for in its files.

import assert from 'node:assert/strict';
import { copyFileSync, globSync, lstatSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { KubeApi, PATHS, type Stored } from '../operator/kube-api.ts';
import { eventually, leasePort } from '../toolkit/index.ts';
import type { Container } from './images/container.ts';
import { ContainerHost, IMAGE_USER } from './images/container-host.ts';

const MIB = 1 << 20;
const NODE = '/usr/local/bin/node';
const TRUST_ROOTS = '/etc/ssl/certs/ca-certificates.crt';
/** Node alone takes two thirds of the smaller bound. */
const IMAGES = {
  bigfleet: {
    commands: ['bigfleet', 'bigfleetctl'],
    programs: ['/usr/local/bin/etcd', '/usr/local/bin/etcdutl'],
    maxBytes: 250 * MIB,
  },
  'bigfleet-operator': {
    commands: ['bigfleet-operator'],
    programs: [],
    maxBytes: 190 * MIB,
  },
  'bigfleet-unschedulable-pod-controller': {
    commands: ['bigfleet-unschedulable-pod-controller'],
    programs: [],
    maxBytes: 190 * MIB,
  },
  'bigfleet-dashboard': {
    commands: ['bigfleet-dashboard'],
    programs: [],
    maxBytes: 190 * MIB,
  },
  'bigfleet-provider-template': {
    commands: ['provider'],
    programs: [],
    maxBytes: 190 * MIB,
  },
} as const;

const opened = await ContainerHost.open();
const skip = opened.ok ? false : opened.reason;
const skipStart = opened.ok ? (opened.host.cannotStart ?? false) : opened.reason;
after(async () => {
  if (opened.ok) await opened.host[Symbol.asyncDispose]();
});

function theHost(): ContainerHost {
  if (!opened.ok) throw new Error(opened.reason);
  return opened.host;
}

interface ImageFacts {
  readonly Size: number;
  readonly Config: {
    readonly User: string;
    readonly Env: readonly string[];
    readonly Entrypoint: readonly string[];
  };
}

for (const [name, expected] of Object.entries(IMAGES)) {
  test(`${name} says who runs it and how, and is small`, { skip }, async (t) => {
    const { Size, Config } = (await theHost().inspect(name)) as ImageFacts;
    t.diagnostic(`${name}: ${(Size / MIB).toFixed(0)} MiB`);
    assert.ok(Size <= expected.maxBytes, `${Size} bytes`);
    assert.equal(Config.User, `${IMAGE_USER}:${IMAGE_USER}`);
    assert.ok(Config.Env.includes('NODE_ENV=production'), Config.Env.join(' '));
    assert.match(Config.Env.join('\n'), /^BIGFLEET_REVISION=\S+$/m);
    assert.deepEqual(Config.Entrypoint, [`/usr/local/bin/${expected.commands[0]}`]);
  });

  test(`${name} holds Node, its commands and nothing else to run`, { skip }, async () => {
    const root = await theHost().mount(name);
    const files = globSync('**', { cwd: root }).map((file) => `/${file}`);
    const regular = files.filter((file) => lstatSync(path.join(root, file)).isFile());
    const modes = regular.map((file) => ({ file, mode: lstatSync(path.join(root, file)).mode }));
    const runnable = modes
      .filter(({ file, mode }) => (mode & 0o111) !== 0 && !/\.so(?:\.|$)/.test(file))
      .map(({ file }) => file);
    const folder = name === 'bigfleet-provider-template' ? '_template' : name;
    const commands = expected.commands.map((command) => `/opt/${folder}/lib/${command}.mjs`);
    assert.deepEqual(runnable.sort(), [NODE, ...expected.programs, ...commands].sort());
    assert.deepEqual(
      modes.filter(({ mode }) => (mode & 0o7000) !== 0),
      [],
      'set-id bits',
    );
    assert.ok(regular.includes(TRUST_ROOTS));
    assert.deepEqual(
      regular.filter((file) => /node_modules|\.ts$/.test(file)),
      [],
    );
    assert.ok(readFileSync(path.join(root, `/opt/${folder}/lib/THIRD-PARTY-NOTICES`)).length > 0);
  });
}

const core = Object.keys(IMAGES).filter((name) => !name.startsWith('bigfleet-provider-'));

for (const name of core) {
  test(`${name} holds no provider`, { skip }, async () => {
    const root = await theHost().mount(name);
    const modules = globSync('opt/*/lib/*.mjs', { cwd: root });
    // The bundler names the source of each part in a comment.
    const sources = modules.flatMap((file) => [
      ...readFileSync(path.join(root, file), 'utf8').matchAll(/^\/\/ (\S+\.ts)$/gm),
    ]);
    assert.ok(sources.length > 50, `${sources.length} sources`);
    const named = sources.flatMap(([, source = '']) => source);
    assert.deepEqual(
      named.filter((source) => /^providers\/|\/providerkit\//.test(source)),
      [],
    );
  });
}

test('a fleet of containers serves a Pod, each ends with 0 on SIGTERM', {
  skip: skipStart,
}, async (t) => {
  const host = theHost();
  const addresses = await leaseAddresses();
  const { coordinator: at, shard, provider, operator, controller } = addresses;
  await using api = await new KubeApi().start();
  const config = host.folder();
  copyFileSync(api.kubeconfig, path.join(config, 'kubeconfig'));
  const state = host.folder();
  const fleet = {
    provider: await host.start({
      image: 'bigfleet-provider-template',
      args: [
        '--use-fake-backend',
        `--addr=127.0.0.1:${provider.grpc}`,
        `--metrics-addr=127.0.0.1:${provider.http}`,
        '--state=/var/lib/bigfleet/state',
      ],
      mounts: { [state]: '/var/lib/bigfleet' },
    }),
    coordinator: await host.start({
      image: 'bigfleet',
      args: [
        'coordinator',
        '--bootstrap',
        `--listen=127.0.0.1:${at.grpc}`,
        `--metrics-addr=127.0.0.1:${at.http}`,
        '--data-dir=/var/lib/bigfleet',
      ],
      mounts: { [host.folder()]: '/var/lib/bigfleet' },
    }),
    shard: await host.start({
      image: 'bigfleet',
      args: [
        'shard',
        `--listen=127.0.0.1:${shard.grpc}`,
        `--metrics-addr=127.0.0.1:${shard.http}`,
        '--data-dir=/var/lib/bigfleet-shard',
        `--coordinator-addr=127.0.0.1:${at.grpc}`,
        '--coordinator-heartbeat-interval=1s',
        `--provider=template=127.0.0.1:${provider.grpc}`,
      ],
      mounts: { [host.folder()]: '/var/lib/bigfleet-shard' },
    }),
    operator: await host.start({
      image: 'bigfleet-operator',
      args: [
        '--cluster-id=prod-eu',
        `--shard-addr=127.0.0.1:${shard.grpc}`,
        `--metrics-addr=127.0.0.1:${operator.http}`,
        '--kubeconfig=/etc/bigfleet/kubeconfig',
        '--rollup-interval=500ms',
      ],
      mounts: { [config]: '/etc/bigfleet:ro' },
    }),
    controller: await host.start({
      image: 'bigfleet-unschedulable-pod-controller',
      args: [
        `--metrics-addr=127.0.0.1:${controller.http}`,
        '--kubeconfig=/etc/bigfleet/kubeconfig',
      ],
      mounts: { [config]: '/etc/bigfleet:ro' },
    }),
  };
  t.after(async () => {
    for (const one of Object.values(fleet)) await one[Symbol.asyncDispose]();
  });
  for (const [name, one] of Object.entries(fleet)) {
    await one.ready(addresses[name as keyof typeof fleet].http);
    t.diagnostic(
      `${name} at start: ${one.status('VmRSS')} resident, ${one.status('Threads')} threads`,
    );
  }

  api.pod('web');
  await api.eventually('the request is acknowledged', PATHS.requests, inPhase('Acknowledged'));
  await api.eventually('a machine serves', PATHS.upcomingNodes, inPhase('Ready'));
  await administered(fleet.coordinator, at.grpc);
  for (const [name, one] of Object.entries(fleet)) {
    await confined(one);
    assert.deepEqual(await one.stop(), { kind: 'code', code: 0 }, `${name}:\n${one.output}`);
  }
});

/** `kubectl exec … -- bigfleetctl …` as an owner does it. */
async function administered(coordinator: Container, grpc: number): Promise<void> {
  const ctl = async (...args: string[]): Promise<string> => {
    const found = await coordinator.exec('bigfleetctl', ...args, `--coordinator=127.0.0.1:${grpc}`);
    assert.equal(found.code, 0, `${args.join(' ')}: ${found.stdout}${found.stderr}`);
    return found.stdout;
  };
  assert.match(await ctl('status'), /^Leader: +node-1 /m);
  await eventually(async () => /^shard-0 /m.test(await ctl('list-shards')), {
    what: 'the coordinator knows the shard',
  });
  assert.match(await ctl('get', 'machines', '--shard=shard-0'), /example-standard/);
  assert.match(await ctl('records', '--shard=shard-0'), /prod-eu/);
}

/** What the security context of the charts promises, seen from inside and from outside. */
async function confined(container: Container): Promise<void> {
  assert.deepEqual(await container.processes(), ['node']);
  const user = String(IMAGE_USER);
  assert.deepEqual(container.status('Uid').split('\t'), [user, user, user, user]);
  assert.equal(Number(`0x${container.status('CapEff')}`), 0);
  assert.equal(container.status('NoNewPrivs'), '1');
  for (const shell of ['sh', '/bin/sh', 'bash', 'busybox']) {
    const { code, stderr } = await container.exec(shell, '-c', 'true');
    assert.notEqual(code, 0, shell);
    assert.match(stderr, /not found|no such file/i);
  }
  const places = ['/', '/opt', '/etc', '/tmp', '/usr/local/bin'];
  const tried = await container.evaluate(
    `for (const place of ${JSON.stringify(places)}) {
       try { require('fs').writeFileSync(place + '/x', ''); console.log('wrote'); }
       catch ({ code }) { console.log(code); }
     }`,
  );
  assert.deepEqual(
    tried.stdout.trim().split('\n'),
    places.map(() => 'EROFS'),
  );
}

test('a coordinator keeps its state in the etcd of its image', { skip: skipStart }, async (t) => {
  const host = theHost();
  const { grpc, http: probes } = await leasePair();
  const { grpc: client, http: peer } = await leasePair();
  await using coordinator = await host.start({
    image: 'bigfleet',
    args: [
      'coordinator',
      '--bootstrap',
      '--id=bigfleet-coordinator-0',
      `--listen=127.0.0.1:${grpc}`,
      `--advertise-addr=127.0.0.1:${grpc}`,
      `--join-addr=127.0.0.1:${grpc}`,
      `--metrics-addr=127.0.0.1:${probes}`,
      `--raft-bind=127.0.0.1:${peer}`,
      `--raft-advertise=127.0.0.1:${peer}`,
      `--etcd-client-addr=127.0.0.1:${client}`,
      '--data-dir=/var/lib/bigfleet',
    ],
    mounts: { [host.folder()]: '/var/lib/bigfleet' },
  });
  await coordinator.ready(probes);
  assert.deepEqual((await coordinator.processes()).sort(), ['etcd', 'node']);
  t.diagnostic(`coordinator beside its etcd: ${coordinator.status('VmRSS')} resident`);
  const status = await coordinator.exec('bigfleetctl', 'status', `--coordinator=127.0.0.1:${grpc}`);
  assert.match(status.stdout, /^Store engine: +etcd$/m);
  const tool = await coordinator.exec('etcdutl', 'version');
  const server = await coordinator.exec('etcd', '--version');
  const versionOf = (text: string) => /version: (\S+)/i.exec(text)?.[1];
  assert.equal(versionOf(tool.stdout), versionOf(server.stdout));
  assert.deepEqual(await coordinator.stop(), { kind: 'code', code: 0 }, coordinator.output);
});

test('without a place to write, a process says so and ends', { skip: skipStart }, async () => {
  const { code, stderr } = await theHost().run({
    image: 'bigfleet',
    args: ['shard', '--listen=127.0.0.1:0', '--metrics-addr=0', '--data-dir=/data'],
  });
  assert.equal(code, 1, stderr);
  assert.match(stderr, /data_dir_unusable/);
});

interface Ports {
  readonly grpc: number;
  readonly http: number;
}

/** Held until this file ends. */
async function leasePair(): Promise<Ports> {
  return { grpc: (await leasePort()).port, http: (await leasePort()).port };
}

async function leaseAddresses() {
  return {
    coordinator: await leasePair(),
    shard: await leasePair(),
    provider: await leasePair(),
    operator: await leasePair(),
    controller: await leasePair(),
  };
}

function inPhase(phase: string): (objects: readonly Stored[]) => boolean {
  return (objects) =>
    objects.length > 0 && objects.every(({ status }) => status?.['phase'] === phase);
}
