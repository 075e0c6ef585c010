// What every check gets: the endpoint behind the six RPCs, waiting by polling, seeded randomness,
// and notes for the report. Nothing here knows how the provider is built (black box).

import type { Random, Runtime } from '@bigfleet/base';
import type { DurableStage } from './durable-stage.ts';
import type { Endpoint } from './endpoint.ts';

export interface Capabilities {
  readonly delete: boolean;
  readonly sinceRevision: boolean;
}

export interface CheckContext {
  readonly runtime: Runtime;
  /** Seeded per check from `--seed` and the behaviour id, so one behaviour replays alone. */
  readonly random: Random;
  /** The endpoint under judgement in this lane (durable lane: the target after its reboot). */
  readonly endpoint: Endpoint;
  /** Another real connection to the same endpoint (B406). */
  secondConnection(): Promise<Endpoint>;
  readonly capabilities: Capabilities;
  /** Multiplies every wait (`--time-scale`); real clouds are slow. */
  readonly timeScale: number;
  readonly scale: { readonly seedCount: number; readonly soakMs: number };
  /** Transition timeout of the fault provider (fault lane), in ms. */
  readonly faultTimeoutMs: number;
  /** The durable lane alone: the fault provider's process, which B1006 kills. Absent elsewhere. */
  readonly process?: OwnedProcess | undefined;
  /** The durable lane alone: what `crossRestart` (behaviours/durability) left for the checks. */
  readonly durable?: DurableStage | undefined;
  readonly signal: AbortSignal;
  /** One line for the report, e.g. `strict` or `lenient` (B210, B211), machines/s (B1108). */
  note(text: string): void;
}

/** A provider process that the suite boots, kills with SIGKILL and boots again on the same state. */
export interface OwnedProcess {
  /** The running process; a new one after each reboot. */
  readonly endpoint: Endpoint;
  /** SIGKILL, reboot on another port with the same state; resolves to the new endpoint. */
  killAndReboot(): Promise<Endpoint>;
}
