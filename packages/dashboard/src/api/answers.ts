// What each view answers. One schema per page: the server's tests hold every answer to it, the web app and
// the playground take their types from it, and the reference page is printed from it.

import { z } from 'zod';
import {
  actionKind,
  brake,
  capacityType,
  count,
  decision,
  dollars,
  dollarsOrExcluded,
  dollarsPerHour,
  frame,
  machineRow,
  ms,
  needRef,
  needRow,
  percentiles,
  share,
  state,
  tier,
  unixMs,
} from './common.ts';
import type { ViewName } from './params.ts';

const now = z.object({
  frame,
  dollarsPerHour,
  /** One value a step, oldest first; null where nothing was seen. */
  spending: z.object({
    startMs: unixMs,
    stepMs: ms,
    dollarsPerHour: z.array(z.number().nullable()),
  }),
  supply: z.array(share).describe('one row per state, in the order of a machine’s life'),
  capacity: z.array(share).describe('by capacity type, of machines that exist'),
  demand: z.object({ rows: count, satisfied: count, clusters: count, connectedClusters: count }),
  unmet: z.array(
    z.object({
      tier,
      rows: count,
      oldestMs: unixMs.nullable(),
      reasons: z.array(z.object({ reason: z.string(), reasonText: z.string(), rows: count })),
    }),
  ),
  /** Of the last five minutes before the moment. */
  actions: z.array(z.object({ kind: actionKind, count, dollarsPerHour })),
  decisions: z.array(decision).describe('newest first, at most 60'),
  isPaused: z.boolean().describe('some shard’s actuation is paused or on dry run'),
});

const MAP_CELLS = `cells only while at most 20,000 machines match; above, groups alone`;
const map = z.object({
  frame,
  total: count,
  isAggregated: z.boolean(),
  clusters: z
    .array(z.string())
    .describe('names behind the numbers of `cluster`; the first is “none”'),
  groups: z.array(
    z.object({
      /** region, zone, rack; or the cluster; or the provider and its region. Stable order. */
      path: z.array(z.string()),
      count,
      dollarsPerHour,
      byState: z.array(count).describe('in the order of the states'),
      byCluster: z
        .array(z.tuple([count, count]))
        .describe('[cluster, machines], most first, at most 12'),
      meanRisk: z.number(),
    }),
  ),
  /** Columns of equal length, in a stable order within a group. */
  cells: z
    .object({
      machine: z.array(z.string()),
      group: z.array(count),
      state: z.array(count).describe('index into the states'),
      cluster: z.array(count),
      dollarsPerHour: z.array(z.number()),
      risk: z.array(z.number()).describe('interruption probability'),
      sinceMs: z.array(z.number()),
    })
    .nullable()
    .describe(MAP_CELLS),
});

const machines = z.object({ frame, total: count, dollarsPerHour, machines: z.array(machineRow) });
const needs = z.object({ frame, total: count, needs: z.array(needRow) });

const decisions = z.object({
  frame,
  total: count.describe('that match, of those that are kept'),
  oldestMs: unixMs.describe('of the decisions that are kept'),
  decisions: z.array(decision).describe('newest first'),
  lanes: z
    .array(z.object({ cluster: z.string(), byKind: z.array(count), dollarsPerHour }))
    .describe('all that match, per cluster'),
  /** A machine that left one cluster and later joined another, both as recorded. */
  moves: z.array(
    z.object({
      machine: z.string(),
      from: z.string(),
      fromMs: unixMs,
      fromId: z.string(),
      to: z.string(),
      toMs: unixMs,
      toId: z.string(),
    }),
  ),
  /** Ownership that moved between shards. */
  transfers: z.array(
    z.object({
      id: z.string(),
      from: z.string(),
      to: z.string(),
      phase: z.string(),
      machines: count,
      reason: z.string(),
      createdMs: unixMs,
      updatedMs: unixMs,
    }),
  ),
  damagedRecords: count,
});

