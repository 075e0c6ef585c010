// Names a process so that it cannot be confused with a later one of the same pid: pid plus the
// kernel's start time from /proc/<pid>/stat. Everything that outlives its owner (namespaces) or
// is killed by number carries this, because killing a reused pid would hit a stranger's process.

import { readFileSync } from 'node:fs';

export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks since boot, as the kernel prints it. */
  readonly startTicks: string;
}

export interface ProcessStat extends ProcessIdentity {
  /** R running, S sleeping, T stopped, Z zombie, … */
  readonly state: string;
}

/** `undefined` when there is no such process. */
export function readProcessStat(pid: number): ProcessStat | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
  // The command, in parentheses, may itself contain spaces and parentheses: cut at the last one.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, startTicks] = [fields[0], fields[19]];
  if (state === undefined || startTicks === undefined) {
    throw new Error(`unreadable /proc/${pid}/stat: ${text}`);
  }
  return { pid, startTicks, state };
}

export function ownIdentity(): ProcessIdentity {
  const stat = readProcessStat(process.pid);
  if (stat === undefined) throw new Error('/proc does not show this process');
  return { pid: stat.pid, startTicks: stat.startTicks };
}

/** A zombie has ended: it holds nothing any more. */
export function isAlive(identity: ProcessIdentity): boolean {
  const stat = readProcessStat(identity.pid);
  return stat !== undefined && stat.startTicks === identity.startTicks && stat.state !== 'Z';
}

function isGone(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')
  );
}
