// The output of a child process: the last 64 KiB as text for failure messages, and a way to wait
// for a line. Bounded in bytes, because a server that logs in a loop must not exhaust the test.
// Lines seen before someone waits still count, as long as they are within the kept text.

import { after, HANG_MS } from './real-time.ts';

const MAX_KEPT_CHARS = 64 * 1024;
const MAX_LINE_CHARS = 16 * 1024;

interface Waiter {
  readonly pattern: RegExp;
  readonly resolve: (line: RegExpExecArray) => void;
  readonly reject: (why: string) => void;
}

export class ProcessOutput {
  readonly #lines: string[] = [];
  readonly #waiters = new Set<Waiter>();
  #keptChars = 0;
  #droppedChars = 0;
  #ended: string | undefined;

  /** Attaches one stream of the child; each stream has its own unfinished line. */
  attach(stream: NodeJS.ReadableStream, prefix: string): void {
    let rest = '';
    stream.setEncoding('utf8');
    stream.on('data', (chunk: string) => {
      const parts = (rest + chunk).split('\n');
      rest = parts.pop() ?? '';
      for (const part of parts) this.#append(prefix + part);
      if (rest.length > MAX_LINE_CHARS) {
        this.#append(prefix + rest);
        rest = '';
      }
    });
    stream.on('end', () => {
      if (rest !== '') this.#append(prefix + rest);
    });
  }

  /** A remark of the test's own among the lines. */
  note(text: string): void {
    this.#append(`[test] ${text}`);
  }

  /** The tail, with a note on how much is missing before it. */
  text(): string {
    const note = this.#droppedChars === 0 ? '' : `… ${this.#droppedChars} characters dropped …\n`;
    return note + this.#lines.join('\n');
  }

  /** No line will follow: whoever still waits fails at once instead of at its deadline. */
  end(why: string): void {
    this.#ended = why;
    for (const waiter of this.#waiters) waiter.reject(why);
    this.#waiters.clear();
  }

  /** Resolves with the match of the first line, past or future, that matches. */
  waitForLine(pattern: RegExp, withinMs: number = HANG_MS): Promise<RegExpExecArray> {
    const fresh = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''));
    for (const line of this.#lines) {
      const match = fresh.exec(line);
      if (match !== null) return Promise.resolve(match);
    }
    const failure = (why: string): Error =>
      new Error(`no line matched ${pattern}: ${why}\n${this.text()}`);
    if (this.#ended !== undefined) return Promise.reject(failure(this.#ended));
    return new Promise((resolve, reject) => {
      const timer = after(withinMs, () => {
        this.#waiters.delete(waiter);
        reject(failure(`waited ${withinMs} ms`));
      });
      const waiter: Waiter = {
        pattern: fresh,
        resolve: (match) => {
          timer.cancel();
          resolve(match);
        },
        reject: (why) => {
          timer.cancel();
          reject(failure(why));
        },
      };
      this.#waiters.add(waiter);
    });
  }

  #append(line: string): void {
    this.#lines.push(line);
    this.#keptChars += line.length + 1;
    while (this.#keptChars > MAX_KEPT_CHARS) {
      const dropped = (this.#lines.shift() ?? '').length + 1;
      this.#keptChars -= dropped;
      this.#droppedChars += dropped;
    }
    for (const waiter of this.#waiters) {
      const match = waiter.pattern.exec(line);
      if (match === null) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(match);
    }
  }
}
