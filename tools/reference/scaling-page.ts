// The generated tables of docs/scaling-guide.md; its text is written by hand around them. Tiers come
// from the ladder of the specification, results from committed receipts, shapes from the committed
// baseline of the benches, sizes from the charts. A tier that nobody ran says so.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseYaml } from '@bigfleet/process';
import { cell, code, table } from './markdown.ts';

export const SCALING_PAGE = 'docs/scaling-guide.md';
/** One folder per run, each with its summary.json (docs/spec/scale-and-testing.md §8). */
export const RECEIPTS = 'packages/scaletest/receipts';

const LADDER = 'docs/spec/scale-and-testing.md';
const NEVER = 'never run';

export function scalingPage(root: string): string {
  const tables: Readonly<Record<string, string>> = {
    tiers: tiersTable(root),
    sizes: sizesTable(root),
    shapes: shapesTable(root),
  };
  let text = readFileSync(path.join(root, SCALING_PAGE), 'utf8');
  for (const [name, written] of Object.entries(tables)) {
    const place = new RegExp(`(<!-- ${name}: [^>]*-->)[\\s\\S]*?(<!-- /${name} -->)`);
    if (!place.test(text)) throw new Error(`${SCALING_PAGE}: no place for the table ${name}`);
    text = text.replace(
      place,
      (_, open: string, close: string) => `${open}\n\n${written}\n\n${close}`,
    );
  }
  return text;
}

export interface Receipt {
  readonly runId: string;
  readonly profile: string;
  readonly substrate: string;
  readonly seed: number | string;
  readonly gitRevision: string;
  readonly startedAt: string;
  readonly passed: boolean;
  readonly scale: { readonly machinesEffective: number; readonly coordinatorReplicas: number };
  readonly environment: { readonly cpuModel: string; readonly cores: number };
  readonly samples: Readonly<Record<string, { readonly p99: number } | undefined>>;
}

export interface Tier {
  readonly profile: string;
  readonly machines: string;
  readonly pods: string;
  readonly clusters: string;
  readonly shards: string;
}

function tiersTable(root: string): string {
  const receipts = readReceipts(path.join(root, RECEIPTS));
  return tierRows(readTiers(readFileSync(path.join(root, LADDER), 'utf8')), receipts);
}

/** The newest passed run of each tier; a failed one shows nothing but that it failed. */
export function tierRows(tiers: readonly Tier[], receipts: readonly Receipt[]): string {
  return table(
    [
      'Tier',
      'Machines',
      'Pods',
      'Clusters',
      'Shards',
      'Coordinators',
      'Cycle p99',
      'Configure p99',
      'Run',
    ],
    tiers.map(({ profile, machines, pods, clusters, shards }) => {
      const runs = receipts.filter((receipt) => receipt.profile === profile);
      const newest = runs.toSorted((a, b) => (a.startedAt < b.startedAt ? 1 : -1));
      const run = newest.find(({ passed }) => passed);
      const [cycle, configure, said] =
        run === undefined
          ? ['–', '–', newest.length === 0 ? NEVER : `${newest.length} runs, none passed`]
          : [
              secondsOf(run, 'shardCycleDurationSeconds'),
              secondsOf(run, 'shardConfigurePhaseSeconds'),
              `${code(run.runId)}: revision ${code(run.gitRevision.slice(0, 12))}, seed ${run.seed}, ` +
                `${run.substrate}, ${run.environment.cores} cores of ${run.environment.cpuModel}`,
            ];
      const coordinators = run === undefined ? '3' : String(run.scale.coordinatorReplicas);
      return [
        code(profile),
        machines,
        pods,
        clusters,
        shards,
        coordinators,
        cycle,
        configure,
        said,
      ].map(cell);
    }),
  );
}

function secondsOf({ samples, runId }: Receipt, name: string): string {
  const sample = samples[name];
  if (sample === undefined) throw new Error(`${runId}: the receipt has no sample ${name}`);
  return `${sample.p99} s`;
}

