// One Kubernetes cluster of the demo: the test API server on a port of its own, with stand-ins for the
// scheduler and for the parts of the controller manager that the demo's objects need. Nodes join it
// from outside, as they do everywhere.

import { BigFleetError, priorityClassOf, type Runtime } from '@bigfleet/base';
import {
  describeRefusal,
  KubeClient,
  type NamedBody,
  type Resource,
  WriteLanes,
} from '@bigfleet/kube';
import { ApiServer, InMemoryTransport, listen, StandInScheduler } from '@bigfleet/kube/testing';
import { PRIORITY_CLASS_VALUES } from '../clusters/deployment.ts';
import { yours } from '../clusters/yours.ts';
import { installDefinitions } from '../kube/definitions.ts';
import { DEPLOYMENTS, PRIORITY_CLASSES } from '../kube/resources.ts';
import { Deployments } from './deployments.ts';
import { collectPods } from './pod-collector.ts';

export interface ControlPlaneOptions {
  readonly runtime: Runtime;
  readonly port: number;
  readonly signal: AbortSignal;
  readonly onProblem: (problem: string) => void;
}

/** Changes that a watch can resume from: minutes of the demo, and a bounded memory. */
const LOG_LIMIT = 10_000;
/** Controllers of the control plane are not what the demo shows; they never wait for a budget. */
const QPS = 5_000;

/** Listens when this resolves, with everything installed; the second promise ends after the signal. */
export async function startControlPlane(
  options: ControlPlaneOptions,
): Promise<{ readonly ended: Promise<void> }> {
  const { runtime, port, signal, onProblem } = options;
  const server = new ApiServer({ runtime, logLimit: LOG_LIMIT });
  const client = (name: string): KubeClient =>
    new KubeClient({
      runtime,
      transport: new InMemoryTransport({ runtime, server }),
      lanes: new WriteLanes({ runtime, qps: QPS, burst: QPS }),
      fieldManager: name,
    });
  const administrator = client('demo');
  await installDefinitions(runtime, administrator, signal);
  for (const value of PRIORITY_CLASS_VALUES) {
    const metadata = { name: priorityClassOf(value) };
    await create(administrator, PRIORITY_CLASSES, { metadata, value }, signal);
  }
  await create(administrator, DEPLOYMENTS, yours, signal);
  const manager = { runtime, signal, onProblem, client: client('controller-manager') };
  const scheduler = new StandInScheduler({
    runtime,
    signal,
    onProblem,
    client: client('scheduler'),
  });
  const controllers = [new Deployments(manager).run(), collectPods(manager), scheduler.run()];
  const listening = await listen({ server, port });
  const ended = Promise.all(controllers).then(async () => {
    server.stop();
    await listening.close();
  });
  return { ended };
}

async function create(
  client: KubeClient,
  resource: Resource,
  body: NamedBody,
  signal: AbortSignal,
): Promise<void> {
  const answer = await client.create(resource, body, { lane: 'demand', signal });
  if (answer.kind === 'ok') return;
  throw new BigFleetError('kube_refused', `${resource.kind}: ${describeRefusal(answer)}`);
}
