// When the operator speaks to its shard: from the first full lists of the cluster on, and with a Lease
// only while it is held. Two operators without one would replace each other's session for ever
// (kubernetes §2.1); with it the second waits, synced and ready, and dials when the first is gone.

import { hostname } from 'node:os';
import type { Runtime } from '@bigfleet/base';
import {
  type ClusterAccess,
  type FirstSync,
  type KubeClient,
  Lease,
  type LeaseHooks,
} from '@bigfleet/kube';
import type { Logger } from '@bigfleet/telemetry';
import { createGrpcChannel, type TlsMaterial } from '@bigfleet/wire';
import type { ClusterPort } from '../session/cluster-port.ts';
import type { OperatorMetrics } from '../session/metrics.ts';
import { OperatorSession } from '../session/operator-session.ts';
import type { FollowedFacts } from './cluster-facts.ts';
import { leaseAcquired, leaseFailed, leaseLost, leaseWaiting } from './log-messages.ts';
import type { OperatorSettings } from './settings.ts';

export interface SessionsOptions {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly settings: OperatorSettings;
  readonly client: KubeClient;
  readonly access: ClusterAccess;
  readonly tls: TlsMaterial | undefined;
  readonly kube: ClusterPort;
  readonly metrics: OperatorMetrics;
  readonly sync: FirstSync;
  readonly facts: FollowedFacts;
  readonly stop: AbortSignal;
}

const IDENTITY_BYTES = 5;

/** Until `stop`, with the flush of what it wrote last. Rejects only for a bug. */
export async function runSessions(options: SessionsOptions): Promise<void> {
  const { sync, facts, stop } = options;
  if (!(await sync.done(stop))) return;
  // A template that names the version must not render it empty in the first second.
  await facts.asked;
  const lease = leaseOf(options);
  if (lease === undefined) await runOne(options, stop);
  else await lease.run(stop, (held) => runOne(options, held));
}

/** One instance runs once; the next holding of the Lease gets its own. */
function runOne(options: SessionsOptions, until: AbortSignal): Promise<void> {
  const { runtime, logger, settings, tls, kube: cluster, metrics } = options;
  const { shardId, shardServerName: serverName } = settings;
  const session = new OperatorSession({
    runtime,
    clusterId: settings.clusterId,
    cluster,
    metrics,
    logger,
    dial: () =>
      createGrpcChannel({
        runtime,
        target: settings.shardAddress,
        ...(tls === undefined
          ? {}
          : {
              tls,
              serverIdentity: { kind: 'shard', ...(shardId === '' ? {} : { id: shardId }) },
            }),
        ...(serverName === '' ? {} : { serverName }),
      }),
    settings: {
      rollupIntervalMs: settings.rollupIntervalMs,
      acknowledgeConcurrency: settings.acknowledgeConcurrency,
    },
  });
  return session.run(until);
}

function leaseOf(options: SessionsOptions): Lease | undefined {
  const { runtime, settings, client, access } = options;
  if (settings.lease === undefined) return undefined;
  const { name, namespace: given, durationMs } = settings.lease;
  const namespace = given || access.namespace;
  const random = Buffer.from(runtime.entropy.bytes(IDENTITY_BYTES)).toString('hex');
  const identity = `${hostname()}_${random}`;
  const hooks = leaseHooks(options.logger, `${namespace}/${name}`, identity);
  return new Lease({ runtime, client, namespace, name, identity, durationMs, hooks });
}

function leaseHooks(logger: Logger, lease: string, identity: string): LeaseHooks {
  return {
    acquired: () => logger.event(leaseAcquired, { lease, identity }),
    waiting: (holder) => logger.event(leaseWaiting, { lease, holder }),
    lost: (err) => logger.event(leaseLost, { lease, err }),
    failed: (err) => logger.event(leaseFailed, { lease, err }),
  };
}
