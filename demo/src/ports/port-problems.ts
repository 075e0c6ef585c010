// A look at each port before anything is started: a child that dies of a busy port says so in a log file,
// where a newcomer does not look. What is told is who has the port, and one command that runs beside it.

import net from 'node:net';
import { portHolder } from '@bigfleet/process';
import { HOST } from '../places.ts';
import { type PortName, type Ports, portVariable } from './ports.ts';

interface Busy {
  readonly name: PortName;
  /** Error code of listening there. */
  readonly code: string;
}

/** From one default port to none of the others. */
const OTHER_PORT_STEP = 1_000;
/** A second demo meets as many busy ports as the first one has. */
const SHOWN = 4;
const MAX_PORT = 65_535;
const LOWEST_PORT = 1_024;

/** What to tell the person, one line per port that can't be had, and what to type; empty when all are free. */
export async function portProblems(
  ports: Ports,
  names: readonly PortName[],
): Promise<readonly string[]> {
  const busy: Busy[] = [];
  for (const name of names) {
    const code = await listenFailure(ports[name]);
    if (code !== undefined) busy.push({ name, code });
  }
  if (busy.length === 0) return [];
  const taken = new Set(names.map((name) => ports[name]));
  const chosen: string[] = [];
  for (const { name } of busy) {
    const port = await freePort(ports[name], taken);
    taken.add(port);
    chosen.push(`${portVariable(name)}=${port}`);
  }
  const lines = busy.slice(0, SHOWN).map(({ name, code }) => problemOf(name, ports[name], code));
  if (busy.length > SHOWN) lines.push(`and ${busy.length - SHOWN} more ports`);
  return [...lines, `stop what listens there, or run beside it: make up ${chosen.join(' ')}`];
}

function problemOf(name: PortName, port: number, code: string): string {
  if (code !== 'EADDRINUSE') return `port ${port} (${name}) cannot be opened: ${code}`;
  const holder = portHolder(port);
  const by = holder === undefined ? '' : ` by process ${holder.pid} (${holder.command})`;
  return `port ${port} (${name}) is in use${by}`;
}

/** The first one that works, a step away again and again; any that the kernel has when none does. */
async function freePort(port: number, taken: ReadonlySet<number>): Promise<number> {
  const start = Math.max(port, LOWEST_PORT);
  for (let other = start + OTHER_PORT_STEP; other <= MAX_PORT; other += OTHER_PORT_STEP) {
    if (!taken.has(other) && (await listenFailure(other)) === undefined) return other;
  }
  return await kernelsChoice();
}

function kernelsChoice(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const server = net.createServer();
  server.once('error', reject);
  server.listen({ host: HOST, port: 0 }, () => {
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    server.close(() => resolve(port));
  });
  return promise;
}

/** The error code of listening there, undefined when it works. */
function listenFailure(port: number): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const server = net.createServer();
  server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  server.listen({ host: HOST, port, exclusive: true }, () =>
    server.close(() => resolve(undefined)),
  );
  return promise;
}
