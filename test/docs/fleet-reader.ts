// A reader of the guides: a tree of its own with the commands of this checkout, a network in which the
// printed ports are free, and the servers that the page had started.

import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runCommand } from '../template/command.ts';
import { eventually, HANG_MS, type RunningProcess, startProcess } from '../toolkit/index.ts';
import { ROOT } from './pages.ts';
import { type PrivateNetwork, privateNetwork } from './private-network.ts';

const SERVING = /msg="(?:metrics serving|serving CapacityProvider)"/;

/** The tree that a reader stands in, with its own `.fleet`, network and servers. */
export class Reader implements AsyncDisposable {
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

/** "After two report intervals": the page has the reader wait. */
export async function hasMachines(reader: Reader): Promise<void> {
  const isThere = async (): Promise<boolean> =>
    (await reader.run('bigfleetctl get machines --limit=1')).includes('Speculative');
  await eventually(isThere, { everyMs: 4_000, what: 'machines of the provider' });
}
