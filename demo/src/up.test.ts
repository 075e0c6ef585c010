// Proves that `make up` ends by itself and on Ctrl-C, repeats its hash, and refuses bad options.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { nodeVersionProblem } from './node-version.ts';
import { parseOptions } from './options.ts';

const up = fileURLToPath(new URL('./up.ts', import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly lines: readonly string[];
  readonly stderr: string;
}

function start(...args: string[]): { child: ChildProcess; ended: Promise<Ended> } {
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
  return { child, ended };
}

interface Summary {
  readonly virtualMs: number;
  readonly logHash: string;
}

function summaryOf({ lines }: Ended): Summary {
  return JSON.parse(lines.at(-1) ?? '') as Summary;
}

test('one seed and length give one hash, another seed another one', async () => {
  const runs = [start('--for', '500ms', '--seed', '7'), start('--for', '500ms', '--seed', '7')];
  const [first, second] = await Promise.all(runs.map((run) => run.ended));
  assert.ok(first !== undefined && second !== undefined);
  assert.equal(first.code, 0, first.stderr);
  assert.deepEqual(summaryOf(second), summaryOf(first));
  assert.match(summaryOf(first).logHash, /^[0-9a-f]{64}$/);
  assert.equal(summaryOf(first).virtualMs, 5_000);
  assert.ok(first.lines.some((line) => line.includes('all there is so far')));
  const other = await start('--for', '500ms', '--seed', '8').ended;
  assert.notEqual(summaryOf(other).logHash, summaryOf(first).logHash);
});

test('Ctrl-C ends it cleanly, with the hash of the length it reached', async () => {
  const { child, ended } = start('--for', '60s', '--seed', '7');
  child.stdout?.once('data', () => child.kill('SIGINT'));
  const stopped = await ended;
  assert.equal(stopped.code, 0, stopped.stderr);
  const { virtualMs, logHash } = summaryOf(stopped);
  assert.ok(virtualMs < 60_000, `${virtualMs}`);
  const again = await start('--for', `${virtualMs / 10}ms`, '--seed', '7').ended;
  assert.equal(summaryOf(again).logHash, logHash);
});

test('bad options end it with one usage line and code 2', async () => {
  for (const args of [['--for', 'ever'], ['--for', '11m'], ['--seed', 'a b'], ['--what']]) {
    const { code, stderr } = await start(...args).ended;
    assert.equal(code, 2, args.join(' '));
    assert.match(stderr, /usage: make up/);
  }
});

test('options come from flags, then the environment, then defaults', () => {
  const options = (args: string[], env: Record<string, string>) => {
    const parsed = parseOptions(args, env);
    return parsed.ok ? [parsed.options.wallMs, parsed.options.seed] : parsed.problem;
  };
  assert.deepEqual(options([], {}), [10_000, '12648430']);
  assert.deepEqual(options([], { FOR: '30s', SEED: '5' }), [30_000, '5']);
  assert.deepEqual(options(['--for', '1.5m', '--seed', '6'], { FOR: '30s' }), [90_000, '6']);
});

test('another Node major is refused in one line', () => {
  assert.equal(nodeVersionProblem('v24.1.0'), undefined);
  for (const version of ['v20.20.2', 'v22.0.0', 'v240.0.0', 'v26.0.0']) {
    assert.match(nodeVersionProblem(version) ?? '', new RegExp(`^[^\n]*${version}[^\n]*$`));
  }
});
