// Faults as values. A plan is what every link does all the time (its profile) and what happens
// when (its events); both are data, so a scenario can be written by hand, drawn from a seed,
// printed and replayed. Nothing here acts: the network applies faults.
//
// TCP hides lost packets behind delay, so loss exists here only as what a caller can see: a call
// or a connection that fails, before or after its packet did its work at the far end.

import { assert, type Random } from '@bigfleet/base';

export interface Latency {
  readonly minMs: number;
  readonly maxMs: number;
  /** Share of packets that take up to `tailMs` instead. */
  readonly tailProbability: number;
  readonly tailMs: number;
}

/** What a direction between two hosts does to every packet. */
export interface LinkProfile {
  readonly latency: Latency;
  /** Undefined: no limit. */
  readonly bytesPerMs: number | undefined;
  /** Per packet of a call: it vanishes, and both ends of the call learn that the call failed. */
  readonly callLossProbability: number;
  /** Per packet of a call: it vanishes with its connection. */
  readonly connectionLossProbability: number;
  /** Per unary request: it is delivered twice, as a retrying proxy would. Streams never are. */
  readonly duplicateProbability: number;
}

export const perfectLink: LinkProfile = {
  latency: { minMs: 0, maxMs: 0, tailProbability: 0, tailMs: 0 },
  bytesPerMs: undefined,
  callLossProbability: 0,
  connectionLossProbability: 0,
  duplicateProbability: 0,
};

/** One datacentre: a millisecond, now and then ten, and nothing is lost. */
export const calmLink: LinkProfile = {
  ...perfectLink,
  latency: { minMs: 0.2, maxMs: 1.5, tailProbability: 0.01, tailMs: 10 },
};

export type Fault =
  /** Silent, both ways: nothing arrives and nothing fails until a deadline or a keepalive does. */
  | { readonly kind: 'partition'; readonly a: string; readonly b: string }
  | { readonly kind: 'heal'; readonly a: string; readonly b: string }
  /** One direction only: the half-open connection. */
  | { readonly kind: 'block'; readonly from: string; readonly to: string }
  | { readonly kind: 'unblock'; readonly from: string; readonly to: string }
  /** The process dies; its kernel resets its connections and refuses new ones. */
  | { readonly kind: 'crash'; readonly host: string }
  /** The machine loses power: peers hear nothing. */
  | { readonly kind: 'vanish'; readonly host: string }
  | { readonly kind: 'restart'; readonly host: string }
  /** New connections to this address are refused although it listens. */
  | { readonly kind: 'refuse'; readonly address: string }
  | { readonly kind: 'admit'; readonly address: string }
  /** Every connection between the two hosts is reset. */
  | { readonly kind: 'reset'; readonly a: string; readonly b: string }
  /** Replaces what the direction does to packets from now on. */
  | {
      readonly kind: 'profile';
      readonly from: string;
      readonly to: string;
      readonly profile: Partial<LinkProfile>;
    }
  /** Ends every partition, block and refusal and makes all links calm; dead hosts stay dead. */
  | { readonly kind: 'calm' };

export interface FaultEvent {
  readonly atMs: number;
  readonly fault: Fault;
}

export interface FaultPlan {
  /** Every direction between hosts, until a `profile` fault changes one. */
  readonly profile: LinkProfile;
  readonly events: readonly FaultEvent[];
}

export const noFaults: FaultPlan = { profile: calmLink, events: [] };

/** A plan written by hand; what it leaves out is calm. */
export function scriptedFaults(
  events: readonly FaultEvent[],
  profile: Partial<LinkProfile> = {},
): FaultPlan {
  return { profile: { ...calmLink, ...profile }, events };
}

export interface RandomFaultOptions {
  readonly hosts: readonly string[];
  /** Addresses that may refuse connections. */
  readonly addresses: readonly string[];
  /** Faults begin before this; they may end after it. */
  readonly untilMs: number;
  /** Mean time between the beginnings of two faults. */
  readonly everyMs: number;
  /** Longest single fault. */
  readonly maxFaultMs: number;
  readonly duplicates?: boolean;
}

