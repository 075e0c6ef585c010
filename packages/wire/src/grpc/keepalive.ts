// Keepalive by edge (shard §2.6). Pings find a peer that died without a FIN; too many of
// them make a third-party server answer GOAWAY too_many_pings, which is why providers get
// slower ones. Our servers accept any rate of client pings, also without calls.

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
