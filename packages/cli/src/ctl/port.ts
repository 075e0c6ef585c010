// The process around bigfleetctl, as an argument: what every command has, and what a person at a
// terminal adds to it.

import { homedir } from 'node:os';
import { nodeProcess, type ProcessPort } from '../process-port.ts';

export interface CtlPort extends ProcessPort {
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean;
  /** Lines of the terminal; asked again for every redraw. */
  terminalRows(): number;
  readonly home: string;
}

const DEFAULT_ROWS = 24;

export const nodeCtlPort: CtlPort = {
  ...nodeProcess,
  isTerminal: process.stdout.isTTY === true,
  // A terminal that does not know its size says 0.
  terminalRows: () => (process.stdout.isTTY === true ? process.stdout.rows : 0) || DEFAULT_ROWS,
  home: homedir(),
};
