// The joining replica's side (coordinator §3.6): asks `--join-addr` until the leader answers. Each
// attempt dials anew, so that the headless name is resolved again and attempts spread over the
// replicas; followers refuse and the next attempt lands elsewhere.

import { Backoff, type Runtime, runWithDeadline, sleep, BigFleetError } from '@bigfleet/base';

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
  readonly probeForMs?: number | undefined;
  readonly onRefused?: (error: unknown, pauseMs: number) => void;
}

/** Of a replica without data. Resolves with the leader's answer; rejects only with the signal's reason. */
export async function joinCluster(
  { runtime, port, onRefused }: JoinOptions,
  signal: AbortSignal,
): Promise<JoinAnswer> {
  const random = runtime.random.stream('etcd-join');
  const backoff = new Backoff(random, { initialMs: 1_000, maxMs: 15_000 });
  for (;;) {
    try {
      return await runWithDeadline(runtime, { ms: callWithinMs, parent: signal }, (cut) =>
        port.join(true, cut),
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

export type Formation = 'resume' | 'bootstrap' | 'join';

export interface FormationFacts {
  /** `<data-dir>/etcd/member` exists. */
  readonly hasMember: boolean;
  readonly ordinal: number;
  readonly bootstrap: boolean;
  /** Does any replica answer with a cluster uid? Asked only when the answer matters. */
  readonly probe: () => Promise<boolean>;
}

/**
 * How this replica's etcd comes to its data (coordinator §3.6). Only ordinal 0 may begin a cluster,
 * only when told so, and only after nobody answered: ordinal 0 alone losing its volume must join
 * the survivors, not mint a second cluster beside them.
 */
export async function decideFormation(facts: FormationFacts): Promise<Formation> {
  if (facts.hasMember) return 'resume';
  if (facts.ordinal !== 0 || !facts.bootstrap) return 'join';
  return (await facts.probe()) ? 'join' : 'bootstrap';
}

/**
 * The StatefulSet ordinal at the end of `--id` (coordinator §3.6): every replica gets identical
 * arguments, and only this number tells them apart. Without one, three replicas that all may
 * bootstrap would form three clusters, so its absence is an error of the start.
 */
export function ordinalOf(nodeId: string): number {
  const found = /-(\d{1,6})$/.exec(nodeId)?.[1];
  if (found === undefined) {
    const message = `--id ${nodeId} has no ordinal at its end (like node-0), which --join-addr needs`;
    throw new BigFleetError('etcd_no_ordinal', message);
  }
  return Number(found);
}
