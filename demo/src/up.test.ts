// Proves that `make up` really runs: everything shown and summed up, its clusters open to kubectl, what it
// offers to try carried out, another cluster joined and left clean, stopped on Ctrl-C without leftovers, and
// clear about busy ports and bad options.

import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { realRuntime } from '@bigfleet/base/real';
import { ApiServer, type Obj, StandInScheduler, listen } from '@bigfleet/kube/testing';
import { eventually, leasePorts } from '../../test/toolkit/index.ts';
import { connect } from './kube/connect.ts';
import { installDefinitions } from './kube/definitions.ts';
import { parseOptions } from './options.ts';
import { HOST } from './places.ts';
import { portProblems } from './ports/port-problems.ts';
import { defaultPorts, portNames, type Ports, usedPorts } from './ports/ports.ts';
import { profiles } from './profiles.ts';
import type { Summary } from './report/summary.ts';

const up = fileURLToPath(new URL('./up.ts', import.meta.url));
const tryScript = fileURLToPath(new URL('./try.ts', import.meta.url));

const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;
const skip = hasKubectl
  ? false
  : 'KUBECTL IS MISSING: what the demo tells people to type was not tested';
if (!hasKubectl) console.warn(skip);

interface Ended {
  readonly code: number | null;
  readonly lines: readonly string[];
  readonly stderr: string;
}

interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves with the line, or undefined when the process ended without it. */
  line(pattern: RegExp): Promise<string | undefined>;
  /** All so far. */
  lines(): readonly string[];
}

const POLL_MS = 200;

const running = new Set<ChildProcess>();
/** A test that failed must not leave its demo behind. */
after(async () => {
  const ends = [...running].map((child) => once(child, 'exit'));
  for (const child of running) child.kill('SIGTERM');
  await Promise.all(ends);
});

function start(...args: string[]): Started {
  const child = spawn(process.execPath, [up, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  child.once('exit', () => running.delete(child));
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, lines: stdout.trimEnd().split('\n'), stderr }));
  });
  const line = async (pattern: RegExp): Promise<string | undefined> => {
    const found = (): string | undefined => stdout.split('\n').find((text) => pattern.test(text));
    while (found() === undefined && child.exitCode === null) {
      await Promise.race([once(child.stdout, 'data'), ended]);
    }
    return found();
  };
  return { child, ended, line, lines: () => stdout.split('\n') };
}

/** Polls while the demo runs. */
function whileUp(
  what: string,
  child: ChildProcess,
  isSo: () => Promise<boolean> | boolean,
): Promise<boolean> {
  const hopeless = (): string | undefined =>
    child.exitCode === null ? undefined : 'the demo ended before';
  return eventually(isSo, { what, everyMs: POLL_MS, hopeless });
}

/** Processes whose command line names the run's folder, which every child's does. */
async function leftOvers(dir: string): Promise<string> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid,args']);
  return stdout
    .split('\n')
    .filter((text) => text.includes(dir))
    .join('\n');
}

/** Nobody else's for the life of this file, nor those that a running `make up` uses. */
async function leased(): Promise<Ports> {
  const leases = await leasePorts(portNames.length);
  return Object.fromEntries(portNames.map((name, at) => [name, leases[at]?.port])) as Record<
    keyof Ports,
    number
  >;
}

function portArgs(ports: Ports): string[] {
  return portNames.flatMap((name) => [`--${name}-port`, String(ports[name])]);
}

