// A Lease that one of several processes holds (`coordination.k8s.io`), as Kubernetes' own components
// elect a leader. Others take it over only when they saw it unchanged for its whole duration by their
// own clocks, so that clocks that differ between machines do not matter; a write that raced with another
// is refused by its resourceVersion. The holder gives up after two thirds of the duration without a
// renewal: what it still has under way ends before anybody else may begin.

import { BigFleetError, type Runtime, runWithDeadline, sleep } from '@bigfleet/base';
import { type ApiAnswer, type ApiObject, type ApiRefusal, describeRefusal } from './answer.ts';
import type { KubeClient, NamedBody } from './client.ts';
import { LEASES } from './resource.ts';

export interface LeaseOptions {
  readonly runtime: Runtime;
  readonly client: KubeClient;
  readonly namespace: string;
  readonly name: string;
  /** Of this process and no other; a restarted process has a new one. */
  readonly identity: string;
  readonly durationMs: number;
  readonly hooks: LeaseHooks;
}

/** For logs and metrics. */
export interface LeaseHooks {
  acquired(): void;
  /** Once per holder. */
  waiting(holder: string): void;
  lost(problem: string): void;
  /** The next attempt comes by itself. */
  failed(problem: string): void;
}

interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly leaseTransitions?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
}

interface StoredLease extends NamedBody {
  readonly metadata: { readonly name: string; readonly [key: string]: unknown };
  readonly spec: LeaseSpec;
}

/** Shares of the duration, as Kubernetes' own components have them: 10 s and 2 s of 15 s. */
const RENEW_WITHIN = 2 / 3;
const RETRY_AFTER = 2 / 15;
const RELEASE_WITHIN_MS = 2_000;

