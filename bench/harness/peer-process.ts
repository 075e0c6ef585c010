// A process beside what is measured, driven by questions over Node's IPC channel. Each question has a
// deadline; a process dies with its parent (the channel closes) and is killed by its pid. Thousands
// of sockets need a higher limit of open files, which only the shell in front of Node can raise.
// `answer-questions.ts` is the other end.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const OPEN_FILES = 65_536;
const STOP_WITHIN_MS = 5_000;
const DEFAULT_DEADLINE_MS = 120_000;

/** For `bash -c`: $0 is the command, the rest are its arguments; the pid stays. */
export const RAISE_AND_RUN: string =
  `ulimit -n ${OPEN_FILES} 2>/dev/null || ulimit -n "$(ulimit -Hn)"; ` + 'exec "$0" "$@"';

export interface PeerOptions {
  /** The program, which calls `answerQuestions`. */
  readonly child: URL;
  /** Goes to it as JSON, its first argument. */
  readonly order: object;
  readonly nodeFlags?: readonly string[];
}

interface Pending {
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

export class PeerProcess {
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, Pending>();
  #nextId = 0;
  #ended: string | undefined;

  constructor({ child, order, nodeFlags = ['--max-old-space-size=8192'] }: PeerOptions) {
    const args = [...nodeFlags, fileURLToPath(child), JSON.stringify(order)];
    this.#child = spawn('bash', ['-c', RAISE_AND_RUN, process.execPath, ...args], {
      stdio: ['ignore', 2, 2, 'ipc'],
    });
    this.#child.on('message', (message) => this.#onMessage(message));
    this.#child.once('exit', (code, signal) => this.#end(`ended with ${signal ?? code}`));
    this.#child.once('error', (error) => this.#end(`did not start: ${error.message}`));
    process.once('exit', this.#kill);
  }

  async ask(
    question: string,
    argument = 0,
    withinMs: number = DEFAULT_DEADLINE_MS,
  ): Promise<unknown> {
    if (this.#ended !== undefined) throw new Error(`the peer process ${this.#ended}`);
    const id = this.#nextId++;
    const answered = new Promise<unknown>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#child.send({ id, question, argument });
    });
    const timer = setTimeout(() => {
      this.#take(id)?.reject(new Error(`no answer to "${question}" in ${withinMs} ms`));
    }, withinMs);
    try {
      return await answered;
    } finally {
      clearTimeout(timer);
    }
  }

  async askNumber(question: string, argument = 0, withinMs?: number): Promise<number> {
    const answer = await this.ask(question, argument, withinMs);
    if (typeof answer !== 'number') throw new Error(`"${question}" was answered with no number`);
    return answer;
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