test('a run shows everything that it promises and sums it up in its last line', async (t) => {
  const ports = await leased();
  const { ended, line } = start('--for', '30s', '--seed', '7', ...portArgs(ports));
  const ready = await line(/^ready after [\d.]+/);
  await line(/^ {2}sim-metal: \d+ serve, [1-9]\d* idle/);
  const map = await fetch(`http://${HOST}:${ports.dashboard}/api/v1/map`);
  const { groups } = (await map.json()) as { groups: readonly { path: readonly string[] }[] };
  const racks = groups.map((group) => group.path.join(' '));
  assert.ok(racks.includes('north-1 zone-a zone-a-r01'), racks.join());
  assert.ok(racks.includes('north-2 zone-c zone-c-m01'), racks.join());
  const asPrinted = (await line(/^ {2}\S*bin\/bigfleetctl .*top$/)) ?? '';
  const { stdout: top } = await promisify(execFile)('sh', ['-c', asPrinted]);
  assert.match(top, /^Cost: +\$\d+\.\d\d per hour$/m);
  const { code, lines, stderr } = await ended;
  assert.equal(code, 0, `${stderr}\n${lines.slice(-20).join('\n')}`);
  assert.ok(ready !== undefined);
  t.diagnostic(`${ready}; ${lines.at(-1)}`);
  const summary = JSON.parse(lines.at(-1) ?? '') as Summary;
  assert.deepEqual(summary.problems, []);
  assert.equal(summary.seed, '7');
  assert.ok((summary.machinesByState['Configured'] ?? 0) > 10);
  assert.ok(summary.dollarsPerHour > 0);
  assert.ok((summary.actionsByKind['Provision'] ?? 0) > 0);
  assert.ok(summary.interruptions >= 1 && summary.failures >= 1);
  assert.ok(summary.needs.coveredCount > 5);
  assert.ok(summary.shortfalls >= 1, 'one need cannot be bought');
  assert.ok(summary.transfers.done >= 1 && summary.transfers.aborted === 0);
  assert.ok(lines.some((text) => /transfer \S+: .* from shard-1 to shard-0  DONE/.test(text)));
  assert.ok(lines.some((text) => /Provision sim-north\/.*phase1\.speculative: /.test(text)));
  assert.ok((summary.machinesByProvider['sim-north']?.['Configured'] ?? 0) > 10);
  assert.ok((summary.machinesByProvider['sim-metal']?.['Configured'] ?? 0) > 0, 'metal moved');
  assert.ok(lines.includes(`Dashboard: http://${HOST}:${ports.dashboard}`));
  assert.equal(lines.filter((text) => /^ {2}make .*try-/.test(text)).length, 5);
  for (const { running, acknowledged } of Object.values(summary.pods)) {
    assert.ok(running > 10 && acknowledged > 10);
  }
  assert.deepEqual(await portProblems(ports, portNames), []);
});

/** The directory of a run, as it stands in what it tells people to type. */
async function dirOf({ line }: Started): Promise<string> {
  const [, kubeconfig = ''] = /=(.*)$/.exec((await line(/export KUBECONFIG=/)) ?? '') ?? [];
  return path.dirname(kubeconfig);
}

test('the five things to try do what they say, and Ctrl-C ends it with a shard just killed', async (t) => {
  const ports = await leased();
  const started = start('--seed', '7', ...portArgs(ports));
  const { child, ended, line, lines } = started;
  const dir = await dirOf(started);
  await line(/^Five things to try/);
  const attempt = async (...args: string[]): Promise<string> => {
    const all = [tryScript, ...args, `--demo=${dir}`];
    const { stdout } = await promisify(execFile)(process.execPath, all);
    assert.match(stdout, new RegExp(`^Watch:\n {2}http://${HOST}:${ports.dashboard}/`, 'm'));
    assert.match(stdout, /^Ends: {2}\S/m);
    t.diagnostic(stdout.split('\n')[0] ?? '');
    return stdout;
  };
  const shows = (pattern: RegExp): Promise<boolean> =>
    whileUp(`a line like ${String(pattern)}`, child, () =>
      lines().some((text) => pattern.test(text)),
    );
  await shows(/^ {2}web-eu: +[1-9]\d*\/\d+ Pods run/);

  assert.match(await attempt('scale', '--n=4'), /^Deployment yours of web-eu has 4 Pods now/);
  await shows(/^ {2}cycle \d+ {2}Provision sim-north\/\w+\/m7i\.xlarge\/zone-a\/\d+ for web-eu/);

  assert.match(await attempt('gang'), /urgent-gang of train-us: 4 Pods of priority critical/);
  await shows(/Provision sim-metal\/Reserved\/c7i\.metal-24xl\/.*\(gang in zone-\w-m\d\d\)/);
  await shows(/^ {2}sim-metal: [4-9] serve/);

  assert.match(
    await attempt('zone', '--for=60s'),
    /^zone-a lost its power: [1-9]\d* machines are gone/,
  );
  await shows(/^ {2}cycle \d+ {2}Provision sim-north\/\w+\/\S+\/zone-b\/\d+/);

  assert.match(
    await attempt('spot', '--factor=4'),
    /^Spot machines cost 4 times .*: [1-9]\d* prices/,
  );

  const first = await pidOf(started, 'shard-1');
  assert.match(await attempt('shard'), new RegExp(`^shard-1 \\(process ${first}\\) was killed`));
  await shows(/^shard-1 was killed \(SIGKILL\); machines and Pods stay/);
  await shows(/ shard-1 is down, owned \d+ /);
  await shows(/^shard-1 serves again as process \d+/);

  process.kill(await pidOf(started, 'dashboard'), 'SIGKILL');
  await shows(/^the dashboard ended; everything else goes on without it/);

  await attempt('shard', '--shard=shard-0');
  await shows(/^shard-0 was killed/);
  child.kill('SIGINT');
  const { code, lines: all, stderr } = await ended;
  assert.equal(code, 0, stderr);
  const { tried, shardRestarts } = JSON.parse(all.at(-1) ?? '') as Summary;
  assert.deepEqual(tried, ['scale', 'gang', 'zone', 'spot', 'shard', 'shard']);
  assert.equal(shardRestarts, 1);
  assert.equal(await leftOvers(dir), '');
  assert.deepEqual(await portProblems(ports, portNames), []);
});

