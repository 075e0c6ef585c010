// Proves that `make up` really runs: everything shown and summed up, stopped on
// Ctrl-C without leftovers, and clear about busy ports and bad options.

import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parseOptions } from './options.ts';
import { defaultPorts, HOST, portNames, portProblems, type Ports } from './places.ts';
import type { Summary } from './report/summary.ts';

const up = fileURLToPath(new URL('./up.ts', import.meta.url));

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
}

function start(...args: string[]): Started {
  const child = spawn(process.execPath, [up, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
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
  return { child, ended, line };
}

/** Free now, and apart from those that a running `make up` uses. */
async function freePorts(): Promise<Ports> {
  const servers = await Promise.all(
    portNames.map(async () => {
      const server = net.createServer().listen(0, HOST);
      await once(server, 'listening');
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as net.AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return Object.fromEntries(portNames.map((name, at) => [name, ports[at]])) as Record<
    keyof Ports,
    number
  >;
}

function portArgs(ports: Ports): string[] {
  return portNames.flatMap((name) => [`--${name}-port`, String(ports[name])]);
}

test('a run shows everything that it promises and sums it up in its last line', async (t) => {
  const ports = await freePorts();
  const { ended, line } = start('--for', '30s', '--seed', '7', ...portArgs(ports));
  const ready = await line(/^ready after [\d.]+/);
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
  assert.ok(lines.some((text) => /Provision simulated\/.*phase1\.speculative: /.test(text)));
  assert.deepEqual(await portProblems(ports), []);
});

test('Ctrl-C stops everything and sums it up', async () => {
  const ports = await freePorts();
  const { child, ended, line } = start('--seed', '7', ...portArgs(ports));
  await line(/^ready after/);
  child.kill('SIGINT');
  const { code, lines, stderr } = await ended;
  assert.equal(code, 0, stderr);
  assert.equal((JSON.parse(lines.at(-1) ?? '') as Summary).seed, '7');
  assert.deepEqual(await portProblems(ports), []);
});

test('a shard that dies ends it, with the end of its log, and takes the others along', async () => {
  const ports = await freePorts();
  const { ended, line } = start('--seed', '7', ...portArgs(ports));
  const pid = /\d+$/.exec((await line(/^shard-0 runs as process/)) ?? '')?.[0];
  process.kill(Number(pid), 'SIGKILL');
  const { code, stderr } = await ended;
  assert.equal(code, 1, stderr);
  const [, logFile] =
    /^the shard-0 ended \(SIGKILL\); the end of (.*):\n.*listening/s.exec(stderr) ?? [];
  assert.ok(logFile !== undefined, stderr);
  assert.ok(existsSync(logFile), 'the logs of a run that failed are kept');
  rmSync(path.dirname(logFile), { recursive: true });
  assert.deepEqual(await portProblems(ports), []);
});

test('a busy port ends it at once, with what to do about it', async () => {
  const ports = await freePorts();
  const server = net.createServer().listen(ports.provider, HOST);
  await once(server, 'listening');
  const { code, stderr } = await start(...portArgs(ports)).ended;
  server.close();
  assert.equal(code, 1);
  assert.match(stderr, new RegExp(`^port ${ports.provider} \\(provider\\) is in use: stop what`));
  assert.match(stderr, /make up PROVIDER_PORT=\d+/);
});

test('bad options end it with one usage line and code 2', async () => {
  const { code, stderr } = await start('--for', 'ever').ended;
  assert.equal(code, 2);
  assert.match(stderr, /^FOR=ever: .*\nusage: make up /);
  const refused = [['--for', '61m'], ['--seed', 'a b'], ['--shard-port', '0'], ['--what']];
  for (const args of refused) assert.equal(parseOptions(args, {}).ok, false, args.join(' '));
});

test('options come from flags, then the environment, then defaults', () => {
  const options = (args: string[], env: Record<string, string>): unknown => {
    const parsed = parseOptions(args, env);
    return parsed.ok ? parsed.options : parsed.problem;
  };
  assert.deepEqual(options([], {}), { forMs: undefined, seed: '12648430', ports: defaultPorts });
  const env = { FOR: '30s', SEED: '5', SHARD_PORT: '17780' };
  assert.deepEqual(options(['--seed', '6', '--provider-port', '19000'], env), {
    forMs: 30_000,
    seed: '6',
    ports: { ...defaultPorts, shard: 17_780, provider: 19_000 },
  });
  assert.equal(options(['--shard-port', '9000'], {}), 'port 9000 is given twice');
});
