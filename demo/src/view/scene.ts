// Everything that a view shows at one moment, as plain values, and what a view is: views know neither
// the feed nor the processes behind it.

import { type PriorityClass, priorityClassOf } from '@bigfleet/base';
import type { NeedView } from '@bigfleet/wire';
import type { ClusterCounts } from '../clusters/watched-cluster.ts';
import type { Decision } from '../feed/decisions.ts';
import type { Transfer } from '../fleet/watch-transfers.ts';

export interface ClusterScene extends ClusterCounts {
  readonly id: string;
  readonly shard: string;
  /** Its operator's session with the shard stands. */
  readonly isConnected: boolean;
}

/** What a shard owns; it shows nothing else. */
export interface ShardScene {
  readonly name: string;
  /** False while it is down: the rest is what it said last. */
  readonly isServing: boolean;
  readonly cycle: number;
  readonly machinesByState: Readonly<Record<string, number>>;
}

/** Machines of one provider. */
export interface ProviderScene {
  readonly name: string;
  readonly count: number;
  readonly servingCount: number;
  readonly idleCount: number;
}

export interface UnmetScene {
  readonly priorityClass: PriorityClass;
  readonly count: number;
  /** Cluster, what is missing and why, of the first few. */
  readonly examples: readonly string[];
}

export interface Scene {
  readonly seed: string;
  readonly dashboardUrl: string;
  readonly elapsedMs: number;
  /** Of all shards. */
  readonly machinesByState: Readonly<Record<string, number>>;
  readonly dollarsPerHour: number;
  readonly providers: readonly ProviderScene[];
  readonly shards: readonly ShardScene[];
  /** Oldest first. */
  readonly transfers: readonly Transfer[];
  readonly clusters: readonly ClusterScene[];
  readonly unmet: readonly UnmetScene[];
  /** Newest last. */
  readonly decisions: readonly Decision[];
  /** Decisions since the start. */
  readonly decisionCount: number;
}

const CLASSES: readonly PriorityClass[] = ['critical', 'service', 'batch'];
const EXAMPLES = 2;

/** Every class is there, also without unmet demand. */
export function unmetByPriority(needs: Iterable<NeedView>): readonly UnmetScene[] {
  const unmet = [...needs].filter(({ satisfied }) => !satisfied);
  return CLASSES.map((priorityClass) => {
    const ofClass = unmet.filter(
      ({ need }) => priorityClassOf(need?.priority ?? 0) === priorityClass,
    );
    return {
      priorityClass,
      count: ofClass.length,
      examples: ofClass.slice(0, EXAMPLES).map(exampleOf),
    };
  });
}

function exampleOf({ clusterId, residualDeficit, reasonCode }: NeedView): string {
  const missing = Object.entries(residualDeficit?.resources ?? {})
    .map(([name, quantity]) => `${quantity} ${name}`)
    .join(', ');
  return `${clusterId} lacks ${missing}: ${reasonCode}`;
}

export interface Output {
  readonly isTerminal: boolean;
  /** Of a terminal; what is shown is cut to it. */
  readonly columns: number;
  readonly rows: number;
  write(text: string): void;
}

export interface View {
  show(scene: Scene): void;
  line(text: string): void;
  /** Leaves the screen as it was found. Idempotent. */
  close(): void;
}