async function pidOf({ line }: Started, name: string): Promise<number> {
  return Number(/\d+$/.exec((await line(new RegExp(`^${name} runs as process`))) ?? '')?.[0]);
}

test('one shard and one cluster run on a real etcd of three members', async () => {
  const ports = await leased();
  const started = start('--profile', 'tiny', '--etcd', '1', '--seed', '7', ...portArgs(ports));
  const dir = await dirOf(started);
  await started.line(/^ready after/);
  const members = await Promise.all([0, 1, 2].map((at) => pidOf(started, `etcd-${at}`)));
  assert.equal(new Set(members).size, 3);
  const address = `${HOST}:${ports.coordinator}`;
  const ctl = fileURLToPath(new URL('../../bin/bigfleetctl', import.meta.url));
  const args = [`--coordinator=${address}`, 'list-shards'];
  const { stdout } = await promisify(execFile)(ctl, args);
  assert.match(stdout, /shard-0/);
  assert.equal(existsSync(path.join(dir, 'coordinator', 'bigfleet.db')), false);
  // What a member loses, the other two have.
  process.kill(members[0] ?? 0, 'SIGKILL');
  const { code, stderr } = await started.ended;
  assert.equal(code, 1);
  assert.match(stderr, /^the etcd-0 ended \(SIGKILL\)/);
  assert.equal(await leftOvers(dir), '');
  rmSync(dir, { recursive: true });
});

test('what it tells people to type works as it stands', { skip }, async (t) => {
  const ports = await leased();
  const { child, ended, line, lines } = start('--seed', '7', ...portArgs(ports));
  await line(/^ready after/);
  const commands = lines().filter((text) => /^ {2}(?:export KUBECONFIG=|kubectl )/.test(text));
  const [exported = '', ...rest] = commands.map((text) => text.trim());
  const dir = path.dirname(exported.split('=')[1] ?? '');
  const shell = async (command: string): Promise<string> => {
    const typed = `${exported}\n${command}`;
    const { stdout, stderr } = await promisify(execFile)('sh', ['-ec', typed]);
    return stdout + stderr;
  };
  const shows = (command: string, pattern: RegExp): Promise<boolean> =>
    whileUp(`${command} shows ${String(pattern)}`, child, async () =>
      pattern.test(await shell(command)),
    );
  assert.ok(rest.length >= 9);
  // Pods are there, some run, and every kind answers.
  await shows('kubectl get pods', / Running /);
  await shows('kubectl get capacityrequests', / Acknowledged /);
  await shows('kubectl get upcomingnodes', / Ready /);
  await shows('kubectl get availablecapacity', / (?:Low|Medium|High) /);
  for (const command of rest) t.diagnostic(`${command}: ${(await shell(command)).slice(0, 80)}`);
  await shows('kubectl get pod urgent', / Running /);
  await shows('kubectl --context=train-us get pod gpu', / Running /);
  // The last command scaled to nothing; here it grows and shrinks under the eyes of kubectl.
  await shell('kubectl scale deployment yours --replicas=4');
  await shows('kubectl get deployment yours', / 4\/4 /);
  await shows('kubectl get nodes', /m7i\.xlarge/);
  await shell('kubectl run mine --image=mine:1');
  await shows('kubectl get pod mine', / Running /);
  await shows('kubectl get capacityrequests', /cr-pod-mine-[0-9a-f]{10} +Acknowledged/);
  await shell('kubectl delete pod mine urgent');
  await shell('kubectl scale deployment yours --replicas=0');
  await shows('kubectl get capacityrequests --no-headers | grep -c cr-pod-mine || true', /^0$/m);
  const machines = 'kubectl get nodes,upcomingnodes -o name';
  await shows(`${machines} | grep -c m7i || true`, /^0$/m);
  child.kill('SIGINT');
  const { code, stderr } = await ended;
  assert.equal(code, 0, stderr);
  assert.equal(existsSync(dir), false);
  assert.equal(await leftOvers(dir), '');
});

