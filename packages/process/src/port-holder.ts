// Which process listens on a port, as Linux tells it under /proc: the socket's inode by its port, then the
// process that has the inode open. Undefined where nothing tells: another system, or a process of another
// user, whose files are not ours to read.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface PortHolder {
  readonly pid: number;
  /** Its command line, cut short. */
  readonly command: string;
}

const LISTENING = '0A';
const COMMAND_LENGTH = 60;

export function portHolder(port: number): PortHolder | undefined {
  const inodes = new Set(
    ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) => socketsIn(file, port)),
  );
  if (inodes.size === 0) return undefined;
  for (const pid of entriesOf('/proc').filter((name) => /^\d+$/.test(name))) {
    const links = entriesOf(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`));
    if (links.some((link) => inodes.has(link))) {
      return { pid: Number(pid), command: commandOf(pid) };
    }
  }
  return undefined;
}

/** Links of the sockets that listen there, as they stand in a process's list of files. */
function socketsIn(file: string, port: number): readonly string[] {
  const wanted = port.toString(16).toUpperCase().padStart(4, '0');
  return textOf(file)
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local = '', , state]) => local.endsWith(`:${wanted}`) && state === LISTENING)
    .map((columns) => `socket:[${columns[9] ?? ''}]`);
}

/** Without paths and without Node's own options: `node src/up.ts` says more than where node is. */
function commandOf(pid: string): string {
  const all = textOf(`/proc/${pid}/cmdline`)
    .split('\0')
    .filter((word) => word !== '');
  const firstArgument = all.findIndex((word, at) => at > 0 && !word.startsWith('--'));
  const words = [...all.slice(0, 1), ...(firstArgument < 0 ? [] : all.slice(firstArgument))].map(
    (word) => (word.startsWith('/') ? word.split('/').slice(-2).join('/') : word),
  );
  const command = words.length === 0 ? textOf(`/proc/${pid}/comm`).trim() : words.join(' ');
  return command.length > COMMAND_LENGTH ? `${command.slice(0, COMMAND_LENGTH)}…` : command;
}

/** A process that ended meanwhile, or one that is not ours, tells nothing. */
function untold<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'EACCES', 'EPERM', 'ESRCH', 'EINVAL', 'ENOTDIR'].includes(code))
      return otherwise;
    throw error;
  }
}

function textOf(file: string): string {
  return untold(() => readFileSync(file, 'utf8'), '');
}

function linkOf(file: string): string {
  return untold(() => readlinkSync(file), '');
}

function entriesOf(folder: string): readonly string[] {
  return untold(() => readdirSync(folder), []);
}
