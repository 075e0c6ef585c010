// The bounds and times of a memory network, with the values of the network adapter as defaults.
// Tests make them small: a limit that no test can reach is a limit that nobody knows to work.

export interface Settings {
  /** Either direction, every call; one byte more is RESOURCE_EXHAUSTED. */
  readonly maxMessageBytes: number;
  /** Unconsumed bytes per call and direction before its sender waits. */
  readonly windowBytes: number;
  /** Silence before a ping while calls are open, and how long its answer may take. */
  readonly keepaliveIdleMs: number;
  readonly keepaliveTimeoutMs: number;
  /** How long a dial that nobody answers may take. */
  readonly dialTimeoutMs: number;
  /** A connection without calls is closed after this; what a dead peer leaves behind ends so. */
  readonly idleTimeoutMs: number;
  readonly maxCallsPerConnection: number;
  /** For unary calls whose signal carries no deadline. */
  readonly unaryDeadlineMs: number;
}

export const defaultSettings: Settings = {
  maxMessageBytes: 256 * 1024 * 1024,
  windowBytes: 64 * 1024,
  keepaliveIdleMs: 30_000,
  keepaliveTimeoutMs: 10_000,
  dialTimeoutMs: 20_000,
  idleTimeoutMs: 15 * 60_000,
  maxCallsPerConnection: 1_000,
  unaryDeadlineMs: 30_000,
};