/** A cluster that somebody has: one Pod that waits for a machine, and an object of another tool. */
async function otherCluster(t: TestContext): Promise<{
  readonly server: ApiServer;
  readonly kubeconfig: string;
  readonly names: (collection: string) => readonly string[];
}> {
  const runtime = realRuntime();
  const server = new ApiServer({ runtime });
  const create = (target: string, body: Obj): void => {
    const answer = server.answer({ method: 'POST', path: target, body: JSON.stringify(body) });
    assert.ok(answer.kind === 'answer' && answer.status === 201, JSON.stringify(answer));
  };
  const listening = await listen({ server });
  const folder = mkdtempSync(path.join(tmpdir(), 'joined-'));
  const kubeconfig = path.join(folder, 'config');
  writeFileSync(kubeconfig, listening.kubeconfig());
  const ender = new AbortController();
  const access = { kubeconfig, name: 'scheduler', runtime };
  const client = await connect(access);
  const scheduling = new StandInScheduler({ runtime, client, signal: ender.signal }).run();
  t.after(async () => {
    ender.abort(new Error('the test is over'));
    await scheduling;
    client.transport.close();
    server.stop();
    await listening.close();
    rmSync(folder, { recursive: true });
  });
  const node = (name: string): Obj => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } });
  create('/api/v1/nodes', node('mine'));
  create('/api/v1/namespaces/default/pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    // Not onto spot machines, one of which may go at any moment.
    metadata: { name: 'waiting', annotations: { 'bigfleet.lucy.sh/interruption-penalty': '1M' } },
    spec: {
      containers: [{ name: 'a', image: 'a:1', resources: { requests: { cpu: '2' } } }],
    },
  });
  const names = (collection: string): readonly string[] =>
    [...server.store.values(collection)].map(({ object }) =>
      String((object['metadata'] as { readonly name: string }).name),
    );
  return { server, kubeconfig, names };
}

test('a cluster that joins gets machines, and is left as it was', async (t) => {
  const ports = await leased();
  const { server, kubeconfig, names } = await otherCluster(t);
  const { child, ended, line } = start(
    '--seed',
    '7',
    '--kubeconfig',
    kubeconfig,
    ...portArgs(ports),
  );
  assert.ok((await line(/installed upcomingnodes\.bigfleet\.lucy\.sh; it stays/)) !== undefined);
  await line(/^ready after/);
  const phase = (): unknown => {
    const pod = server.store.get('/pods', 'default/waiting')?.object;
    return (pod?.['status'] as { readonly phase?: string } | undefined)?.phase;
  };
  await whileUp('the Pod runs', child, () => phase() === 'Running');
  assert.equal(names('/nodes').length, 2);
  assert.equal(names('bigfleet.lucy.sh/capacityrequests').length, 1);
  assert.ok((await line(/^ {2}joined: +1\/1 Pods run/)) !== undefined);
  child.kill('SIGINT');
  const { code, lines, stderr } = await ended;
  assert.equal(code, 0, stderr);
  assert.ok(lines.includes('removed 1 nodes from the joined cluster'), lines.slice(-8).join('\n'));
  assert.deepEqual(names('/nodes'), ['mine']);
  for (const kind of ['capacityrequests', 'upcomingnodes', 'availablecapacities']) {
    assert.deepEqual(names(`bigfleet.lucy.sh/${kind}`), [], kind);
  }
  assert.equal((JSON.parse(lines.at(-1) ?? '') as Summary).pods['joined']?.running, 1);
});

test('a cluster that a BigFleet serves already is refused, and nothing of it is touched', async (t) => {
  const { server, kubeconfig } = await otherCluster(t);
  const runtime = realRuntime();
  const client = await connect({ runtime, kubeconfig, name: 'other' });
  t.after(() => client.transport.close());
  await installDefinitions(runtime, client, new AbortController().signal);
  const path_ = '/apis/bigfleet.lucy.sh/v1alpha1/upcomingnodes';
  const body = JSON.stringify({
    apiVersion: 'bigfleet.lucy.sh/v1alpha1',
    kind: 'UpcomingNode',
    metadata: { name: 'un-m-1', annotations: { 'bigfleet.lucy.sh/machine-id': 'aws/m-1' } },
    spec: { resources: {} },
  });
  server.answer({ method: 'POST', path: path_, body });
  const ports = await leased();
  const { code, stderr } = await start('--kubeconfig', kubeconfig, ...portArgs(ports)).ended;
  assert.equal(code, 1);
  assert.match(stderr, /served by a BigFleet already \(upcomingnode un-m-1\): .*join another/);
  assert.doesNotMatch(stderr, /are kept in/, 'nothing is left that nobody would read');
  assert.ok(server.store.get('bigfleet.lucy.sh/upcomingnodes', 'un-m-1') !== undefined);
});

