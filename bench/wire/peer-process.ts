// The other processes of a wire bench, driven by questions over Node's IPC channel. Each has a
// deadline per question, dies with its parent (the channel closes), and is killed by its pid.
// A process that must hold thousands of sockets is started through a shell that raises the limit
// of open files first: Node cannot raise its own.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Order } from './child-order.ts';

const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url));
const OPEN_FILES = 65_536;
const STOP_WITHIN_MS = 5_000;
const DEFAULT_DEADLINE_MS = 20_000;

interface Pending {
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

export interface Ask<Answer> {
  readonly question: string;
  /** Throws when the answer is not one. */
  readonly parse: (answer: unknown) => Answer;
  readonly withinMs?: number;
}

export class PeerProcess {
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, Pending>();
  #nextId = 0;
  #ended: string | undefined;

  constructor(order: Order, nodeFlags: readonly string[] = []) {
    const args = ['--expose-gc', ...nodeFlags, CHILD, JSON.stringify(order)];
    this.#child = spawn('bash', ['-c', raiseAndRun(), process.execPath, ...args], {
      stdio: ['ignore', 2, 2, 'ipc'],
    });
    this.#child.on('message', (message) => this.#onMessage(message));
    this.#child.once('exit', (code, signal) => this.#end(`ended with ${signal ?? code}`));
    this.#child.once('error', (error) => this.#end(`did not start: ${error.message}`));
    process.once('exit', this.#kill);
  }

  async ask<Answer>({
    question,
    parse,
    withinMs = DEFAULT_DEADLINE_MS,
  }: Ask<Answer>): Promise<Answer> {
    if (this.#ended !== undefined) throw new Error(`the peer process ${this.#ended}`);
    const id = this.#nextId++;
    const answered = new Promise<unknown>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#child.send({ id, question });
    });
    const timer = setTimeout(() => {
      this.#take(id)?.reject(new Error(`no answer to "${question}" in ${withinMs} ms`));
    }, withinMs);
    try {
      return parse(await answered);
    } finally {
      clearTimeout(timer);
    }
  }

  /** SIGKILL: nothing that a bench process holds is worth a goodbye. */
  async stop(): Promise<void> {
    process.removeListener('exit', this.#kill);
    if (this.#ended !== undefined) return;
    const exited = once(this.#child, 'exit', { signal: AbortSignal.timeout(STOP_WITHIN_MS) });
    this.#kill();
    await exited;
  }

  readonly #kill = (): void => {
    this.#child.kill('SIGKILL');
  };

  #onMessage(message: unknown): void {
    if (typeof message !== 'object' || message === null || !('id' in message)) return;
    const pending = this.#take(Number(message.id));
    if ('error' in message) pending?.reject(new Error(String(message.error)));
    else pending?.resolve('answer' in message ? message.answer : undefined);
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  #end(how: string): void {
    this.#ended = how;
    for (const id of this.#pending.keys()) {
      this.#take(id)?.reject(new Error(`the peer process ${how}`));
    }
  }
}

/** $0 is Node, the rest are its arguments; the process keeps the shell's pid and IPC channel. */
function raiseAndRun(): string {
  return `ulimit -n ${OPEN_FILES} 2>/dev/null || ulimit -n "$(ulimit -Hn)"; exec "$0" "$@"`;
}
