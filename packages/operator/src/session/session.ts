// One session attempt, from the dial to the end of the stream. States: dialled (Hello is the first
// frame) → acknowledged (roll-ups, identities and replies flow) → over. Whatever ends it — the
// shard's status, silence, an overrun, the caller — ends all of it: timers, the outbound frames, the
// channel. It never dials again; that is the client's part (operator-session.ts).
//
// `coordinator_term` and `shard_epoch` of acks are forensic: nothing here looks at them.

import { BigFleetError, type Timer } from '@bigfleet/base';
import {
  type Acknowledgement,
  type Channel,
  OperatorMessageSchema,
  RpcError,
  Shard,
  ShardMessageSchema,
  decode,
  encodeInit,
  pathOf,
} from '@bigfleet/wire';
import type { ClusterObserver, NodeLink } from './cluster-port.ts';
import { type SessionServices, dispatch } from './dispatch.ts';
import { IdentityReports } from './identity-reports.ts';
import { rollupsNeverAcknowledged, sessionEstablished } from './log-messages.ts';
import { Outbound } from './outbound.ts';
import type { ReclaimReplies } from './reclaims.ts';
import { ResyncSweep } from './resync-sweep.ts';
import { RollupLoop } from './rollup-loop.ts';
import { RollupWatch } from './rollup-watch.ts';

/**
 * Features that both sides must have named before they are used (wire-additions §2). A shard that
 * acknowledges none of them is a classic one: one ack per instruction, no node identity, no resync
 * marker.
 */
const EXTENSIONS = ['reclaim-completion', 'node-identity'] as const;
type Extension = (typeof EXTENSIONS)[number];

const PROTOCOL_VERSION = 'v1alpha1';
const sessionPath = pathOf(Shard.method.session);

export class Session implements ReclaimReplies, ClusterObserver {
  readonly #services: SessionServices;
  /** The shard has confirmed a roll-up: this session works. Called once. */
  readonly #onProven: () => void;
  readonly #over = new AbortController();
  readonly #identities: IdentityReports;
  readonly #outbound: Outbound;
  readonly #watch: RollupWatch;
  readonly #loop: RollupLoop;
  readonly #sweep: ResyncSweep;
  #helloTimer: Timer | undefined;
  #extensions: ReadonlySet<Extension> | undefined;
  #isProven = false;

