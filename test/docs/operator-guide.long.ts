// Proves that the operator guide does what it says: its blocks run in the printed order and end in a
// fleet whose provider is dialled, and its restore brings the state back. Long because the page waits
// for two reports of the shard. Blocks for a cluster are run by test/kube/charts-server.e2e.ts.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { runCommand } from '../template/command.ts';
import { eventually, HANG_MS, type RunningProcess, startProcess } from '../toolkit/index.ts';
import { readBlocks } from './blocks.ts';
import { type PrivateNetwork, privateNetwork } from './private-network.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const page = readFileSync(path.join(ROOT, 'docs/operator-guide.md'), 'utf8');
/** A block inside a list is indented. */
const blocks = readBlocks(page.replace(/^ {3}/gm, '')).filter(({ kind }) => kind !== 'kube');
const SERVING = /msg="(?:metrics serving|serving CapacityProvider)"/;

/** The tree that a reader stands in, with its own `.fleet`, network and servers. */
class Reader implements AsyncDisposable {
  readonly #tree = mkdtempSync(path.join(tmpdir(), 'bigfleet-guide-'));
  readonly #network: PrivateNetwork;
  readonly #servers: RunningProcess[] = [];

  private constructor(network: PrivateNetwork) {
    this.#network = network;
    for (const name of ['bin', 'packages', 'providers', 'node_modules']) {
      symlinkSync(path.join(ROOT, name), path.join(this.#tree, name));
    }
  }

  static async open(): Promise<Reader> {
    return new Reader(await privateNetwork());
  }

  run(text: string): Promise<string> {
    const { command, args } = this.#bash(text);
    const options = { cwd: this.#tree, env: this.#env(), withinMs: HANG_MS };
    return runCommand(command, [...args], options);
  }

  async serve(text: string): Promise<void> {
    const ready = { kind: 'line', pattern: SERVING } as const;
    const spec = { name: text, cwd: this.#tree, env: this.#env(), ready };
    this.#servers.push(await startProcess({ ...spec, ...this.#bash(`exec ${text}`) }));
  }

  /** What the page says in words. */
  async stop(name: string): Promise<void> {
    for (const server of this.#servers) if (server.name.startsWith(name)) await server.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers.reverse()) await server.stop();
    await this.#network[Symbol.asyncDispose]();
    rmSync(this.#tree, { recursive: true, force: true });
  }

  #bash(text: string): ReturnType<PrivateNetwork['command']> {
    return this.#network.command('bash', ['-euo', 'pipefail', '-c', text]);
  }

  /** `export` of the first block lasts for its own shell only. */
  #env(): Readonly<Record<string, string>> {
    const bins = ['bin', 'node_modules/.bin'].map((name) => path.join(this.#tree, name));
    return { PATH: [...bins, process.env['PATH'] ?? ''].join(':'), HOME: this.#tree };
  }
}

test('the page starts a fleet, steers it, saves it and brings it back', async (t) => {
  await using reader = await Reader.open();
  const outputs: string[] = [];
  for (const block of blocks) {
    if (block.kind === 'serve') await reader.serve(block.text);
    else if (block.kind === 'run') {
      if (block.text.includes('snapshot restore')) await reader.stop('bigfleet coordinator');
      if (block.text.includes('get machines')) await hasMachines(reader);
      outputs.push(await reader.run(block.text));
    } else assert.fail(`a block that nobody runs: ${block.kind}`);
  }
  const text = outputs.join('\n');
  t.diagnostic(`${blocks.length} blocks`);
  assert.match(text, /registered provider example/);
  assert.match(text, /Speculative/);
  assert.match(text, /0 errors/);
  assert.match(text, /paused shard shard-0/);
  assert.match(text, /restored snapshot index=\d+ term=1 /);
  const status = await reader.run('bigfleetctl status');
  assert.match(status, /Term: +1002\n/);
  assert.match(status, /Recovering:/);
});

/** "After two report intervals": the page has the reader wait. */
async function hasMachines(reader: Reader): Promise<void> {
  const isThere = async (): Promise<boolean> =>
    (await reader.run('bigfleetctl get machines --limit=1')).includes('Speculative');
  await eventually(isThere, { everyMs: 4_000, what: 'machines of the provider' });
}
