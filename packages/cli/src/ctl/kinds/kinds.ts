// The kinds that `get` and `describe` know, in the order in which help shows them.

import { brakes } from './brakes.ts';
import { clusters } from './clusters.ts';
import { domains } from './domains.ts';
import type { Kind } from './kind.ts';
import { machines } from './machines.ts';
import { needs } from './needs.ts';
import { providers } from './providers.ts';
import { quotas } from './quotas.ts';
import { sessions } from './sessions.ts';
import { shards } from './shards.ts';
import { shortfalls } from './shortfalls.ts';
import { transfers } from './transfers.ts';

const KINDS: readonly [Kind, ...Kind[]] = [
  machines,
  needs,
  shortfalls,
  brakes,
  sessions,
  clusters,
  shards,
  domains,
  quotas,
  providers,
  transfers,
];

export const PLURALS: readonly string[] = KINDS.map(({ plural }) => plural);
export const SINGULARS: readonly string[] = PLURALS.map((plural) => plural.slice(0, -1));

/** Either form: both are what people type. The word is one of the choices, or the frame refused it. */
export function kindOf(word: string): Kind {
  return KINDS.find(({ plural }) => plural === word || plural.slice(0, -1) === word) ?? KINDS[0];
}
