// What each of the five does, where to watch it and how it ends. Workloads are changed through the API
// server of a cluster, as their owners would; zones, prices and shards through the demo's own socket.

import { readFileSync } from 'node:fs';
import { BigFleetError, type Runtime, runWithDeadline } from '@bigfleet/base';
import { type ApiAnswer, describeRefusal, type KubeClient, type NamedBody } from '@bigfleet/kube';
import { parseYaml } from '@bigfleet/process';
import { formatDuration } from '@bigfleet/process/flags';
import { REVIVED_AFTER_MS } from '../children/revived-child.ts';
import { YOURS } from '../clusters/yours.ts';
import { callCommand, type Fields } from '../control/commands.ts';
import { demoSocket, type RunningDemo } from '../control/running-demo.ts';
import { kubeconfigOf } from '../kube/cluster-addresses.ts';
import { connect } from '../kube/connect.ts';
import { DEPLOYMENTS, NAMESPACE } from '../kube/resources.ts';
import { CLUSTER_PLACES, type ClusterName } from '../places.ts';
import type { Trial } from '../view/try.ts';
import type { TrialOptions } from './options.ts';

export interface TrialInput {
  readonly runtime: Runtime;
  readonly demo: RunningDemo;
  readonly options: TrialOptions;
}

export interface Told {
  readonly did: string;
  /** Pages of the dashboard, each with what is seen there. */
  readonly watch: readonly (readonly [url: string, what: string])[];
  readonly ends: string;
}

const DEFAULT_PODS = 20;
const DEFAULT_ZONE_FOR_MS = 30_000;
const DEFAULT_SPOT_FOR_MS = 60_000;
const DEFAULT_FACTOR = 5;
const GANG_FILE = new URL('../../try/gang.yaml', import.meta.url);
/** An API server of the demo answers at once or not at all. */
const WRITE_WITHIN_MS = 10_000;

export const trials: Readonly<Record<Trial, (input: TrialInput) => Promise<Told>>> = {
  scale,
  zone: loseZone,
  spot: spikeSpot,
  shard: killShard,
  gang: submitGang,
};

async function scale({ runtime, demo, options }: TrialInput): Promise<Told> {
  const replicas = options.count ?? DEFAULT_PODS;
  const cluster = firstCluster(demo);
  await writing(runtime, demo, cluster, (client, signal) =>
    client.mergePatch(
      DEPLOYMENTS,
      { namespace: NAMESPACE, name: YOURS },
      { lane: 'demand', signal, patch: { spec: { replicas } } },
    ),
  );
  const did = `Deployment ${YOURS} of ${cluster} has ${replicas} Pods now`;
  await tellDemo(demo, 'scale', did);
  return {
    did: `${did}, two to a machine of type m7i.xlarge.`,
    watch: [
      page(demo, 'needs', { cluster }, 'a need that is unmet, and met some seconds later'),
      page(demo, 'decisions', { cluster }, 'Provision and Bootstrap, or Reclaim when it shrinks'),
      page(demo, 'machines', { cluster, q: 'm7i.xlarge' }, 'the machines that come for it'),
    ],
    ends: replicas === 0 ? 'its machines drain and go by themselves.' : 'make try-scale N=0',
  };
}

async function loseZone({ demo, options }: TrialInput): Promise<Told> {
  const zone = options.zone ?? zoneWithNeighbour(demo);
  const forMs = options.forMs ?? DEFAULT_ZONE_FOR_MS;
  const { lostCount } = await command(demo, 'lose-zone', { zone, forMs });
  const shard = demo.zones[zone] ?? '';
  const others = Object.keys(demo.zones).filter(
    (other) => other !== zone && demo.zones[other] === shard,
  );
  const where =
    others.length === 0
      ? `${shard} has no other zone: its needs stay unmet until then`
      : `${shard} buys in ${others.join(' and ')} instead`;
  return {
    did: `${zone} lost its power: ${String(lostCount)} machines are gone, and nothing is sold there.`,
    watch: [
      page(demo, 'map', {}, `${zone} turns Failed, then empty; the neighbours fill`),
      page(demo, 'triage', {}, 'needs that are short, until replacements serve'),
      page(demo, 'decisions', { kind: 'Provision' }, where),
    ],
    ends: `by itself after ${formatDuration(forMs)}: ${zone} comes back, empty.`,
  };
}

async function spikeSpot({ demo, options }: TrialInput): Promise<Told> {
  const factor = options.factor ?? DEFAULT_FACTOR;
  const forMs = options.forMs ?? DEFAULT_SPOT_FOR_MS;
  const { refreshedCount } = await command(demo, 'spike-spot', { factor, forMs });
  return {
    did: `Spot machines cost ${factor} times as much: ${String(refreshedCount)} prices changed.`,
    watch: [
      page(demo, '', {}, 'dollars per hour'),
      page(demo, 'cost', { capacity: 'Spot' }, 'spot machines move right, past the others'),
      page(demo, 'decisions', { kind: 'Provision' }, 'what is bought now is OnDemand or Reserved'),
    ],
    ends: `by itself after ${formatDuration(forMs)}. Nobody is moved for the price alone.`,
  };
}

