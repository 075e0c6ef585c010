// What a behaviour's test is: an id of the frozen catalogue, the heading of
// docs/provider-author-guide.md that states the rule, and one function over the context. The heading is
// added to every finding, so that a provider's author, who has the guide and not the specification,
// finds the rule beside the fault.
//
// A check ends in one of three ways: it returns (passed), it throws `SkipCheck` (typed, because
// an absent capability is a pass and a provider too small to judge is not), or it throws anything
// else (failed, with the message as the finding).

import type { Random, Runtime } from '@bigfleet/base';
import type { Answer, Endpoint, Inventory } from './endpoint.ts';
import type { State, TextMap } from './machine.ts';

export type SkipKind = 'capability-absent' | 'precondition-unmet';

export class SkipCheck extends Error {
  readonly kind: SkipKind;

  constructor(kind: SkipKind, reason: string) {
    super(reason);
    this.name = 'SkipCheck';
    this.kind = kind;
  }
}

/** A finding: what the endpoint did against what the behaviour asks for. */
export class CheckFailed extends Error {
  override readonly name = 'CheckFailed';
}

export interface Check {
  /** `Bnnn` of the catalogue; the runner refuses an unknown one. */
  readonly id: string;
  run(context: CheckContext): Promise<void>;
}

export interface Capabilities {
  readonly delete: boolean;
  readonly sinceRevision: boolean;
}

/**
 * What every check gets: the endpoint behind the six RPCs, waiting by polling, seeded randomness, and
 * notes for the report. Nothing here knows how the provider is built (black box).
 */
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

export interface AcknowledgedState {
  /** IDLE; its fence mark for `shardId` stands at the last of `tokens`. */
  readonly fenced: {
    readonly machineId: string;
    readonly shardId: string;
    /** Accepted in this order, the last one just before the kill. */
    readonly tokens: readonly { readonly epoch: bigint; readonly sequence: bigint }[];
  };
  /** CONFIGURED. */
  readonly bound: {
    readonly machineId: string;
    readonly clusterId: string;
    readonly metadata: TextMap;
    readonly operationId: string;
  };
  readonly states: ReadonlyMap<string, State>;
  readonly operationIds: ReadonlySet<string>;
}

/**
 * What the durable lane's checks compare: everything that the provider acknowledged before it was
 * killed, and the first List that it answered afterwards (read before any check touched it, so
 * that the checks may run in any order).
 */
export interface DurableStage {
  readonly before: AcknowledgedState;
  readonly after: Answer<Inventory>;
}

export const guideHeadings = [
  'Six calls',
  'The order of checks',
  'Codes by state',
  'Retries',
  'The fence',
  'Binding and metadata',
  'The shape of a machine',
  'Listing',
  'Speed',
  'Failure',
  'Configured means Ready',
  'Restarts',
] as const;

export type GuideHeading = (typeof guideHeadings)[number];

/** Skips and cancellations pass through untouched. */
export function defineCheck(
  id: string,
  rule: GuideHeading,
  run: (context: CheckContext) => Promise<void>,
): Check {
  return {
    id,
    async run(context) {
      try {
        await run(context);
      } catch (error) {
        if (!(error instanceof CheckFailed)) throw error;
        throw new CheckFailed(`${error.message} (author guide, ${rule})`, { cause: error });
      }
    },
  };
}