const candidate = z.object({
  machine: z.string(),
  description: z.string(),
  rank: count,
  isChosen: z.boolean(),
  dollarsPerHour,
  interruptionProbability: z.number(),
  interruptionPenalty: dollarsOrExcluded,
  effectiveCost: dollarsOrExcluded,
  reason: z.string(),
  reasonText: z.string(),
  machines: count,
  victim: z
    .object({
      effectivePriority: z.int(),
      score: z.number().nullable(),
      interruptionPenalty: dollarsOrExcluded,
      reclamationPenalty: dollarsOrExcluded,
    })
    .nullable(),
});

const recordedNeed = z.object({
  ...needRef.shape,
  isSatisfied: z.boolean(),
  isParked: z.boolean(),
  reason: z.string(),
  reasonText: z.string(),
  domain: z.string(),
  credited: count,
  bootstraps: count,
  provisions: count,
  victims: count,
  deficit: z.record(z.string(), z.string()),
  candidates: z.array(candidate),
});

const record = z.object({
  frame,
  shard: z.string(),
  epoch: z.string(),
  cycle: z.int(),
  atMs: unixMs,
  bytes: count,
  inputDigest: z.string(),
  actionHash: z.string(),
  totalNeeds: count,
  needs: z.array(recordedNeed).describe('short ones and those with an action first, at most 200'),
  totalActions: count,
  actions: z.array(decision).describe('at most 500'),
  heldBack: z.array(z.object({ code: z.string(), codeText: z.string(), count })),
});

const explain = z.object({
  frame,
  subject: z.union([
    z.object({ kind: z.literal('machine'), machine: machineRow.nullable(), name: z.string() }),
    z.object({ kind: z.literal('need'), need: needRow.nullable(), name: needRef }),
  ]),
  shard: z.string(),
  epoch: z.string(),
  cycle: z.int(),
  atMs: unixMs,
  kind: z.enum(['explained', 'spared', 'not_mentioned']),
  reason: z.string(),
  reasonText: z.string(),
  text: z.string(),
  candidates: z.array(candidate),
  displacements: z.array(
    z.object({
      need: needRef,
      machine: z.string(),
      priority: z.int(),
      reason: z.string(),
      reasonText: z.string(),
    }),
  ),
  counterfactuals: z.array(
    z.object({ reason: z.string(), text: z.string(), dollarsPerHour, isVerified: z.boolean() }),
  ),
  isTruncated: z.boolean(),
  history: z.array(decision).describe('recorded about the subject, newest first, at most 100'),
});

const cost = z.object({
  frame,
  dollarsPerHour,
  lossPerHour: dollarsPerHour.describe('expected: probability × penalty, of bound machines'),
  total: count,
  groups: z
    .array(
      z.object({
        instanceType: z.string(),
        capacityType,
        zone: z.string(),
        provider: z.string(),
        interruptionPenalty: z.string(),
        price: dollarsPerHour,
        interruptionProbability: z.number(),
        loss: dollarsOrExcluded.describe(
          'expected loss per hour of one machine; null for pinned work at risk',
        ),
        count,
        dollarsPerHour,
        flags: z.array(z.enum(['pinned-on-spot', 'cheap-on-reserved'])),
      }),
    )
    .describe('bound machines of one class and penalty; largest first, at most 2,000'),
  totalGroups: count,
  matrix: z.object({
    buckets: z.array(z.string()),
    capacityTypes: z.array(capacityType),
    machines: z.array(z.array(count)),
    dollarsPerHour: z.array(z.array(z.number())),
  }),
  byCluster: z.array(share),
  byPriority: z.array(share),
  byCapacityType: z.array(share),
  byProvider: z.array(share),
  byTeam: z
    .array(share)
    .describe('bound machines, as byCluster; the name of no team is empty; empty without --team'),
  idle: share.describe('paid for and serving nobody'),
  pinnedOnSpot: z.object({ count, dollarsPerHour, machines: z.array(machineRow) }),
});

/** A branch of the on-call decision tree (observability §11). */
const branch = z.enum([
  'batch-only',
  'provider-out-of-capacity',
  'provider-not-asked',
  'phantom-capacity',
  'topology',
  'aged',
  'held-off',
  'draining',
  'priority-starved',
]);

