// Whether this process may create network namespaces, found out by creating one: capability bits
// and kernel options do not tell the whole truth inside containers. Also sweeps namespaces whose
// owner has died together with its reaper, so that a killed machine-wide run leaves no trace.

import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { findCommand, INSTALL_COMMAND } from './packages.ts';
import { isAlive, ownIdentity } from './process-identity.ts';
import { HANG_MS } from './real-time.ts';

const run = promisify(execFile);
const NAME = /^bigfleet-(?<pid>\d+)-(?<startTicks>\d+)-/;

export type NetnsSupport = { readonly ok: true } | { readonly ok: false; readonly reason: string };

let known: Promise<NetnsSupport> | undefined;

/** Asked once per process; the reason says what to run. */
export function netnsSupport(): Promise<NetnsSupport> {
  known ??= probe();
  return known;
}

async function probe(): Promise<NetnsSupport> {
  if (process.getuid?.() !== 0) {
    return { ok: false, reason: 'network namespaces need root; run: sudo make test' };
  }
  for (const command of ['ip', 'bridge']) {
    if (findCommand(command) === undefined) {
      return { ok: false, reason: `${command} is missing; run: ${INSTALL_COMMAND}` };
    }
  }
  const name = namespaceName('probe');
  try {
    await ip(['netns', 'add', name]);
    await ip(['-n', name, 'link', 'add', 'probe0', 'type', 'bridge']);
    await ip(['-n', name, 'link', 'add', 'probe1', 'type', 'veth', 'peer', 'name', 'probe2']);
    await ip(['netns', 'del', name]);
    return { ok: true };
  } catch (error) {
    const why = String(error).trim().replaceAll('\n', '; ');
    await ip(['netns', 'del', name]).catch(() => {}); // it may never have come to exist
    return { ok: false, reason: `this kernel or container refuses namespaces: ${why}` };
  }
}

/** Carries its owner, so that anyone can tell whether it is abandoned. */
export function namespaceName(label: string): string {
  const { pid, startTicks } = ownIdentity();
  return `bigfleet-${pid}-${startTicks}-${label}`;
}

/** Deletes namespaces of dead owners, with the processes still inside. Returns their names. */
export async function sweepAbandonedNamespaces(): Promise<readonly string[]> {
  const abandoned = listNamespaces().filter((name) => {
    const { pid, startTicks } = NAME.exec(name)?.groups ?? {};
    return pid !== undefined && startTicks !== undefined
      ? !isAlive({ pid: Number(pid), startTicks })
      : false;
  });
  for (const name of abandoned) {
    try {
      await deleteWithProcesses(name);
    } catch (error) {
      // Another test process may sweep at the same moment; gone is gone.
      if (listNamespaces().includes(name)) throw error;
    }
  }
  return abandoned;
}

async function deleteWithProcesses(name: string): Promise<void> {
  const inside = await ip(['netns', 'pids', name]);
  for (const pid of inside.split('\n').filter((line) => line !== '')) killIfThere(Number(pid));
  await ip(['netns', 'del', name]);
}

export function listNamespaces(): readonly string[] {
  try {
    return readdirSync('/run/netns').filter((name) => NAME.test(name));
  } catch (error) {
    // The folder appears with the first namespace of the machine.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

export async function ip(args: readonly string[]): Promise<string> {
  return (await run('ip', args, commandOptions())).stdout;
}

export async function bridge(args: readonly string[]): Promise<string> {
  return (await run('bridge', args, commandOptions())).stdout;
}

/** Many commands in one process: `lines` run in the namespace, the first failure ends them. */
export async function ipBatch(namespace: string, lines: readonly string[]): Promise<void> {
  const pending = run('ip', ['-n', namespace, '-batch', '-'], commandOptions());
  pending.child.stdin?.end(`${lines.join('\n')}\n`);
  await pending;
}

function commandOptions(): { timeout: number; env: Record<string, string> } {
  const path = `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`;
  return { timeout: HANG_MS, env: { PATH: path } };
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
