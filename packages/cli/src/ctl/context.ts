// What bigfleetctl is given: time, the network, and the process around it with what a person at a
// terminal adds to it.

import { homedir } from 'node:os';
import { isatty } from 'node:tty';
import type { Runtime } from '@bigfleet/base';
import { nodeProcess, type ProcessPort } from '@bigfleet/process';
import type { Network } from './connect/network.ts';

export interface CtlContext {
  readonly runtime: Runtime;
  readonly port: CtlPort;
  readonly network: Network;
}

export interface TerminalSize {
  readonly rows: number;
  readonly columns: number;
}

export interface CtlPort extends ProcessPort {
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean;
  /** Of the terminal; asked again for every redraw. */
  terminalSize(): TerminalSize;
  readonly home: string;
}

const DEFAULT_SIZE: TerminalSize = { rows: 24, columns: 80 };
const STDOUT = 1;
// Not process.stdout.isTTY: a first look at process.stdout makes a pipe non-blocking, and then a
// reader that is slower than the answer would cut it off.
const isTerminal = isatty(STDOUT);

export const nodeCtlPort: CtlPort = {
  ...nodeProcess,
  isTerminal,
  // A terminal that does not know its size says 0.
  terminalSize: () => ({
    rows: (isTerminal ? process.stdout.rows : 0) || DEFAULT_SIZE.rows,
    columns: (isTerminal ? process.stdout.columns : 0) || DEFAULT_SIZE.columns,
  }),
  home: homedir(),
};