export class Lease {
  readonly #options: LeaseOptions;
  /** As last read or written. */
  #known: StoredLease | undefined;
  /** When `#known` was first seen as it is, by our clock. */
  #knownSinceMs = 0;
  #toldHolder = '';

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  /**
   * Runs `work` whenever the Lease is held, until `stop`. Its signal aborts at the stop and when the
   * Lease is lost; the Lease is released after it has ended. Rejects only for a bug.
   */
  async run(stop: AbortSignal, work: (held: AbortSignal) => Promise<void>): Promise<void> {
    while (!stop.aborted) {
      if (!(await this.#acquire(stop))) return;
      this.#options.hooks.acquired();
      this.#toldHolder = '';
      await this.#hold(stop, work);
    }
  }

  async #hold(stop: AbortSignal, work: (held: AbortSignal) => Promise<void>): Promise<void> {
    const lost = new AbortController();
    const over = new AbortController();
    const renewing = this.#renew(over.signal).then((problem) => {
      if (problem === undefined) return;
      this.#options.hooks.lost(problem);
      lost.abort(new BigFleetError('cancelled', `the Lease is lost: ${problem}`));
    });
    try {
      await work(AbortSignal.any([stop, lost.signal]));
    } finally {
      over.abort(new BigFleetError('cancelled', 'the Lease is not needed any more'));
      await renewing;
      if (!lost.signal.aborted) await this.#release();
    }
  }

  /** False when `stop` came first. */
  async #acquire(stop: AbortSignal): Promise<boolean> {
    while (!stop.aborted) {
      try {
        if (await this.#take(stop)) return true;
      } catch (error) {
        if (stop.aborted) return false;
        if (!(error instanceof BigFleetError)) throw error;
        this.#options.hooks.failed(error.message);
      }
      await this.#pause(stop);
    }
    return false;
  }

  async #take(signal: AbortSignal): Promise<boolean> {
    const current = await this.#read(signal);
    if (current === undefined) return this.#create(signal);
    this.#observe(current);
    const { holderIdentity: holder = '', leaseTransitions = 0 } = current.spec;
    if (holder !== '' && !this.#isExpired(current)) {
      if (this.#toldHolder !== holder) this.#options.hooks.waiting(holder);
      this.#toldHolder = holder;
      return false;
    }
    const acquireTime = this.#now();
    return this.#write(
      {
        ...current,
        spec: { ...this.#heldSpec(acquireTime), leaseTransitions: leaseTransitions + 1 },
      },
      signal,
    );
  }

  /** Resolves with why the Lease is lost, or undefined when `until` came first. */
  async #renew(until: AbortSignal): Promise<string | undefined> {
    const { runtime, durationMs, hooks } = this.#options;
    const { clock } = runtime;
    let renewedMs = clock.monotonicMs();
    for (;;) {
      await this.#pause(until);
      if (until.aborted) return undefined;
      const startMs = clock.monotonicMs();
      const leftMs = renewedMs + durationMs * RENEW_WITHIN - startMs;
      if (leftMs <= 0) return `no renewal for ${Math.round((startMs - renewedMs) / 1000)} s`;
      try {
        const isHeld = await runWithDeadline(runtime, { ms: leftMs, parent: until }, (signal) =>
          this.#renewOnce(signal),
        );
        if (!isHeld) return `held by ${this.#known?.spec.holderIdentity ?? 'nobody'}`;
        renewedMs = startMs;
      } catch (error) {
        if (until.aborted) return undefined;
        if (!(error instanceof BigFleetError)) throw error;
        hooks.failed(error.message);
      }
    }
  }

  async #renewOnce(signal: AbortSignal): Promise<boolean> {
    if (this.#known !== undefined && (await this.#rewrite(this.#known, signal))) return true;
    // Somebody wrote in between, or an answer to our own write was lost.
    const current = await this.#read(signal);
    if (current === undefined) return this.#create(signal);
    this.#observe(current);
    // Written again: others count from the write that they saw, which may be older than this look.
    return current.spec.holderIdentity === this.#options.identity && this.#rewrite(current, signal);
  }

  #rewrite(lease: StoredLease, signal: AbortSignal): Promise<boolean> {
    const spec = { ...lease.spec, ...this.#heldSpec(lease.spec.acquireTime ?? this.#now()) };
    return this.#write({ ...lease, spec }, signal);
  }

  async #release(): Promise<void> {
    const { runtime, hooks } = this.#options;
    const known = this.#known;
    if (known === undefined) return;
    const spec = { ...known.spec, holderIdentity: '', leaseDurationSeconds: 1 };
    try {
      await runWithDeadline(runtime, { ms: RELEASE_WITHIN_MS }, (signal) =>
        this.#write({ ...known, spec: { ...spec, renewTime: this.#now() } }, signal),
      );
    } catch (error) {
      if (!(error instanceof BigFleetError)) throw error;
      // It expires by itself.
      hooks.failed(error.message);
    }
  }

  // ── requests ────────────────────────────────────────────────────────────────────────────

  async #read(signal: AbortSignal): Promise<StoredLease | undefined> {
    const { client, namespace, name } = this.#options;
    const answer = await client.get(LEASES, { namespace, name }, signal);
    if (answer.kind === 'ok') return leaseOf(answer.object);
    if (answer.status === 404) return undefined;
    throw refused(answer);
  }

  /** False when another process was faster. */
  async #create(signal: AbortSignal): Promise<boolean> {
    const { client, namespace, name } = this.#options;
    const body = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace, name },
      spec: { ...this.#heldSpec(this.#now()), leaseTransitions: 0 },
    };
    return this.#settle(await client.create(LEASES, body, { lane: 'lease', signal }));
  }

  /** With the version of `lease`: false when it has changed since. */
  async #write(lease: StoredLease, signal: AbortSignal): Promise<boolean> {
    const { client } = this.#options;
    return this.#settle(await client.replace(LEASES, lease, { lane: 'lease', signal }));
  }

  #settle(answer: ApiAnswer): boolean {
    if (answer.kind === 'ok') {
      this.#observe(leaseOf(answer.object));
      return true;
    }
    if (answer.status === 409 || isGone(answer)) return false;
    throw refused(answer);
  }

  #observe(lease: StoredLease): void {
    const version = lease.metadata['resourceVersion'];
    if (this.#known?.metadata['resourceVersion'] !== version) {
      this.#knownSinceMs = this.#options.runtime.clock.monotonicMs();
    }
    this.#known = lease;
  }

  #isExpired({ spec }: StoredLease): boolean {
    const durationMs = (spec.leaseDurationSeconds ?? 0) * 1000;
    return this.#options.runtime.clock.monotonicMs() - this.#knownSinceMs >= durationMs;
  }

  #heldSpec(acquireTime: string): LeaseSpec {
    const { identity, durationMs } = this.#options;
    return {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(durationMs / 1000),
      acquireTime,
      renewTime: this.#now(),
    };
  }

  /** MicroTime, as the API writes it. */
  #now(): string {
    const ms = Number(this.#options.runtime.clock.unixNanos() / 1_000_000n);
    return new Date(ms).toISOString().replace('Z', '000Z');
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const { runtime, durationMs } = this.#options;
    // Spread: processes that wait for one holder must not all ask in the same moment.
    const ms = durationMs * RETRY_AFTER * (1 + 0.2 * runtime.random.float());
    await sleep(runtime, ms, signal).catch(() => undefined);
  }
}

function leaseOf(object: ApiObject): StoredLease {
  const { metadata, spec } = object as unknown as Partial<StoredLease>;
  if (metadata === undefined) throw new BigFleetError('kube_answer_malformed', 'no Lease');
  return { ...object, metadata, spec: spec ?? {} };
}

/** A replacement of a Lease that is not there would create it, and stumbles over its version. */
function isGone({ reason, message }: ApiRefusal): boolean {
  return reason === 'NotFound' || message.includes('resourceVersion should not be set');
}

function refused(answer: ApiRefusal): BigFleetError {
  return new BigFleetError('kube_refused', `lease: ${describeRefusal(answer)}`, {
    fields: { status: answer.status },
  });
}
