// Proves that a process is booted on a free port, ready when its health says so (or its port
// accepts), killed with all that it forked, and that a boot that fails shows the end of its log.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BigFleetError } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { type BootEnvironment, bootProcess } from './boot.ts';
import { Children } from './children.ts';
import { FreePorts } from './free-port.ts';
import { startCommandLaunch } from './launch.ts';
import { bootDurable } from './owned.ts';
import { readinessProblem } from './ready.ts';
import { Workspace } from './workspace.ts';

const tiny: string = fileURLToPath(new URL('../testing/tiny-main.ts', import.meta.url));
const tinyCommand = `${process.execPath} ${tiny} --addr={addr} --seed-count={seed}`;

function environment(t: TestContext, change: Partial<BootEnvironment> = {}): BootEnvironment {
  const runtime = realRuntime();
  const children = new Children(runtime);
  const workspace = new Workspace();
  t.after(async () => {
    await children.killAll();
    await workspace.close({ keepLogs: false });
  });
  return {
    runtime,
    children,
    workspace,
    ports: new FreePorts(0),
    timeScale: 1,
    signal: new AbortController().signal,
    ...change,
  };
}

function shell(text: string): {
  readonly launch: ReturnType<typeof startCommandLaunch>;
  seedCount: number;
} {
  return { launch: startCommandLaunch(text, process.cwd()), seedCount: 4 };
}

async function bootError(boot: BootEnvironment, text: string): Promise<BigFleetError> {
  const error = await bootProcess(boot, shell(text)).catch((thrown: unknown) => thrown);
  assert.ok(error instanceof BigFleetError);
  return error;
}

for (const [what, flag] of [
  ['with a health service', ''],
  ['without one', ' --no-health'],
]) {
  test(`a provider ${what} is booted, and gone after its kill`, async (t) => {
    const boot = environment(t);
    const { runtime, signal } = boot;
    const booted = await bootProcess(boot, shell(tinyCommand + flag));
    const question = { runtime, signal, target: booted.target };
    assert.equal(await readinessProblem(question), undefined);
    await booted.kill();
    assert.notEqual(await readinessProblem(question), undefined);
  });
}

test('a process that ends shows how, and the end of its log', async (t) => {
  const error = await bootError(
    environment(t),
    'for i in $(seq 1 500); do echo "line $i"; done; echo "no credentials" >&2; exit 3 # {addr}',
  );
  assert.equal(error.code, 'conformance_boot_failed');
  assert.match(error.message, /^start-cmd exited with code 3; log .*\.log, the end of it:\n/);
  assert.match(error.message, /line 500\nno credentials$/);
  assert.doesNotMatch(error.message, /line 480\n/);
});

test('a silent process and a missing program are told as such', async (t) => {
  const silent = await bootError(environment(t), 'exit 7 # {addr}');
  assert.match(silent.message, /exited with code 7; log .*, it printed nothing$/);
  const launch = {
    name: 'ghost',
    prefersState: false,
    command: () => ({ file: '/nowhere/provider', args: [], cwd: '/' }),
  };
  const request = bootProcess(environment(t), { launch, seedCount: 1 });
  await assert.rejects(request, /^BigFleetError: ghost could not be started: .*ENOENT/);
});

test('a process that never listens is given up, and killed with what it forked', async (t) => {
  const boot = environment(t);
  const marker = path.join(path.dirname(await boot.workspace.statePath('marker')), 'pid');
  // The time to listen is over when the process has forked, however slow the machine is.
  const { clock, ...rest } = boot.runtime;
  const isForked = (): boolean => existsSync(marker) && readFileSync(marker, 'utf8') !== '';
  const monotonicMs = (): number => clock.monotonicMs() + (isForked() ? 20_000 : 0);
  const hurried = { ...rest, clock: { unixNanos: () => clock.unixNanos(), monotonicMs } };
  const error = await bootError(
    { ...boot, runtime: hurried },
    `echo waiting; sleep 600 & echo $! > ${marker}; wait # {addr}`,
  );
  assert.match(error.message, /was not ready on 127\.0\.0\.1:\d+ within 20000 ms/);
  assert.match(error.message, /waiting$/);
  const forked = Number(readFileSync(marker, 'utf8'));
  assert.ok(forked > 1);
  await gone(boot, forked);
});

test('a lost port is replaced by another one', async (t) => {
  const taken = createServer((socket) => socket.destroy());
  taken.listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.after(() => taken.close());
  const bound = taken.address();
  assert.ok(bound !== null && typeof bound === 'object');
  const addresses = [`127.0.0.1:${bound.port}`];
  const free = new FreePorts(0);
  const ports = new FreePorts(0);
  ports.address = async () => addresses.pop() ?? free.address();
  const booted = await bootProcess(environment(t, { ports }), shell(tinyCommand));
  assert.notEqual(booted.target, `127.0.0.1:${bound.port}`);
});

test('ports upwards from a base: the first free one, never the same twice', async (t) => {
  const base = await new FreePorts(0).address();
  const port = Number(base.split(':')[1]);
  const blocker = createServer();
  blocker.listen(port, '127.0.0.1');
  await once(blocker, 'listening');
  t.after(() => blocker.close());
  const ports = new FreePorts(port);
  const first = Number((await ports.address()).split(':')[1]);
  const second = Number((await ports.address()).split(':')[1]);
  assert.ok(first > port && second > first);
});

test('an interrupted boot ends at once and leaves no process', async (t) => {
  const controller = new AbortController();
  const boot = environment(t, { signal: controller.signal });
  const marker = path.join(path.dirname(await boot.workspace.statePath('marker')), 'pid');
  const booting = bootProcess(boot, shell(`echo $$ > ${marker}; exec sleep 600 # {addr}`));
  while (!existsSync(marker) || readFileSync(marker, 'utf8') === '')
    await boot.runtime.timers.turn();
  controller.abort(new BigFleetError('cancelled', 'interrupted by SIGINT'));
  await assert.rejects(booting, /interrupted by SIGINT/);
  await gone(boot, Number(readFileSync(marker, 'utf8')));
});

test('a reboot keeps the state and changes the port', async (t) => {
  const boot = environment(t);
  const request = shell(`${tinyCommand} --state={state}`);
  const owned = await bootDurable(boot, request);
  const before = owned.target;
  const { endpoint } = owned;
  assert.ok((await endpoint.create({ machineId: 'tiny/1' })).ok);
  const rebooted = await owned.killAndReboot();
  assert.notEqual(owned.target, before);
  assert.equal(owned.endpoint, rebooted);
  const machine = await rebooted.get('tiny/1');
  assert.ok(machine.ok);
  assert.equal(machine.value.state, 'IDLE');
  await owned.stop();
});

/** A killed process disappears when its parent, or init, has collected it. */
async function gone({ runtime }: BootEnvironment, pid: number): Promise<void> {
  const endMs = runtime.clock.monotonicMs() + 60_000;
  while (isAlive(pid)) {
    assert.ok(runtime.clock.monotonicMs() < endMs, `process ${pid} is still there`);
    await runtime.timers.turn();
  }
}

function isAlive(pid: number): boolean {
  try {
    // The state letter after the name: a zombie is dead, only not collected yet.
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
