// Proves the command as a process: its exit codes and messages, its reports, that an endpoint behind mTLS, IPv6 or a Unix socket can be judged, and that a signal
// ends it together with what it booted.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import path from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { realRuntime } from '@bigfleet/base/real';
import { tlsFromFlags } from '@bigfleet/wire';
import { tinyCommand } from '../lanes/testing/suite-options.ts';
import type { JsonReport } from '../report/json.ts';
import { garbagePeer, silentPeer } from '../testing/bad-peers.ts';
import { writePki } from '../testing/pki.ts';
import { serveTiny } from '../testing/serve-tiny.ts';

const main: string = fileURLToPath(new URL('../main.ts', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'bfconformance-test-'));
after(() => rmSync(folder, { recursive: true }));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves when standard output matches. */
  printed(pattern: RegExp): Promise<void>;
}

function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Started {
  const child = spawn(process.execPath, [main, ...args], {
    env: { PATH: process.env['PATH'] ?? '', TMPDIR: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  const ended = once(child, 'close').then(([code]) => ({
    code: code as number | null,
    stdout,
    stderr,
  }));
  const printed = async (pattern: RegExp): Promise<void> => {
    while (!pattern.test(stdout)) {
      const over = await Promise.race([once(child.stdout, 'data').then(() => undefined), ended]);
      assert.equal(over, undefined, `it ended without printing ${pattern}`);
    }
  };
  return { child, ended, printed };
}

function command(...args: readonly string[]): Promise<Ended> {
  return start(args).ended;
}

async function tiny(t: TestContext, listen: string = '127.0.0.1:0'): Promise<string> {
  const served = await serveTiny({ runtime: realRuntime(), seedCount: 64, listen });
  t.after(() => served.server.stop());
  return served.target;
}

const usageErrors: [readonly string[], RegExp][] = [
  [[], /^bfconformance: nothing to judge: give -target, -provider or -start-cmd \(-help lists/],
  [['-targt', 'x:1'], /^bfconformance: unknown flag -targt: did you mean -target\?/],
  [['-target', 'nowhere'], /^bfconformance: -target: "nowhere" is no target/],
  [['-provider', 'nobody'], /^bfconformance: -provider: no providers\/nobody\/src\/main\.ts/],
  [['-target', 'h:1', '-only', 'B9999'], /^bfconformance: -only: unknown behaviour "B9999"/],
];

test('usage errors: exit code 2, one line on standard error, nothing else', async () => {
  const ends = await Promise.all(usageErrors.map(([args]) => command(...args)));
  for (const [at, { code, stdout, stderr }] of ends.entries()) {
    assert.equal(code, 2);
    assert.match(stderr, usageErrors[at]?.[1] ?? /^$/);
    assert.equal(stderr.split('\n').length, 2);
    assert.equal(stdout, '');
  }
});

test('-help and --list need nothing to judge', async () => {
  const [help, list] = await Promise.all([command('-help'), command('--list')]);
  assert.equal(help.code, 0);
  assert.match(help.stdout, /^bfconformance judges/);
  assert.equal(list.code, 0);
  assert.equal(list.stdout.trimEnd().split('\n').length, 93);
  assert.match(
    list.stdout,
    /^B109 +Lifecycle +Delete shows only DELETING \[core,cloud; phase 2 needs Delete\]$/m,
  );
});

test('an endpoint that cannot be judged: exit code 2, and still a line for each id', async (t) => {
  const silent = await silentPeer();
  const garbage = await garbagePeer();
  t.after(silent.close);
  t.after(garbage.close);
  const out = path.join(folder, 'unreachable');
  const ends = await Promise.all([
    command('-target', '127.0.0.1:1', '-out', out),
    command('-target', silent.target, '-time-scale', '0.05'),
    command('-target', garbage.target),
  ]);
  for (const { code, stdout, stderr } of ends) {
    assert.equal(code, 2);
    assert.match(stderr, /^bfconformance: nothing could be judged: .* does not answer/);
    assert.equal(stdout.match(/^B\d+ +not run \(/gm)?.length, 93);
    assert.match(stdout, />> VERDICT: INCOMPLETE \(certified profiles: none\)\n$/);
  }
  const report = JSON.parse(readFileSync(path.join(out, 'report.json'), 'utf8')) as JsonReport;
  assert.equal(report.verdict, 'INCOMPLETE');
});

test('a provider that does not boot: exit code 2 and the end of its log', async () => {
  const { code, stderr } = await command('-start-cmd', 'echo boom; exit 9 # {addr} {state}');
  assert.equal(code, 2);
  assert.match(stderr, /start-cmd exited with code 9; log \S+\.log, the end of it:\nboom/);
  const log = /log (\S+\.log),/.exec(stderr)?.[1] ?? '';
  assert.equal(readFileSync(log, 'utf8'), 'boom\n');
});

test('core is certified on a correct provider, with reports', async (t) => {
  const out = path.join(folder, 'certified');
  const { code, stdout, stderr } = await command('--target', await tiny(t), '--out', out);
  assert.equal(stderr, '');
  assert.equal(code, 0, stdout);
  assert.match(stdout, /^judging 127\.0\.0\.1:\d+ for core, seed 1\n/);
  assert.match(stdout, />> VERDICT: CERTIFIED \(core\)\n$/);
  assert.match(stdout, /^B1001 +not run \(needs --start-cmd; with make START_CMD=\)$/m);
  const report = JSON.parse(readFileSync(path.join(out, 'report.json'), 'utf8')) as JsonReport;
  assert.equal(report.verdict, 'CERTIFIED');
  assert.deepEqual(report.baseline, { tests: 27, passed: 25, failed: 0, skipped: 2 });
  assert.equal(report.summary.required_missing, 0);
  assert.ok(existsSync(path.join(out, 'junit.xml')) && existsSync(path.join(out, 'badge.json')));
});

test('an empty provider is INCOMPLETE: exit code 1', async () => {
  const args = ['-start-cmd', tinyCommand().replace('{seed}', '0'), '-profile', 'core'];
  const { code, stdout } = await command(...args);
  assert.equal(code, 1);
  assert.match(stdout, />> VERDICT: INCOMPLETE \(certified profiles: none\)\n$/);
  assert.match(stdout, /^B101 +skipped .*precondition-unmet: needs 1 SPECULATIVE/m);
});

test('a failing behaviour: FAILED, exit code 1, the finding on its line', async () => {
  // The process dies in the middle of the first behaviour.
  const args = ['-start-cmd', tinyCommand('--die-after=30'), '-profile', 'core', '-skip-baseline'];
  const { code, stdout } = await command(...args);
  assert.equal(code, 1);
  assert.match(stdout, /^B101 +failed .*UNAVAILABLE/m);
  assert.match(stdout, />> VERDICT: FAILED \(certified profiles: none\)\n$/);
});

test('IPv6 and Unix sockets are targets', async (t) => {
  const targets = [await tiny(t, `unix:${path.join(folder, 'provider.sock')}`)];
  const hasIpv6 = Object.values(networkInterfaces()).some((list) =>
    list?.some(({ address }) => address === '::1'),
  );
  if (hasIpv6) targets.push(await tiny(t, '[::1]:0'));
  else t.diagnostic('this machine has no ::1; the IPv6 target was not tried');
  for (const target of targets) {
    const { code, stdout } = await command('-target', target, '-only', 'B208');
    assert.equal(code, 1, 'one behaviour certifies nothing');
    assert.match(stdout, /^B208 +passed/m);
    assert.match(stdout, /^B101 +not run \(not selected by --only\)$/m);
  }
});

test('an endpoint behind mTLS is judged with a certificate, and not without', async (t) => {
  const { cert, key, ca } = await writePki(folder, ['bigfleet://shard/conformance']);
  const tls = tlsFromFlags({ cert, key, ca, env: {} });
  assert.ok(tls !== 'plaintext');
  const served = await serveTiny({ runtime: realRuntime(), seedCount: 4, tls });
  t.after(() => served.server.stop());
  const flags = ['-target', served.target, '-only', 'B208'];
  const [secured, plaintext] = await Promise.all([
    command(...flags, '-tls-cert', cert, '-tls-key', key, '-tls-ca', ca),
    command(...flags),
  ]);
  assert.equal(secured.code, 1, 'one behaviour certifies nothing');
  assert.match(secured.stdout, /^B208 +passed/m);
  assert.equal(plaintext.code, 2);
  assert.match(plaintext.stderr, /does not answer/);
});

test('SIGINT ends the run, and what it booted with it', async () => {
  const marker = path.join(folder, 'booted.pid');
  const before = readdirSync(folder);
  const boot = `echo $$ > ${marker}; exec ${tinyCommand()}`;
  const { child, ended, printed } = start(['-start-cmd', boot, '-profile', 'core']);
  await printed(/^baseline: 27 checks/m);
  child.kill('SIGINT');
  const { code, stderr, stdout } = await ended;
  assert.equal(code, 2);
  assert.equal(stderr, 'bfconformance: interrupted by SIGINT\n');
  assert.doesNotMatch(stdout, /VERDICT/);
  const pid = Number(readFileSync(marker, 'utf8'));
  assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
  const left = readdirSync(folder).filter((name) => name.startsWith('bfconformance-'));
  assert.deepEqual(
    left.filter((name) => !before.includes(name)),
    [],
  );
});