const triage = z.object({
  frame,
  isSerious: z.boolean().describe('something above the batch tier is unmet'),
  verdict: z.string(),
  total: count,
  byTier: z.array(z.object({ tier, rows: count, clusters: count, oldestMs: unixMs.nullable() })),
  tree: z.array(
    z.object({
      branch,
      question: z.string(),
      meaning: z.string(),
      action: z.string(),
      rows: count,
    }),
  ),
  rows: z.array(
    z.object({
      need: needRow,
      branch,
      branchText: z.string(),
      action: z.string(),
      matching: z.object({ idle: count, configured: count, speculative: count }),
      awaitingDrain: count,
      isDemoted: z.boolean().describe('batch: working as designed'),
      isEscalated: z.boolean(),
    }),
  ),
  brakes: z.array(brake),
  phantoms: z
    .object({
      count,
      dollarsPerHour,
      clusters: count.describe('that have some'),
      machines: z.array(machineRow).describe('dearest first, at most `limit`'),
      reporting: count.describe('sessions whose operator and shard can tell'),
      sessions: count,
    })
    .describe('machines at Ready whose Node is missing, not ready or unschedulable'),
});

const lifecycle = z.object({
  frame,
  states: z.array(z.object({ state, count, dollarsPerHour, dwell: percentiles })),
  edges: z
    .array(z.object({ from: state, to: state, count, dwell: percentiles }))
    .describe('observed since the dashboard began; dwell is the time in `from` before the edge'),
  observedSinceMs: unixMs,
  stuck: z
    .array(z.object({ machine: machineRow, overdueMs: ms, expectedMs: ms }))
    .describe('longer in a transitional state than 99 % of their kind, and than a minute'),
  failures: z.array(
    z.object({ provider: z.string(), instanceType: z.string(), error: z.string(), count }),
  ),
});

const providers = z.object({
  frame,
  providers: z.array(
    z.object({
      name: z.string(),
      address: z.string(),
      source: z.string(),
      shards: z.array(z.string()),
      isShared: z.boolean(),
      isHealthy: z.boolean(),
      lastListMs: unixMs.nullable(),
      machines: z.array(share).describe('by state'),
      dollarsPerHour,
      create: percentiles,
      join: percentiles.describe('Configuring to Configured, as observed'),
      drain: percentiles,
      failures: count,
      transitions: count,
      calibration: z.array(
        z.object({
          declared: z.number().describe('interruption probability, as published'),
          machineHours: z.number(),
          expected: z.number(),
          observed: count,
        }),
      ),
      prices: z.array(
        z.object({
          instanceType: z.string(),
          zone: z.string(),
          capacityType,
          dollarsPerHour,
          machines: count,
        }),
      ),
      trust: z.object({ score: z.number().min(0).max(100), why: z.array(z.string()) }),
      conformance: z
        .object({
          verdict: z.enum(['CERTIFIED', 'FAILED', 'INCOMPLETE']),
          profiles: z.array(z.string()).describe('those that were claimed'),
          certifiedProfiles: z.array(z.string()),
          behaviours: count,
          passed: count,
          failed: count,
          skipped: count,
          notRun: count,
          requiredFailed: count,
          requiredMissing: count,
          atMs: unixMs,
          subject: z.string().describe('what the report calls the provider'),
        })
        .nullable()
        .describe('the report that --conformance names; null without one'),
    }),
  ),
  brakes: z.array(brake),
  unmatchedReports: z
    .array(z.string())
    .describe('names of --conformance that no shard and no machine knows'),
});

const clusters = z.object({
  frame,
  total: count,
  clusters: z.array(
    z.object({
      cluster: z.string(),
      shard: z.string(),
      isConnected: z.boolean(),
      sinceMs: unixMs.nullable(),
      lastRollupMs: unixMs.nullable(),
      needRows: count,
      unmet: z.array(count).describe('by tier: critical, service, batch'),
      machines: count,
      byState: z.array(count),
      dollarsPerHour,
      spending: z.array(z.number()).describe('the last hour, oldest first, at most 60'),
      quarantinedRollups: count,
      identity: z.string(),
      team: z.string().describe('by --team; empty for none'),
      phantoms: count.describe('machines that its operator reports as phantom'),
    }),
  ),
});

