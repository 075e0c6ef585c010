// Boots a provider process and waits until it can be dialled. A process that ends early, or is
// not ready in time, is an error that carries the end of its log and names the file.

import { BigFleetError, type Runtime, sleep } from '@bigfleet/base';
import type { TlsMaterial } from '@bigfleet/wire';
import type { Child, Children } from './children.ts';
import type { FreePorts } from './free-port.ts';
import type { Launch } from './launch.ts';
import { readinessProblem } from './ready.ts';
import type { Workspace } from './workspace.ts';
import { open } from 'node:fs/promises';

const READY_WITHIN_MS = 20_000;
const ASK_EVERY_MS = 50;
/** The port was free when we looked; somebody else may take it first. */
const MAX_ATTEMPTS = 3;
const ADDRESS_TAKEN = /address_in_use|EADDRINUSE|address already in use/i;

/** What every boot of a run shares. */
export interface BootEnvironment {
  readonly runtime: Runtime;
  readonly children: Children;
  readonly ports: FreePorts;
  readonly workspace: Workspace;
  readonly timeScale: number;
  readonly signal: AbortSignal;
}

export interface BootRequest {
  readonly launch: Launch;
  readonly seedCount: number;
  readonly statePath?: string | undefined;
  /** For the readiness question; what the process serves is its own business. */
  readonly tls?: TlsMaterial | undefined;
}

export interface BootedProcess {
  /** `127.0.0.1:port`. */
  readonly target: string;
  /** SIGKILL; resolves when it is gone. Idempotent. */
  readonly kill: () => Promise<void>;
}

export async function bootProcess(
  environment: BootEnvironment,
  request: BootRequest,
): Promise<BootedProcess> {
  for (let attempt = 1; ; attempt += 1) {
    const booted = await tryBoot(environment, request);
    if (booted.kind === 'booted') return booted.process;
    if (booted.kind === 'failed' || attempt === MAX_ATTEMPTS) throw booted.error;
  }
}

type Attempt =
  | { readonly kind: 'booted'; readonly process: BootedProcess }
  | { readonly kind: 'failed' | 'address-taken'; readonly error: BigFleetError };

async function tryBoot(environment: BootEnvironment, request: BootRequest): Promise<Attempt> {
  const { children, ports, workspace } = environment;
  const { launch, seedCount, statePath } = request;
  const target = await ports.address();
  const command = launch.command({ address: target, seedCount, statePath });
  const child = children.start(command, workspace.logFile(launch.name));
  const kill = (): Promise<void> => children.kill(child);
  try {
    const problem = await waitReady(environment, request, { child, target });
    if (problem === undefined) return { kind: 'booted', process: { target, kill } };
    await kill();
    return await failure(launch, child, problem);
  } catch (error) {
    await kill();
    throw error;
  }
}

/** Undefined when it is ready, else why it is not. */
async function waitReady(
  { runtime, timeScale, signal }: BootEnvironment,
  { tls }: BootRequest,
  { child, target }: { readonly child: Child; readonly target: string },
): Promise<string | undefined> {
  const withinMs = READY_WITHIN_MS * timeScale;
  const endMs = runtime.clock.monotonicMs() + withinMs;
  let why = 'nothing accepts connections';
  while (runtime.clock.monotonicMs() < endMs) {
    if (child.end !== undefined) return child.end;
    const problem = await readinessProblem({ runtime, target, tls, signal });
    // Asked again: another process on this port may have answered in its place.
    if (problem === undefined && child.end === undefined) return undefined;
    if (problem !== undefined) why = problem;
    await sleep(runtime, ASK_EVERY_MS, signal);
  }
  return `was not ready on ${target} within ${withinMs} ms (${why})`;
}

async function failure(launch: Launch, child: Child, problem: string): Promise<Attempt> {
  const tail = await logTail(child.logFile);
  const shown = tail === '' ? 'it printed nothing' : `the end of it:\n${tail}`;
  const error = new BigFleetError(
    'conformance_boot_failed',
    `${launch.name} ${problem}; log ${child.logFile}, ${shown}`,
    { fields: { launch: launch.name, logFile: child.logFile } },
  );
  return { kind: ADDRESS_TAKEN.test(tail) ? 'address-taken' : 'failed', error };
}

const MAX_BYTES = 8 * 1024;
const MAX_LINES = 20;

/** The end of a log file, for error messages: a provider that died at start said why there. */
async function logTail(file: string): Promise<string> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    const start = Math.max(0, size - MAX_BYTES);
    const { buffer, bytesRead } = await handle.read({
      buffer: Buffer.alloc(MAX_BYTES),
      position: start,
    });
    const lines = buffer.toString('utf8', 0, bytesRead).trimEnd().split('\n');
    return lines.slice(-MAX_LINES).join('\n');
  } finally {
    await handle.close();
  }
}
