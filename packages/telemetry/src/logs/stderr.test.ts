// Proves on real processes that stderr gets every line, in order, also when the process ends at once
// by exit or by an uncaught error; that a process whose stderr is gone goes on and ends; and that a
// stuck pipe costs counted lines, not the event loop.

import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  createReadStream,
  mkdtempSync,
  openSync,
  type ReadStream,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

const directory = mkdtempSync(join(tmpdir(), 'bigfleet-stderr-'));
after(() => rmSync(directory, { recursive: true }));

const sources = {
  registry: new URL('../metrics/registry.ts', import.meta.url).href,
  scrape: new URL('../metrics/testing/scrape-families.ts', import.meta.url).href,
  logger: new URL('./logger.ts', import.meta.url).href,
  stderr: new URL('./stderr.ts', import.meta.url).href,
};

/** Node arguments for a program that has a logger `log` on stderr and its `registry`. */
function programWith(body: string): readonly string[] {
  const program = `
    import { realRuntime } from '@bigfleet/base/real';
    import { createRegistry } from '${sources.registry}';
    import { scrapeFamilies, valuesOf } from '${sources.scrape}';
    import { createLogger } from '${sources.logger}';
    import { stderrSink } from '${sources.stderr}';
    const registry = createRegistry();
    const { clock, timers } = realRuntime();
    const sink = stderrSink({ timers, registry });
    const log = createLogger({ clock, sink });
    const burst = (count) => {
      for (let at = 0; at < count; at++) log.info('line', { at, pad: 'x'.repeat(100) });
    };
    const drops = async () =>
      valuesOf(await scrapeFamilies(registry), 'bigfleet_telemetry_log_drops_total')[''];
    ${body}`;
  return ['--input-type=module', '-e', program];
}

/** The numbers of the lines that `burst` logged. */
function numbersIn(text: string): readonly number[] {
  const logged = text.split('\n').filter((line) => line.startsWith('time='));
  return logged.map((line) => Number(/ at=(\d+) pad=x{100}$/.exec(line)?.[1] ?? Number.NaN));
}

function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => at);
}

const endings: readonly [string, string, number][] = [
  ['runs to its end', '', 0],
  ['exits at once', 'process.exit(3);', 3],
  ['dies of an uncaught error', "throw new Error('bug');", 1],
  ['flushes and is killed', "sink.flushSync(); process.kill(process.pid, 'SIGKILL');", 137],
];

for (const [what, ending, status] of endings) {
  test(`every line is out when the process ${what}`, () => {
    // A shell, because its pipes are pipes; those of spawn are sockets.
    const script = '{ "$@"; echo "status=$?" >&2; } 2>&1 >&3 | cat';
    const args = ['-c', script, 'sh', process.execPath, ...programWith(`burst(5000);${ending}`)];
    const child = spawnSync('sh', args, {
      cwd: import.meta.dirname,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
      maxBuffer: 16 * 1024 * 1024,
    });
    assert.deepEqual(numbersIn(child.stdout), upTo(5_000));
    assert.match(child.stdout, new RegExp(`status=${status}\n`));
    assert.equal(String(child.output[3]), '', 'nothing goes to stdout');
  });
}

test('a file gets every line, and what others write to it stays', () => {
  const path = join(directory, 'log.txt');
  const descriptor = openSync(path, 'w');
  const body = "process.stderr.write('first\\n'); burst(100); process.stderr.write('last\\n');";
  spawnSync(process.execPath, programWith(body), {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'ignore', descriptor],
  });
  closeSync(descriptor);
  const text = execFileSync('cat', [path], { encoding: 'utf8' });
  assert.match(text, /^first\n/);
  assert.match(text, /\nlast\n$/);
  assert.deepEqual(numbersIn(text), upTo(100));
});

function start(body: string, stderr: 'pipe' | number): ChildProcess {
  return spawn(process.execPath, programWith(body), {
    cwd: import.meta.dirname,
    stdio: ['pipe', 'pipe', stderr],
  });
}

async function said(child: ChildProcess): Promise<string> {
  assert.ok(child.stdout !== null);
  const data: unknown[] = await once(child.stdout, 'data');
  return String(data[0]);
}

test('a process whose stderr is gone goes on, counts, and ends', async () => {
  const child = start(
    `process.stdin.once('data', async () => {
       burst(100);
       process.stdout.write(String(await drops()), () => process.exit(0));
     });
     process.stdout.write('up');`,
    'pipe',
  );
  assert.equal(await said(child), 'up');
  child.stderr?.destroy();
  child.stdin?.write('go');
  assert.equal(await said(child), '100');
  assert.deepEqual(await once(child, 'exit'), [0, null]);
});

/** A process whose stderr is a pipe that nobody reads before `read` is called. */
function startUnread(body: string): { child: ChildProcess; read: () => Promise<ReadStream> } {
  const path = join(directory, `pipe-${pipes++}`);
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY);
  const child = start(body, writer);
  closeSync(writer);
  const read = async (): Promise<ReadStream> => {
    const stream = createReadStream(path, { encoding: 'utf8' });
    await once(stream, 'open');
    closeSync(reader); // only now, or the pipe would have had no reader for a moment
    return stream;
  };
  return { child, read };
}

let pipes = 0;

test('a stuck pipe drops lines and counts them while the event loop runs', async () => {
  const { child, read } = startUnread(
    `burst(60_000);
     process.stdout.write(String(await drops()));
     process.stdin.once('data', () => {
       log.info('after');
       process.stdin.destroy();
     });`,
  );
  const dropCount = Number(await said(child));
  assert.ok(dropCount > 0, `dropped ${dropCount}`);
  const text = textUntilExit(await read(), child);
  child.stdin?.write('go');
  const numbers = numbersIn(await text);
  assert.equal(numbers.filter((at) => !Number.isNaN(at)).length, 60_000 - dropCount);
  assert.deepEqual(numbers.slice(0, 20_000), upTo(20_000), 'what was kept is the beginning');
});

test('a process that exits with a backlog waits for its reader', async () => {
  const { child, read } = startUnread("burst(5_000); process.stdout.write('x'); process.exit(0);");
  assert.equal(await said(child), 'x');
  assert.deepEqual(numbersIn(await textUntilExit(await read(), child)), upTo(5_000));
});

test('but not for ever', async () => {
  const { child } = startUnread("burst(5_000); process.stdout.write('x'); process.exit(0);");
  assert.deepEqual(await once(child, 'exit'), [0, null]);
});

async function textUntilExit(stream: ReadStream, child: ChildProcess): Promise<string> {
  let text = '';
  stream.on('data', (chunk) => {
    text += String(chunk);
  });
  const [exited] = await Promise.all([once(child, 'exit'), once(stream, 'end')]);
  assert.deepEqual(exited, [0, null]);
  return text;
}