const shards = z.object({
  frame,
  shards: z.array(
    z.object({
      shard: z.string(),
      address: z.string(),
      state: z.enum(['live', 'stale', 'connecting', 'absent']),
      problem: z.string(),
      epoch: z.string(),
      cycle: z.int(),
      lastCycleMs: unixMs.nullable(),
      startedMs: unixMs.nullable(),
      isReady: z.boolean(),
      isPaused: z.boolean(),
      isDryRun: z.boolean(),
      rails: z.array(z.string()).describe('settings that differ from the flags, in words'),
      sessions: count,
      needRows: count,
      shortfalls: count,
      byState: z.array(count),
      dollarsPerHour,
      version: z.string(),
      cyclesPerMinute: z.array(count).describe('the last hour, oldest first'),
      actionsPerMinute: z.array(count),
      lag: percentiles.describe('from the end of a cycle to its arrival here'),
      snapshots: count,
      phases: z
        .array(z.object({ phase: z.string(), p50Ms: ms, p99Ms: ms, maxMs: ms, cycles: count }))
        .describe(
          'parts of the cycle in the order in which they run, and `cycle`, the whole; empty when the shard tells none',
        ),
    }),
  ),
});

const coordinator = z.object({
  frame,
  coordinator: z
    .object({
      node: z.string(),
      isLeader: z.boolean(),
      leader: z.string(),
      leaderAddress: z.string(),
      term: z.string(),
      applyIndex: z.string(),
      engine: z.string(),
      replicas: z.array(z.string()),
      recoveringProviders: z.array(z.string()),
      version: z.string(),
    })
    .nullable(),
  bindings: z.array(z.object({ cluster: z.string(), shard: z.string(), conflict: z.string() })),
  transfers: decisions.shape.transfers,
  queue: z
    .array(
      z.object({
        shard: z.string(),
        pending: count.nullable().describe('instructions without an answer; null: not told'),
        pendingSinceMs: unixMs
          .nullable()
          .describe('since when there always were some, as seen here'),
        reportMs: unixMs
          .nullable()
          .describe('the shard’s last report; null is none since the leader began'),
      }),
    )
    .describe('one row per registered shard'),
});

const side = z.object({
  dollars,
  dollarsPerHour: z.object({ mean: z.number(), p50: z.number(), max: z.number() }),
  byCapacityType: z.array(z.object({ name: z.string(), machineHours: z.number(), dollars })),
  unmet: z.array(z.object({ tier, needSeconds: z.number(), rows: count, worstMs: ms })),
  churn: z.array(z.object({ kind: actionKind, count })),
  movedMachines: count,
});

const whatif = z.object({
  frame,
  status: z.enum(['running', 'done', 'failed']),
  progress: z.number().min(0).max(1),
  problem: z.string(),
  changes: z.array(z.string()),
  result: z
    .object({
      fromMs: unixMs,
      toMs: unixMs,
      cycles: count,
      baseline: side,
      changed: side,
      series: z.object({
        atMs: z.array(z.number()),
        dollarsPerHour: z.array(z.tuple([z.number(), z.number()])),
        bound: z.array(z.tuple([z.number(), z.number()])),
        unmet: z.array(z.tuple([z.number(), z.number()])),
      }),
      breaks: z
        .object({ atMs: unixMs, need: needRef, tier, reason: z.string(), reasonText: z.string() })
        .nullable(),
      modelError: z
        .object({ bound: z.number(), dollarsPerHour: z.number() })
        .describe('baseline against what was recorded, as fractions'),
      differences: z.array(z.object({ atMs: unixMs, text: z.string() })),
    })
    .nullable(),
});

export const answers = {
  now,
  map,
  machines,
  needs,
  decisions,
  record,
  explain,
  cost,
  triage,
  lifecycle,
  providers,
  clusters,
  shards,
  coordinator,
  whatif,
} as const satisfies Record<ViewName, z.ZodType>;

export type Answer<V extends ViewName> = z.infer<(typeof answers)[V]>;