test('Ctrl-C stops everything and sums it up', async () => {
  const ports = await leased();
  const started = start('--seed', '7', ...portArgs(ports));
  const { child, ended, line } = started;
  const dir = await dirOf(started);
  await line(/^ready after/);
  assert.ok(existsSync(dir));
  child.kill('SIGINT');
  const { code, lines, stderr } = await ended;
  assert.equal(code, 0, stderr);
  assert.equal((JSON.parse(lines.at(-1) ?? '') as Summary).seed, '7');
  assert.equal(existsSync(dir), false);
  assert.equal(await leftOvers(dir), '');
  assert.deepEqual(await portProblems(ports, portNames), []);
});

test('a coordinator that dies ends it, with the end of its log, and takes the others along', async () => {
  const ports = await leased();
  const started = start('--seed', '7', ...portArgs(ports));
  process.kill(await pidOf(started, 'coordinator'), 'SIGKILL');
  const { code, stderr } = await started.ended;
  assert.equal(code, 1, stderr);
  const [, logFile] =
    /^the coordinator ended \(SIGKILL\); the end of (.*):\n.*listening/s.exec(stderr) ?? [];
  assert.ok(logFile !== undefined, stderr);
  assert.ok(existsSync(logFile), 'the logs of a run that failed are kept');
  rmSync(path.dirname(logFile), { recursive: true });
  assert.deepEqual(await portProblems(ports, portNames), []);
});

test('a busy port ends it at once, with what to do about it', async () => {
  const ports = await leased();
  const server = net.createServer().listen(ports.dashboard, HOST);
  await once(server, 'listening');
  const { code, stderr } = await start(...portArgs(ports)).ended;
  server.close();
  assert.equal(code, 1);
  assert.match(
    stderr,
    new RegExp(`^port ${ports.dashboard} \\(dashboard\\) is in use by process ${process.pid} `),
  );
  assert.match(stderr, /\nstop what .* make up DASHBOARD_PORT=\d+$/m);
});

test('bad options end it with one usage line and code 2', async () => {
  const { code, stderr } = await start('--for', 'ever').ended;
  assert.equal(code, 2);
  assert.match(stderr, /^FOR=ever: .*\nusage: make up /);
  const refused = [
    ['--for', '61m'],
    ['--seed', 'a b'],
    ['--shard-port', '0'],
    ['--profile', 'huge'],
    ['--etcd', 'yes'],
    ['--what'],
  ];
  for (const args of refused) assert.equal(parseOptions(args, {}).ok, false, args.join(' '));
});

test('options come from flags, then the environment, then defaults', () => {
  const options = (args: string[], env: Record<string, string>): unknown => {
    const parsed = parseOptions(args, env);
    return parsed.ok ? parsed.options : parsed.problem;
  };
  const profile = profiles.small;
  assert.deepEqual(options([], {}), {
    forMs: undefined,
    seed: '12648430',
    profile,
    ports: defaultPorts,
    usedPorts: usedPorts({ profile, hasEtcd: false, hasJoined: false }),
    etcd: undefined,
    kubeconfig: undefined,
  });
  // A kubeconfig in the environment is somebody's habit, and no wish to join.
  const env = { FOR: '30s', SEED: '5', PROFILE: 'tiny', SHARD_PORT: '17780', KUBECONFIG: up };
  assert.deepEqual(options(['--seed', '6', '--dashboard-port', '19000'], env), {
    forMs: 30_000,
    seed: '6',
    profile: profiles.tiny,
    ports: { ...defaultPorts, shard: 17_780, dashboard: 19_000 },
    usedPorts: usedPorts({ profile: profiles.tiny, hasEtcd: false, hasJoined: false }),
    etcd: undefined,
    kubeconfig: undefined,
  });
  assert.equal(options(['--profile', 'huge'], {}), 'PROFILE=huge: one of tiny, small, large');
  const nowhere = { PATH: '/nowhere', XDG_CACHE_HOME: '/nowhere' };
  assert.match(String(options(['--etcd', '1'], nowhere)), /^ETCD=1 needs an etcd.*make etcd/);
  assert.equal(
    options(['--kubeconfig', '/nowhere/config'], {}),
    'KUBECONFIG=/nowhere/config: /nowhere/config cannot be read',
  );
});
