// The five things to try, as what to type and what comes of it: shown at the start and in the view, and
// carried out by `try/main.ts`.

import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Profile } from '../profiles.ts';

export const TRIALS = ['scale', 'zone', 'spot', 'shard', 'gang'] as const;
export type Trial = (typeof TRIALS)[number];

const root = fileURLToPath(new URL('../../..', import.meta.url));

const outcomes: Readonly<Record<Trial, string>> = {
  scale: 'a Deployment grows to 20 Pods: machines come for them',
  zone: 'a zone loses its power for 30 s: its Pods move',
  spot: 'spot prices rise fivefold for 60 s',
  shard: 'kill a shard: machines keep serving; it comes back',
  gang: 'four Pods of highest priority that need one rack',
};

/** `make`, or how make finds the checkout from here. */
function makeHere(): string {
  const relative = path.relative(process.cwd(), root);
  return relative === '' ? 'make' : `make -C ${relative}`;
}

export function tryCommands(): readonly string[] {
  const width = Math.max(...TRIALS.map((trial) => trial.length));
  return TRIALS.map((trial) => `  ${makeHere()} try-${trial.padEnd(width)}  # ${outcomes[trial]}`);
}

/** All five in one line of a small window. */
export function tryLine(): string {
  return `${makeHere()} try-${TRIALS.join(' | try-')}`;
}

const NUMBERS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'];

/** `two shards`. */
function counted(count: number, what: string): string {
  return `${NUMBERS[count] ?? count} ${what}${count === 1 ? '' : 's'}`;
}

/** What runs, in a sentence. */
export function castText(profile: Profile, hasEtcd: boolean): string {
  const shards = counted(Object.keys(profile.zonesOfShard).length, 'shard');
  const clusters = counted(profile.clusters.length, 'Kubernetes cluster');
  const store = hasEtcd ? ' on three etcd members' : '';
  return `a coordinator${store}, ${shards}, two simulated providers, ${clusters}, a dashboard`;
}