/** Rows of the ladder in the specification: | `5k` (…) | 5,000 | 500K | 20 | 1 | … */
export function readTiers(specification: string): readonly Tier[] {
  const [, ladder = ''] = specification.split(/^### 9\.1 Ladder.*$/m);
  const rows = (ladder.split(/^### /m)[0] ?? '').split('\n').filter((row) => row.startsWith('| `'));
  if (rows.length === 0) throw new Error(`${LADDER}: no tier found in its ladder`);
  return rows.map((row) => {
    const [, name = '', machines = '', pods = '', clusters = '', shards = ''] = row.split('|');
    const profile = /`([^`]+)`/.exec(name)?.[1] ?? '';
    const [m, p, c, s] = [machines, pods, clusters, shards].map((text) => text.trim());
    return { profile, machines: m ?? '', pods: p ?? '', clusters: c ?? '', shards: s ?? '' };
  });
}

function readReceipts(folder: string): readonly Receipt[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => {
      const text = readFileSync(path.join(folder, name, 'summary.json'), 'utf8');
      return JSON.parse(text) as Receipt;
    });
}

interface Sizes {
  readonly requests?: { readonly cpu?: string; readonly memory?: string };
  readonly limits?: { readonly cpu?: string; readonly memory?: string };
}

/** Where each chart keeps the resources of a process. */
const PROCESSES = [
  ['shard', 'bigfleet', 'shard'],
  ['coordinator replica, with its managed etcd', 'bigfleet', 'coordinator'],
  ['operator, one per cluster', 'bigfleet-operator', ''],
  ['pod controller, one per cluster', 'bigfleet-unschedulable-pod-controller', ''],
] as const;

function sizesTable(root: string): string {
  return table(
    ['Process', 'Requests', 'Limits', 'Value of the chart'],
    PROCESSES.map(([name, chart, part]) => {
      const file = `deploy/helm/${chart}/values.yaml`;
      const parsed = parseYaml(readFileSync(path.join(root, file), 'utf8'));
      if (!parsed.ok) throw new Error(`${file}: ${parsed.error}`);
      const values = parsed.value as Readonly<Record<string, { readonly resources?: Sizes }>>;
      const sizes = (part === '' ? values['resources'] : values[part]?.resources) as
        | Sizes
        | undefined;
      if (sizes === undefined) throw new Error(`${file}: no resources of ${name}`);
      const key = part === '' ? 'resources' : `${part}.resources`;
      return [name, sizeOf(sizes.requests), sizeOf(sizes.limits), `${code(key)} of ${chart}`];
    }),
  );
}

function sizeOf(size: Sizes['requests']): string {
  return `${size?.cpu ?? '–'} CPU, ${size?.memory ?? '–'}`;
}

interface Baseline {
  readonly revision: string;
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly memoryGiB: number;
    readonly node: string;
  };
  readonly perK: Readonly<Record<string, { readonly p50: number; readonly p99: number }>>;
}

/** What a planner asks about; the whole baseline is in the file. */
const PLANNED = /^(?:engine|shard|kube\/(?:rollup|acknowledge)|dashboard\/model)/;

function shapesTable(root: string): string {
  const text = readFileSync(path.join(root, 'bench/baseline.json'), 'utf8');
  const { perK, machine, revision } = JSON.parse(text) as Baseline;
  const rows = Object.entries(perK).filter(([name]) => PLANNED.test(name));
  return [
    table(
      ['Shape', 'p50, in K', 'p99, in K'],
      rows.map(([name, { p50, p99 }]) => [code(name), String(p50), String(p99)]),
    ),
    `Conditions: ${machine.cores} cores of ${machine.cpu}, ${machine.memoryGiB} GiB, Node ` +
      `${machine.node}; rows measured up to revision \`${revision.slice(0, 12)}\`; again with ` +
      "`make bench BENCH='shard/*'`.",
  ].join('\n\n');
}