async function killShard({ demo, options }: TrialInput): Promise<Told> {
  const shard = options.shard ?? demo.shards.at(-1) ?? '';
  const { pid } = await command(demo, 'kill-shard', { shard });
  const seconds = REVIVED_AFTER_MS / 1_000;
  return {
    did: `${shard} (process ${String(pid)}) was killed with SIGKILL.`,
    watch: [
      page(demo, 'shards', {}, `${shard} goes stale, and comes back with the next epoch`),
      page(demo, 'clusters', {}, 'its clusters are disconnected; their Pods run on'),
      page(demo, 'map', { shard }, 'machines stay as they were: nobody drains anything'),
    ],
    ends: `by itself: it starts again after ${seconds} s with its data directory.`,
  };
}

async function submitGang({ runtime, demo, options }: TrialInput): Promise<Told> {
  const cluster = demo.clusters.find((name) => CLUSTER_PLACES[name].taste === 'train');
  const target = cluster ?? firstCluster(demo);
  const gang = gangOf();
  const replicas = options.count ?? gang.spec.replicas;
  const { name } = gang.metadata;
  const at = { namespace: NAMESPACE, name };
  await writing(runtime, demo, target, async (client, signal) => {
    const how = { lane: 'demand', signal } as const;
    if (replicas === 0) return await client.delete(DEPLOYMENTS, at, how);
    const body = { ...gang, spec: { ...gang.spec, replicas } };
    const created = await client.create(DEPLOYMENTS, body, how);
    if (created.kind === 'ok' || created.reason !== 'AlreadyExists') return created;
    return await client.mergePatch(DEPLOYMENTS, at, { ...how, patch: { spec: { replicas } } });
  });
  const did =
    replicas === 0
      ? `Deployment ${name} of ${target} is gone`
      : `Deployment ${name} of ${target}: ${replicas} Pods of priority critical that need one rack`;
  await tellDemo(demo, 'gang', did);
  return {
    did: `${did}.`,
    watch: [
      page(demo, 'needs', { cluster: target, tier: 'critical' }, 'the gang, and its rack'),
      page(demo, 'decisions', { cluster: target }, 'as many machines in one rack, or none'),
      page(demo, 'map', { provider: 'sim-metal' }, 'the rack fills'),
    ],
    ends: replicas === 0 ? 'its rack is held: it is paid for.' : 'make try-gang N=0',
  };
}

interface Gang extends NamedBody {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly replicas: number };
}

function gangOf(): Gang {
  const parsed = parseYaml(readFileSync(GANG_FILE, 'utf8'));
  if (!parsed.ok) throw new BigFleetError('internal', `gang.yaml: ${parsed.error}`);
  return parsed.value as Gang;
}

function firstCluster({ clusters }: RunningDemo): ClusterName {
  const [first] = clusters;
  if (first === undefined) throw new BigFleetError('internal', 'the demo has no cluster');
  return first;
}

/** One whose shard can buy elsewhere. */
function zoneWithNeighbour({ zones }: RunningDemo): string {
  const names = Object.keys(zones);
  const chosen = names.find((zone) =>
    names.some((other) => other !== zone && zones[other] === zones[zone]),
  );
  return chosen ?? names[0] ?? '';
}

function page(
  { dashboardUrl }: RunningDemo,
  name: string,
  filters: Readonly<Record<string, string>>,
  what: string,
): readonly [string, string] {
  const search = new URLSearchParams(filters).toString();
  return [`${dashboardUrl}/${name}${search === '' ? '' : `?${search}`}`, what];
}

function command(demo: RunningDemo, name: string, fields: Fields): Promise<Fields> {
  return callCommand(demoSocket(demo.dir), name, fields);
}

/** So that the view says it too. */
async function tellDemo(demo: RunningDemo, what: Trial, line: string): Promise<void> {
  await command(demo, 'note', { what, line });
}

async function writing(
  runtime: Runtime,
  demo: RunningDemo,
  context: string,
  write: (client: KubeClient, signal: AbortSignal) => Promise<ApiAnswer>,
): Promise<void> {
  const kubeconfig = kubeconfigOf(demo.dir);
  const client = await connect({ runtime, kubeconfig, context, name: 'demo-try' });
  try {
    const answer = await runWithDeadline(runtime, { ms: WRITE_WITHIN_MS }, (signal) =>
      write(client, signal),
    );
    if (answer.kind === 'ok') return;
    throw new BigFleetError('kube_refused', `${context}: ${describeRefusal(answer)}`);
  } finally {
    client.transport.close();
  }
}
