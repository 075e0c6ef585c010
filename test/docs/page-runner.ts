// Does what a page says, block by block and in its order, in a tree of its own: writes the files,
// runs the commands, keeps the servers up until the page ends. Commands that talk to a printed port
// share a private network with the servers; the others may need the real one.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../template/clone.ts';
import { ownEnvironment, runCommand } from '../template/command.ts';
import { type RunningProcess, startProcess } from '../toolkit/index.ts';
import type { Block } from './blocks.ts';
import { type PrivateNetwork, privateNetwork } from './private-network.ts';

const COMMAND_MS = 600_000;
const PRINTED_PORT = /localhost:\d+/;

export class PageRunner implements AsyncDisposable {
  readonly #root: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #network: PrivateNetwork;
  readonly #servers: RunningProcess[] = [];

  private constructor(root: string, network: PrivateNetwork) {
    this.#root = root;
    this.#network = network;
    const bin = path.join(root, 'node_modules/.bin');
    this.#env = { ...ownEnvironment(), PATH: `${bin}:${process.env['PATH'] ?? ''}` };
  }

  /** `root`: the tree that the page's reader stands in. */
  static async open(root: string): Promise<PageRunner> {
    return new PageRunner(root, await privateNetwork());
  }

  async perform(block: Block): Promise<void> {
    switch (block.kind) {
      case 'file':
        this.#write(block.path, block.text);
        return;
      case 'excerpt':
        assertExcerpt(block.path, block.text);
        return;
      case 'serve':
        await this.#serve(block.text);
        return;
      case 'run':
      case 'clone':
        await this.shell(block.text);
        return;
      case 'text':
        return;
      case 'kube':
      case 'demo':
      case 'lane':
      case 'manifest':
      case 'values':
      case 'ctl-config':
      case 'promql':
        throw new Error(`line ${block.line}: this page runs no block of ${block.kind}`);
    }
  }

  /** The output of commands as a reader would type them. */
  shell(text: string): Promise<string> {
    const { command, args } = this.#bash(text);
    return runCommand(command, args, { cwd: this.#root, env: this.#env, withinMs: COMMAND_MS });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) await server.stop();
    await this.#network[Symbol.asyncDispose]();
  }

  async #serve(text: string): Promise<void> {
    const server = await startProcess({
      name: text,
      ...this.#bash(text),
      cwd: this.#root,
      env: this.#env,
      ready: { kind: 'line', pattern: /serving CapacityProvider/ },
    });
    this.#servers.push(server);
  }

  #bash(text: string): ReturnType<PrivateNetwork['command']> {
    const args = ['-euo', 'pipefail', '-c', text];
    if (PRINTED_PORT.test(text)) return this.#network.command('bash', args);
    return { command: 'bash', args };
  }

  #write(file: string, text: string): void {
    const target = path.join(this.#root, file);
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, `${text}\n`);
  }
}

function assertExcerpt(file: string, text: string): void {
  const source = readFileSync(path.join(ROOT, file), 'utf8');
  assert.ok(source.includes(text), `the excerpt of ${file} on the page is not what it says today`);
}