const MAX_PLAN_EVENTS = 100_000;

/**
 * The first faults of a plan do not depend on `untilMs`: a longer run of one seed begins like
 * a shorter one, so it can be extended to look further.
 */
export function randomFaults(random: Random, options: RandomFaultOptions): FaultPlan {
  assert(options.everyMs > 0 && options.hosts.length >= 2, 'nothing to break');
  const events: FaultEvent[] = [];
  let atMs = microseconds(random.float() * 2 * options.everyMs);
  while (atMs < options.untilMs && events.length < MAX_PLAN_EVENTS) {
    const endMs = microseconds(atMs + random.float() * options.maxFaultMs);
    const [begin, end] = randomPair(random, options);
    events.push({ atMs, fault: begin });
    if (end !== undefined) events.push({ atMs: endMs, fault: end });
    atMs = microseconds(atMs + random.float() * 2 * options.everyMs);
  }
  events.sort((left, right) => left.atMs - right.atMs);
  return { profile: randomProfile(random.stream('profile'), options.duplicates ?? false), events };
}

/** A network somewhere between a quiet rack and a bad ocean link. */
export function randomProfile(random: Random, duplicates: boolean): LinkProfile {
  const minMs = microseconds(random.float() * 5);
  const lossy = random.below(2) === 0;
  return {
    latency: {
      minMs,
      maxMs: microseconds(minMs + random.float() * 20),
      tailProbability: random.float() * 0.1,
      tailMs: microseconds(20 + random.float() * 200),
    },
    bytesPerMs: random.below(4) === 0 ? 1 + random.below(100) : undefined,
    callLossProbability: lossy ? random.float() * 0.05 : 0,
    connectionLossProbability: lossy ? random.float() * 0.01 : 0,
    duplicateProbability: duplicates && random.below(2) === 0 ? random.float() * 0.3 : 0,
  };
}

function randomPair(random: Random, options: RandomFaultOptions): [Fault, Fault | undefined] {
  const a = pick(random, options.hosts);
  const b = pick(
    random,
    options.hosts.filter((host) => host !== a),
  );
  switch (random.below(8)) {
    case 0:
      return [
        { kind: 'partition', a, b },
        { kind: 'heal', a, b },
      ];
    case 1:
      return [
        { kind: 'block', from: a, to: b },
        { kind: 'unblock', from: a, to: b },
      ];
    case 2:
      return [
        { kind: 'crash', host: a },
        { kind: 'restart', host: a },
      ];
    case 3:
      return [
        { kind: 'vanish', host: a },
        { kind: 'restart', host: a },
      ];
    case 4: {
      const address = pick(random, options.addresses);
      return [
        { kind: 'refuse', address },
        { kind: 'admit', address },
      ];
    }
    case 5:
      return [slow(a, b, 1 + random.below(20)), slow(a, b, undefined)];
    default:
      return [{ kind: 'reset', a, b }, undefined];
  }
}

function slow(from: string, to: string, bytesPerMs: number | undefined): Fault {
  return { kind: 'profile', from, to, profile: { bytesPerMs } };
}

function pick<A>(random: Random, values: readonly A[]): A {
  const value = values[random.below(values.length)];
  assert(value !== undefined, 'picked outside the list');
  return value;
}

/** Whole microseconds keep printed plans and logs short and exact. */
export function microseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** One line per fault for the log and for people. */
export function faultText(fault: Fault): string {
  switch (fault.kind) {
    case 'partition':
    case 'heal':
    case 'reset':
      return `${fault.kind} ${fault.a} ${fault.b}`;
    case 'block':
    case 'unblock':
      return `${fault.kind} ${fault.from} ${fault.to}`;
    case 'crash':
    case 'vanish':
    case 'restart':
      return `${fault.kind} ${fault.host}`;
    case 'refuse':
    case 'admit':
      return `${fault.kind} ${fault.address}`;
    case 'profile':
      return `profile ${fault.from} ${fault.to} ${JSON.stringify(fault.profile)}`;
    case 'calm':
      return 'calm';
  }
}