  constructor(services: SessionServices, onProven: () => void) {
    this.#services = services;
    this.#onProven = onProven;
    this.#identities = new IdentityReports(services.cluster);
    this.#watch = this.#createWatch();
    this.#outbound = this.#createOutbound();
    this.#loop = new RollupLoop(services, services.rollups, (rollup) => {
      services.acknowledger.cacheMoved();
      this.#outbound.replaceRollup(rollup);
    });
    this.#sweep = new ResyncSweep(services, this.#over.signal);
  }

  get isAcknowledged(): boolean {
    return this.#extensions !== undefined;
  }

  get hasCompletion(): boolean {
    return this.#extensions?.has('reclaim-completion') === true;
  }

  reply(frame: Uint8Array): 'queued' | 'dropped' {
    return this.#outbound.reply(frame);
  }

  demandChanged(): void {
    this.#loop.demandChanged();
  }

  nodeLinked(link: NodeLink): void {
    this.#identities.linked(link);
    this.#outbound.wake();
  }

  nodeUnlinked(machineId: string): void {
    this.#identities.unlinked(machineId);
    this.#outbound.wake();
  }

  phantomsChanged(): void {
    this.#identities.phantomsChanged();
    this.#outbound.wake();
  }

  /** Ends the session; `run` then resolves with `reason`. The first reason counts. */
  end(reason: unknown): void {
    this.#over.abort(reason);
  }

  /** Resolves with why the session ended. Rejects only for a bug. Closes the channel. */
  async run(channel: Channel): Promise<unknown> {
    const { signal } = this.#over;
    this.#armHello();
    try {
      const frames = channel.stream(sessionPath, this.#outbound, { signal });
      for await (const bytes of frames) this.#receive(bytes);
      return new RpcError('UNAVAILABLE', 'the shard ended the session');
    } catch (thrown) {
      if (signal.aborted) return signal.reason;
      if (thrown instanceof RpcError) return thrown;
      throw thrown;
    } finally {
      this.#close(channel);
    }
  }

  #receive(bytes: Uint8Array): void {
    const message = this.#decode(bytes);
    if (message === undefined || this.#over.signal.aborted) return;
    dispatch(message, {
      services: this.#services,
      outbound: this.#outbound,
      sweep: this.#sweep,
      onAcknowledgement: (ack) => this.#acknowledged(ack),
      onNodeState: (update) => {
        this.#identities.shardNamed(update);
        this.#outbound.wake();
      },
      onOverrun: (error) => this.end(error),
    });
  }

  /** Bytes that are no message are this frame's problem, not the session's. */
  #decode(bytes: Uint8Array): ReturnType<typeof decode<typeof ShardMessageSchema>> | undefined {
    try {
      return decode(ShardMessageSchema, bytes, 'INTERNAL');
    } catch (thrown) {
      if (!(thrown instanceof RpcError)) throw thrown;
      this.#services.dispatchFailed.log({ frame: 'malformed', err: thrown.message });
      return undefined;
    }
  }

  #acknowledged(ack: Acknowledgement): void {
    switch (ack.echo) {
      case 'hello':
        this.#helloAcknowledged(ack);
        return;
      case 'rollup':
        this.#rollupApplied();
        return;
      case 'rollup-held':
        this.#watch.held();
        this.#outbound.wake();
        return;
      case 'resync':
        this.#sweep.replayComplete();
        return;
    }
  }

  #helloAcknowledged(ack: Acknowledgement): void {
    if (this.#extensions !== undefined) return;
    this.#helloTimer?.cancel();
    const { logger, metrics, nodeStates, hints } = this.#services;
    this.#sweep.begin(Promise.all([nodeStates.forgetPending(), hints.forgetPending()]));
    this.#extensions = acknowledgedExtensions(ack.extensions);
    metrics.sessionConnected.set(1);
    logger.event(sessionEstablished, { extensions: [...this.#extensions] });
    if (this.#extensions.has('node-identity')) this.#identities.start();
    if (this.#extensions.size === 0) this.#sweep.awaitQuiet();
    this.#outbound.wake();
    this.#loop.start();
  }

  #rollupApplied(): void {
    const { metrics, runtime } = this.#services;
    metrics.rollupLastAcked.set(Number(runtime.clock.unixNanos() / 1_000_000n) / 1_000);
    this.#watch.applied();
    this.#sweep.rollupApplied();
    this.#outbound.wake();
    if (this.#isProven) return;
    this.#isProven = true;
    this.#onProven();
  }

  #armHello(): void {
    const { runtime, settings } = this.#services;
    this.#helloTimer = runtime.timers.after(settings.helloTimeoutMs, () => {
      const text = `no hello ack within ${settings.helloTimeoutMs / 1_000} s`;
      this.end(new BigFleetError('session_unacknowledged', text));
    });
  }

  #close(channel: Channel): void {
    this.end(undefined);
    this.#helloTimer?.cancel();
    this.#loop.stop();
    this.#watch.close();
    this.#sweep.close();
    this.#outbound.end();
    this.#services.metrics.sessionConnected.set(0);
    channel.close();
  }

  #createWatch(): RollupWatch {
    const { runtime, settings, acknowledger, logger } = this.#services;
    return new RollupWatch({
      runtime,
      intervalMs: settings.rollupIntervalMs,
      isClassic: () => this.#extensions?.size === 0,
      onConfirmed: (requests) => acknowledger.acknowledge(requests),
      onFallback: () => logger.event(rollupsNeverAcknowledged, {}),
      onDead: (error) => this.end(error),
    });
  }

  #createOutbound(): Outbound {
    const { clusterId, settings, metrics } = this.#services;
    const hello = encodeInit(OperatorMessageSchema, {
      payload: {
        case: 'hello',
        value: { clusterId, protocolVersion: PROTOCOL_VERSION, extensions: [...EXTENSIONS] },
      },
    });
    return new Outbound({
      hello,
      outboxCapacity: settings.outboxCapacity,
      dropped: metrics.outboxDropped,
      takeIdentities: () => this.#identities.take(),
      hasUnansweredRollup: () => this.#watch.hasUnanswered,
      onRollupSent: ({ unacknowledged }) => this.#watch.sent(unacknowledged),
    });
  }
}

/** Names that we did not offer are ignored: the shard may know more than we do. */
function acknowledgedExtensions(named: readonly string[]): ReadonlySet<Extension> {
  return new Set(EXTENSIONS.filter((extension) => named.includes(extension)));
}
