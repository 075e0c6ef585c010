// The joining replica's side (coordinator §3.6): asks `--join-addr` until the leader answers. Each
// attempt dials anew, so that the headless name is resolved again and attempts spread over the
// replicas; followers refuse and the next attempt lands elsewhere.

import { Backoff, type Runtime, runWithDeadline, sleep } from '@bigfleet/base';

const callWithinMs = 10_000;
const defaultProbeForMs = 30_000;
const probeEveryMs = 1_000;

export interface JoinAnswer {
  readonly clusterUid: string;
  readonly initialCluster: string;
  readonly memberId: bigint;
}

/** How other replicas are reached; each call dials `--join-addr` afresh. */
export interface JoinPort {
  join(isFresh: boolean, signal: AbortSignal): Promise<JoinAnswer>;
  /** The cluster uid that any replica knows; undefined or a failure: nobody said one. */
  clusterUid(signal: AbortSignal): Promise<string | undefined>;
}

export interface JoinOptions {
  readonly runtime: Runtime;
  readonly port: JoinPort;
  /** How long an empty ordinal 0 asks for others before it begins; default 30 s. */
  readonly probeForMs?: number;
  readonly onRefused?: (error: unknown, pauseMs: number) => void;
}

/** Resolves with the leader's answer; rejects only with the signal's reason. */
export async function joinCluster(
  { runtime, port, onRefused }: JoinOptions,
  isFresh: boolean,
  signal: AbortSignal,
): Promise<JoinAnswer> {
  const random = runtime.random.stream('etcd-join');
  const backoff = new Backoff(random, { initialMs: 1_000, maxMs: 15_000 });
  for (;;) {
    try {
      return await runWithDeadline(runtime, { ms: callWithinMs, parent: signal }, (cut) =>
        port.join(isFresh, cut),
      );
    } catch (error) {
      signal.throwIfAborted();
      const pauseMs = backoff.nextMs();
      onRefused?.(error, pauseMs);
      await sleep(runtime, pauseMs, signal);
    }
  }
}

/** Asked before an empty ordinal 0 begins a cluster: does one exist already? */
export async function probeCluster(
  { runtime, port, probeForMs = defaultProbeForMs }: JoinOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const endMs = runtime.clock.monotonicMs() + probeForMs;
  while (runtime.clock.monotonicMs() < endMs) {
    // Nobody listens, or who listens knows nothing: both are "no answer" here.
    const uid = await runWithDeadline(runtime, { ms: callWithinMs, parent: signal }, (cut) =>
      port.clusterUid(cut),
    ).catch(() => undefined);
    signal.throwIfAborted();
    if (uid !== undefined && uid !== '') return true;
    await sleep(runtime, Math.min(probeEveryMs, probeForMs), signal);
  }
  return false;
}
