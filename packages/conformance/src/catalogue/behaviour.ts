// What an entry of the catalogue says about one behaviour (conformance §1). The vocabulary is
// closed: a profile, capability or phase outside these lists is a mistake of ours, never data.

export const PROFILES = [
  'core',
  'cloud',
  'bare-metal',
  'spot',
  'scale',
  'durable',
  'fault',
] as const;
export type Profile = (typeof PROFILES)[number];

/** What an endpoint must offer before the behaviour can be judged; '' is nothing. */
export const CAPABILITIES = ['', 'Delete', 'SinceRevision', 'Durable', 'Fault', 'Scale'] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** 2 black box, 4 fault and durability, 5 scale. */
export const PHASES = [2, 4, 5] as const;
export type Phase = (typeof PHASES)[number];

/** In the order of the catalogue; reports list them so. */
export const AREAS = [
  'Lifecycle',
  'Transition/Errors',
  'Fencing',
  'Concurrency',
  'Metadata',
  'Timeouts/Failure',
  'Field shape',
  'List',
  'Durability',
  'Scale',
  'Property',
] as const;
export type Area = (typeof AREAS)[number];

export interface Behaviour {
  readonly id: string;
  readonly area: Area;
  /** One assertion that can be observed on the wire. Frozen with the id. */
  readonly title: string;
  /** Claiming any of these makes the behaviour required. */
  readonly profiles: readonly Profile[];
  readonly capability: Capability;
  readonly phase: Phase;
  /** Judged through the six RPCs alone, on an endpoint that the suite neither owns nor instructs. */
  readonly blackBox: boolean;
  /** A retired behaviour keeps its id for ever and is no longer required. */
  readonly deprecated?: true;
}

export function isProfile(text: string): text is Profile {
  return (PROFILES as readonly string[]).includes(text);
}
