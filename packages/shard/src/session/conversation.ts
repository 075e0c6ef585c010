// One call of Shard.Session from its first byte to its end.
//
//   waiting for hello ──Hello, identity, room──▶ open ──▶ over
//          └──────── deadline, anything else ────────────▶ over
//
// Over is reached once, by whichever comes first: the operator leaves, its bytes are no frame, a
// newer session replaces it, its outbox is stuck, the server stops. Then the stream ends with the
// reason, reading stops, and the table forgets the session if it still knows it.

import {
  type ClusterId,
  type Runtime,
  type Timer,
  type TimerWheel,
  describeThrown,
} from '@bigfleet/base';
import { type Logger, type SampledMessage, stableMessages } from '@bigfleet/telemetry';
import {
  type BootstrapBlobResponse,
  type CallContext,
  type NodeIdentityReport,
  type ReclaimAck,
  RpcError,
} from '@bigfleet/wire';
import { HELLO_DEADLINE_MS, helloLate, helloMissing, negotiate, readGreeting } from './hello.ts';
import { type AckStamp, ackFrame } from './frame.ts';
import {
  type IdentityPolicy,
  identityProblem,
  presentedIdentity,
  rejectIdentity,
} from './identity.ts';
import type { SessionMetrics } from './metrics.ts';
import { type OperatorFrame, readOperatorFrame } from './operator-frame.ts';
import { OutboxStream } from './outbox-stream.ts';
import { Session } from './session.ts';
import type { SessionTable } from './session-table.ts';

/**
 * The parts that answer the frames of an operator. The fast ones run inline on the receive path and
 * must finish in microseconds; a roll-up is only put into its lane (shard §4.2). A slow roll-up handled
 * inline once delayed bootstrap responses past their deadline and pushed healthy machines to Failed.
 */
export interface FrameHandlers {
  readonly rollups: { offer(session: Session, bytes: Uint8Array): void };
  readonly bootstrap: { respond(session: Session, response: BootstrapBlobResponse): void };
  readonly drains: { acknowledge(session: Session, ack: ReclaimAck): void };
  readonly nodeIdentity: { report(session: Session, report: NodeIdentityReport): void };
}

export interface SessionEvents {
  /** Installed and greeted: replay, reissue. */
  opened(session: Session): void;
  /** Over. `isReplaced`: a newer session of the same cluster is already there. */
  closed(session: Session, isReplaced: boolean): void;
}

/** What every conversation of one server shares. */
export interface ConversationHost {
  readonly runtime: Pick<Runtime, 'clock'>;
  readonly wheel: TimerWheel;
  readonly logger: Logger;
  readonly ignored: SampledMessage<'cluster' | 'reason', 'detail'>;
  readonly metrics: SessionMetrics;
  readonly table: SessionTable;
  readonly identityPolicy: IdentityPolicy;
  readonly ackStamp: () => AckStamp;
  readonly handlers: FrameHandlers;
  readonly events: SessionEvents;
}

export class Conversation {
  readonly stream: OutboxStream;
  readonly #host: ConversationHost;
  readonly #call: CallContext;
  readonly #frames: AsyncIterator<Uint8Array>;
  readonly #onOver: () => void;
  readonly #helloTimer: Timer;
  #session: Session | undefined;
  #isOver = false;

  constructor(
    host: ConversationHost,
    requests: AsyncIterable<Uint8Array>,
    call: CallContext,
    onOver: () => void,
  ) {
    this.#host = host;
    this.#call = call;
    this.#frames = requests[Symbol.asyncIterator]();
    this.#onOver = onOver;
    this.#helloTimer = host.wheel.after(HELLO_DEADLINE_MS, () => this.end(helloLate()));
    this.stream = new OutboxStream({
      clock: host.runtime.clock,
      wheel: host.wheel,
      metrics: host.metrics,
      onStuck: (why) => this.#stuck(why),
      onAbandoned: () => this.end(undefined),
    });
  }

