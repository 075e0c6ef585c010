// The kernel's own list of TCP sockets, for tests that ask whether a connection is really gone: what
// a library says about its connections is what is in doubt.

import { existsSync, readFileSync } from 'node:fs';

const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];
/** Without a process: what is left of a connection that both ends have closed, and listeners. */
const NO_CONNECTION: ReadonlySet<string> = new Set(['06', '0A']);

export interface SocketCounts {
  /** Sockets that dialled the port, in whatever state. */
  readonly client: number;
  /** Sockets that were accepted on it. */
  readonly server: number;
}

export function connectionsOf(port: number): SocketCounts {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const counts = { client: 0, server: 0 };
  for (const table of TABLES) {
    const rows = existsSync(table)
      ? readFileSync(table, 'utf8').trimEnd().split('\n').slice(1)
      : [];
    for (const row of rows) {
      const [, local = '', remote = '', state = ''] = row.trim().split(/\s+/);
      if (NO_CONNECTION.has(state)) continue;
      if (remote.endsWith(end)) counts.client += 1;
      if (local.endsWith(end)) counts.server += 1;
    }
  }
  return counts;
}
