// Every bound of the network adapter in one place. None is a tuning knob of a component:
// both ends of the wire share them, and a peer that sees another limit at the far end
// retries for ever (shard §2.6).

/** Send and receive, every client and server. */
export const maxMessageBytes: number = 256 * 1024 * 1024;

/** What an inbox holds beyond the message that its consumer works on. */
export const readAheadMessageCount = 16;
export const readAheadBytes: number = 64 * 1024;

/** What a server stream has handed to HTTP/2 and not seen flushed before it stops pulling. */
export const writeAheadBytes: number = 64 * 1024;
export const writeAheadMessageCount = 16;

/** What grpc-js may hold of a client stream's unsent messages; beyond it, a write waits. */
export const clientWriteBufferBytes: number = 256 * 1024;

/** Streams that one connection may hold open, against a peer that only opens them. */
export const maxStreamsPerConnection = 1_000;

/** Pending connections in the kernel while 5,000 operators reconnect (shard §21.5). */
export const listenBacklog = 4_096;

/** A peer that opens a socket and says nothing is gone after this. */
export const handshakeTimeoutMs = 10_000;

/** TLS handshakes that run at once, and connections that wait for their turn (shard §3.2). */
export const maxHandshakes = 64;
export const maxWaitingHandshakes = 8_192;

/** Between GOAWAY for age and the end of the connection: the time to finish what runs. */
export const connectionAgeGraceMs = 30_000;

export const defaultStopGraceMs = 10_000;
export const defaultUnaryDeadlineMs = 30_000;

export const initialReconnectBackoffMs = 250;
export const maxReconnectBackoffMs = 10_000;

/**
 * Keepalive by edge (shard §2.6). Pings find a peer that died without a FIN; too many of
 * them make a third-party server answer GOAWAY too_many_pings, which is why providers get
 * slower ones. Our servers accept any rate of client pings, also without calls.
 */
export interface Keepalive {
  readonly timeMs: number;
  readonly timeoutMs: number;
  /** Whether a client pings while no call is open. Default: yes. */
  readonly withoutCalls?: boolean;
}

export type KeepalivePreset = 'session' | 'provider';

const presets: Readonly<Record<KeepalivePreset, Keepalive>> = {
  session: { timeMs: 30_000, timeoutMs: 10_000 },
  provider: { timeMs: 60_000, timeoutMs: 20_000, withoutCalls: false },
};

export function keepaliveOptions(choice: KeepalivePreset | Keepalive): Record<string, number> {
  const { timeMs, timeoutMs, withoutCalls } = typeof choice === 'string' ? presets[choice] : choice;
  return {
    'grpc.keepalive_time_ms': timeMs,
    'grpc.keepalive_timeout_ms': timeoutMs,
    'grpc.keepalive_permit_without_calls': withoutCalls === false ? 0 : 1,
  };
}
