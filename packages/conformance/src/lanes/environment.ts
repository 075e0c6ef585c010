// What the lanes of one run share: the machinery to boot and dial, and the options of the run.

import { createRandom } from '@bigfleet/base';
import type { BaselineCheck } from '../baseline/index.ts';
import type { Capabilities, Check, CheckContext } from '../harness/check.ts';
import { dialEndpoint } from '../harness/dial.ts';
import type { Endpoint } from '../harness/endpoint.ts';
import type { BootEnvironment } from '../process/boot.ts';
import type { RunObserver } from '../run/result.ts';
import type { TlsMaterial } from '@bigfleet/wire';

export interface LaneEnvironment extends BootEnvironment {
  readonly observer: RunObserver;
  readonly seed: string;
  readonly baseline: readonly BaselineCheck[];
  /** The behaviours' checks, already narrowed by `--only`. */
  readonly checks: readonly Check[];
  /** Of one check, far beyond what its own waits add up to; multiplied by `timeScale`. */
  readonly checkBoundMs: number;
  readonly scale: { readonly seedCount: number; readonly soakMs: number };
}

/** What all checks of one lane share. */
export interface LaneContext extends RemoteTarget {
  readonly capabilities: Capabilities;
  /** Of each call; the harness's own default when absent. */
  readonly callDeadlineMs?: number;
  readonly faultTimeoutMs?: number;
  readonly process?: CheckContext['process'];
  readonly durable?: CheckContext['durable'];
}

/** T of the reference fault provider (conformance §4). */
export const FAULT_TIMEOUT_MS = 2_000;

/** Taken until they are probed: nothing is excused by a capability that nobody asked about. */
export const ALL_CAPABILITIES: Capabilities = { delete: true, sinceRevision: true };

export interface OneCheck {
  readonly name: string;
  readonly signal: AbortSignal;
  readonly notes: string[];
  /** Closes the connections of the check. */
  readonly opened: DisposableStack;
}

/** A context of its own for one check, on a connection of its own. */
export function contextOf(
  { runtime, timeScale, scale, seed }: LaneEnvironment,
  lane: LaneContext,
  { name, signal, notes, opened }: OneCheck,
): CheckContext {
  const { target, tls, process, durable, callDeadlineMs } = lane;
  const dial = (): Endpoint => {
    const options = { runtime, target, tls, signal, timeScale, callDeadlineMs };
    return opened.adopt(dialEndpoint(options), (endpoint) => endpoint.close());
  };
  return {
    runtime,
    random: createRandom(seed).stream(name),
    endpoint: dial(),
    secondConnection: async () => dial(),
    capabilities: lane.capabilities,
    timeScale,
    scale,
    faultTimeoutMs: lane.faultTimeoutMs ?? FAULT_TIMEOUT_MS,
    process,
    durable,
    signal,
    note: (text) => {
      notes.push(text);
    },
  };
}

/** An endpoint that a lane judges: how to dial it, and what it is in words, for the report. */
export interface RemoteTarget {
  /** `host:port`, `[::1]:port` or `unix:/path`. */
  readonly target: string;
  readonly tls?: TlsMaterial | undefined;
}

export interface Judged extends RemoteTarget {
  readonly description: string;
  /** Kills the process if the suite booted one. Idempotent. */
  readonly close: () => Promise<void>;
}
