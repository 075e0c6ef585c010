// The demo as a guest in somebody's cluster: what it may expect there, and what it takes away again. It
// removes only what BigFleet's processes of this run can have made: objects that were not there before,
// and of these only simulated Nodes and machines, requests of Pods, and hints.

import { BigFleetError, describeThrown, type Runtime, runWithDeadline } from '@bigfleet/base';
import {
  ANNOTATIONS,
  type ApiObject,
  AVAILABLE_CAPACITIES,
  CAPACITY_REQUESTS,
  describeRefusal,
  type KubeClient,
  LABELS,
  type Metadata,
  NODES,
  type Resource,
  UPCOMING_NODES,
} from '@bigfleet/kube';
import { isSimulated, isSimulatedNode } from '../places.ts';
import { connect } from './connect.ts';
import { installDefinitions } from './definitions.ts';

export interface GuestOptions {
  readonly runtime: Runtime;
  readonly kubeconfig: string;
  readonly tell: (line: string) => void;
}

interface Listed {
  readonly metadata: Metadata;
  readonly spec?: { readonly providerID?: string };
}

interface OwnKind {
  readonly resource: Resource;
  readonly isOwn: (object: Listed) => boolean;
}

const PAGE = 500;
const LEAVE_WITHIN_MS = 60_000;

/** Nodes first: nothing may be scheduled onto machines that are no more. */
const KINDS: readonly OwnKind[] = [
  { resource: NODES, isOwn: ({ spec }) => isSimulatedNode(spec?.providerID ?? '') },
  { resource: UPCOMING_NODES, isOwn: (object) => isSimulated(machineOf(object)) },
  { resource: AVAILABLE_CAPACITIES, isOwn: ({ metadata }) => metadata.name.startsWith('ac-') },
  {
    resource: CAPACITY_REQUESTS,
    isOwn: ({ metadata }) => metadata.labels?.[LABELS.ownedByPod] !== undefined,
  },
];

export class Guest {
  readonly #options: GuestOptions;
  readonly #client: KubeClient;
  readonly #uidsBefore: ReadonlySet<string>;

  private constructor(options: GuestOptions, client: KubeClient, uidsBefore: ReadonlySet<string>) {
    this.#options = options;
    this.#client = client;
    this.#uidsBefore = uidsBefore;
  }

  /** Throws when the cluster cannot be used; nothing was written then but definitions. */
  static async enter(options: GuestOptions, signal: AbortSignal): Promise<Guest> {
    const { runtime, kubeconfig, tell } = options;
    const client = await connect({ runtime, kubeconfig, name: 'bigfleet-demo' });
    try {
      const nodes = await listed(client, NODES, signal);
      tell(`joining the cluster of ${kubeconfig} (${nodes.length} nodes) as a fourth one`);
      tell('BigFleet’s custom resource definitions are installed there where they are missing');
      const installed = await installDefinitions(runtime, client, signal);
      for (const name of installed) {
        tell(`  installed ${name}; it stays: kubectl delete crd ${name} removes it`);
      }
      await refuseServed(client, signal);
      const before: string[] = [];
      for (const { resource } of KINDS) {
        for (const { metadata } of await listed(client, resource, signal))
          before.push(metadata.uid);
      }
      return new Guest(options, client, new Set(before));
    } catch (error) {
      client.transport.close();
      throw error;
    }
  }

  /** After everything that writes there has stopped. Never throws: what is left is told. */
  async leave(): Promise<void> {
    const { runtime, tell } = this.#options;
    try {
      await runWithDeadline(runtime, { ms: LEAVE_WITHIN_MS }, async (signal) => {
        for (const kind of KINDS) {
          const count = await this.#remove(kind, signal);
          tell(`removed ${count} ${kind.resource.plural} from the joined cluster`);
        }
      });
    } catch (error) {
      tell(`the joined cluster still holds objects of the demo: ${describeThrown(error)}`);
      tell(`  kubectl get nodes,upcomingnodes,availablecapacities,capacityrequests -A shows them`);
    } finally {
      this.#client.transport.close();
    }
  }

  async #remove({ resource, isOwn }: OwnKind, signal: AbortSignal): Promise<number> {
    const all = await listed(this.#client, resource, signal);
    const own = all.filter((one) => isOwn(one) && !this.#uidsBefore.has(one.metadata.uid));
    for (const { metadata } of own) {
      const { name, namespace = '', uid } = metadata;
      const how = { lane: 'node', signal, uid } as const;
      const answer = await this.#client.delete(resource, { namespace, name }, how);
      if (answer.kind === 'refused' && answer.status !== 404 && answer.status !== 409) {
        throw new BigFleetError('kube_refused', `${name}: ${describeRefusal(answer)}`);
      }
    }
    return own.length;
  }
}

/** Two operators would take each other's session, and this one would clear away the other's machines. */
async function refuseServed(client: KubeClient, signal: AbortSignal): Promise<void> {
  const upcoming = await listed(client, UPCOMING_NODES, signal);
  const foreign = upcoming.find((one) => !isSimulated(machineOf(one)));
  if (foreign === undefined) return;
  throw new BigFleetError(
    'unavailable',
    `the cluster is served by a BigFleet already (upcomingnode ${foreign.metadata.name}): ` +
      'the demo would disturb it; join another cluster',
  );
}

function machineOf({ metadata }: Listed): string {
  return metadata.annotations?.[ANNOTATIONS.machineId] ?? '';
}

async function listed(
  client: KubeClient,
  resource: Resource,
  signal: AbortSignal,
): Promise<readonly Listed[]> {
  const items: Listed[] = [];
  let next: string | undefined;
  do {
    const answer = await client.list(resource, { limit: PAGE, continue: next }, signal);
    if (answer.kind === 'refused') {
      const problem = `${resource.plural} of the cluster to join: ${describeRefusal(answer)}`;
      throw new BigFleetError('kube_refused', problem);
    }
    const list = answer.object as unknown as {
      readonly items: readonly ApiObject[];
      readonly metadata?: { readonly continue?: string };
    };
    items.push(...(list.items as unknown as readonly Listed[]));
    next = list.metadata?.continue || undefined;
  } while (next !== undefined);
  return items;
}