  /** Settles when the conversation is over; rejects only for a bug, which the stream reports. */
  async run(): Promise<void> {
    try {
      await this.#receive();
      this.end(this.#session === undefined ? helloMissing() : undefined);
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Idempotent. `undefined` is an orderly end. */
  end(reason: RpcError | undefined): void {
    this.#finish(reason === undefined ? undefined : { error: reason });
  }

  async #receive(): Promise<void> {
    for (;;) {
      const step = await this.#frames.next();
      if (step.done === true || this.#isOver) return;
      const frame = readOperatorFrame(step.value);
      if (this.#session === undefined) this.#open(frame);
      else this.#dispatch(this.#session, frame);
      if (this.#isOver) return;
    }
  }

  #open(frame: OperatorFrame): void {
    const { cluster, hello } = readGreeting(frame);
    const host = this.#host;
    const call = this.#call;
    const problem = identityProblem(host.identityPolicy, call.peer, cluster);
    if (problem !== undefined) throw rejectIdentity(host, call, cluster, problem);
    if (!host.table.hasRoomFor(cluster)) {
      const text = 'session_limit: this shard has as many sessions as it accepts';
      throw new RpcError('RESOURCE_EXHAUSTED', text);
    }
    this.#helloTimer.cancel();
    const session = new Session({
      cluster,
      extensions: negotiate(hello.extensions),
      presentedIdentity: presentedIdentity(call.peer.identity),
      sinceUnixNanos: host.runtime.clock.unixNanos(),
      stream: this.stream,
      onClose: (reason) => this.end(reason),
    });
    this.#session = session;
    host.table.install(session);
    host.logger.event(stableMessages.sessionOpened, { cluster, protocol: hello.protocolVersion });
    session.deliver(ackFrame('hello', host.ackStamp(), session.extensions));
    host.events.opened(session);
  }

  #dispatch(session: Session, frame: OperatorFrame): void {
    const { handlers, metrics, ignored } = this.#host;
    switch (frame.case) {
      case 'rollup':
        return handlers.rollups.offer(session, frame.bytes);
      case 'hello':
        return this.#helloAgain(session, frame.value.clusterId);
      case 'bootstrapResponse':
        return handlers.bootstrap.respond(session, frame.value);
      case 'reclaimAck':
        return handlers.drains.acknowledge(session, frame.value);
      case 'nodeIdentity':
        return handlers.nodeIdentity.report(session, frame.value);
      case undefined:
        metrics.framesDropped.unknown_frame.inc();
        ignored.log({ cluster: session.cluster, reason: 'unknown_frame' });
    }
  }

  /** Merely acknowledging another cluster's id would re-open the hole that the first check closed. */
  #helloAgain(session: Session, claimed: string): void {
    if (claimed !== session.cluster) {
      const problem = `this session speaks for ${session.cluster}, a later Hello for another`;
      throw rejectIdentity(this.#host, this.#call, claimed, problem);
    }
    session.deliver(ackFrame('hello', this.#host.ackStamp(), session.extensions));
  }

  #stuck(why: 'stalled' | 'overflow'): void {
    this.#host.metrics.sessionsStalled.inc();
    const what = why === 'stalled' ? 'nothing was read for 60 s' : 'too many frames wait';
    this.end(new RpcError('RESOURCE_EXHAUSTED', `outbox_stalled: ${what}`));
  }

  /** A status of ours passes as it is; a failing stream is the peer's end; the rest is a bug. */
  #failed(error: unknown): void {
    if (!(error instanceof RpcError)) return this.#finish({ error });
    if (this.#session === undefined) return this.end(beforeHello(error));
    if (!this.#isOver) this.#logReceiveError(this.#session.cluster, error);
    this.end(error);
  }

  #logReceiveError(cluster: ClusterId, error: RpcError): void {
    const err = `${error.code}: ${error.message}`;
    this.#host.logger.event(stableMessages.sessionRecvError, { cluster, err });
  }

  #finish(failure: { readonly error: unknown } | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#helloTimer.cancel();
    this.stream.end(failure);
    this.#stopReading();
    if (this.#session !== undefined) this.#closed(this.#session, failure?.error);
    this.#onOver();
  }

  /** A stalled transport does not ask for our status, so it would keep feeding an ended session. */
  #stopReading(): void {
    this.#frames.return?.().then(undefined, (error: unknown) => {
      this.#host.logger.debug('operator stream did not close', { err: describeThrown(error) });
    });
  }

  #closed(session: Session, reason: unknown): void {
    const { table, logger, events } = this.#host;
    const wasCurrent = table.remove(session);
    const { cluster } = session;
    const err = reason === undefined ? undefined : describeThrown(reason);
    logger.event(stableMessages.sessionClosed, { cluster, err });
    events.closed(session, !wasCurrent);
  }
}

/** What breaks before the hello is the caller's fault, unless we already said what is wrong. */
function beforeHello(error: RpcError): RpcError {
  switch (error.code) {
    case 'PERMISSION_DENIED':
    case 'RESOURCE_EXHAUSTED':
    case 'INVALID_ARGUMENT':
      return error;
    default:
      return new RpcError('INVALID_ARGUMENT', helloMissing().message, { cause: error });
  }
}
