// The services of the shard's one server, behind the identity gate. Which checks apply is what the
// process was configured with, never what a connection looks like. Every denial is a security event:
// one line, and for sessions a counter.

import { type Logger, stableMessages } from '@bigfleet/telemetry';
import {
  createGate,
  type Denial,
  Health,
  HealthRegistry,
  pathOf,
  reflectionHandlers,
  Router,
  ServerReflection,
  Shard,
  ShardAdmin,
} from '@bigfleet/wire';
import type { ForgetClusterOptions } from '../rails/forget-cluster.ts';
import { shardAdminHandlers } from '../rails/shard-admin.ts';
import type { Operators } from '../operators/operators.ts';
import { stackOf } from './log-observer.ts';
import type { ShardExtension, ShardOptions, ShardParts } from './shard-options.ts';

const SESSION_PATH = pathOf(Shard.method.session);

export interface ShardRouter {
  readonly router: Router;
  readonly extension: ShardExtension;
}

export function createRouter(
  options: ShardOptions,
  parts: ShardParts,
  forget: ForgetClusterOptions,
): ShardRouter {
  const { logger, transport, storage, settings } = options;
  const { operators, actuation, brake, core } = parts;
  const router = new Router({
    gate: createGate({
      transport: transport.mode,
      onDenied: (denial) => reportDenial(denial, operators, logger),
    }),
    onPanic: (path, error) =>
      logger.error('handler failed with a bug', { rpc: path, err: stackOf(error) }),
  });
  router
    .add(Shard, operators.handlers)
    .add(
      ShardAdmin,
      shardAdminHandlers({
        actuation,
        forget,
        brakes: { brake, wake: () => core.wake() },
        audit: storage.audit,
        logger,
        coordinatorTerm: options.coordinatorTerm ?? noCoordinator,
      }),
    )
    .add(Health, new HealthRegistry().handlers);
  const extension = options.extend?.(router, parts) ?? {};
  if (settings.hasReflection) {
    router.add(
      ServerReflection,
      reflectionHandlers(() => router.services),
    );
  }
  return { router, extension };
}

/** The term of a shard that no coordinator has spoken to. */
export function noCoordinator(): bigint {
  return 0n;
}

function reportDenial(denial: Denial, operators: Operators, logger: Logger): void {
  if (denial.path === SESSION_PATH) return operators.onRoleDenied(denial);
  const { level, text } = stableMessages.readIdentityRejected;
  logger.log(level, text, {
    rpc: denial.path,
    presented_identity: denial.presented,
    err: 'the role may not call this',
    peer: denial.peerAddress,
  });
}
