// What a person sees: faults as they happen and one status line, rewritten in place on a
// terminal and repeated once a second elsewhere.

import type { EchoLedger } from '@bigfleet/wire/memory';

export interface Output {
  readonly isTTY: boolean;
  write(text: string): void;
}

export interface StatusLine {
  readonly virtualMs: number;
  readonly echo: EchoLedger;
  readonly openCallCount: number;
  readonly logHash: string;
}

/** A terminal shows every status; a file or pipe one of so many. */
const PLAIN_EVERY = 10;

export class View {
  readonly #output: Output;
  #statusCount = 0;
  #hasStatus = false;

  constructor(output: Output) {
    this.#output = output;
  }

  line(text: string): void {
    this.#output.write(`${this.#hasStatus ? '\r\x1b[K' : ''}${text}\n`);
    this.#hasStatus = false;
  }

  fault(virtualMs: number, text: string): void {
    this.line(`  ${clock(virtualMs)}  fault: ${text}`);
  }

  status(status: StatusLine): void {
    const text = statusText(status);
    if (this.#output.isTTY) {
      this.#output.write(`\r\x1b[K${text}`);
      this.#hasStatus = true;
    } else if (this.#statusCount % PLAIN_EVERY === 0) this.line(text);
    this.#statusCount += 1;
  }
}

function statusText({ virtualMs, echo, openCallCount, logHash }: StatusLine): string {
  const outcomes = [...echo.outcomes].sort(([, a], [, b]) => b - a);
  const codes = outcomes.map(([code, count]) => `${code} ${count}`).join(', ');
  return (
    `${clock(virtualMs)}  calls ${echo.startedCount} (${codes})  ` +
    `messages ${echo.messageCount}  open ${openCallCount}  log ${logHash.slice(0, 12)}`
  );
}

function clock(virtualMs: number): string {
  const seconds = Math.floor(virtualMs / 1_000);
  const pad = (value: number): string => String(value).padStart(2, '0');
  return `${pad(Math.floor(seconds / 60))}:${pad(seconds % 60)}`;
}
