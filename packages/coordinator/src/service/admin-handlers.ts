// Changing the fleet state by hand: check the arguments, do it, write the audit line. The operations
// themselves are in registry/. A success that wrote nothing is read from memory, so it is confirmed
// like a read: a deposed leader must not say "already so".

import type { Runtime } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import {
  type CallContext,
  type Coordinator,
  type CoordinatorAdmin,
  type Handlers,
  toMap,
} from '@bigfleet/wire';
import { callerLedger } from '../ledger/caller-ledger.ts';
import { bindCluster, unbindCluster } from '../registry/clusters.ts';
import { assignDomain, unassignDomain } from '../registry/domains.ts';
import { settleDispute } from '../registry/settle-dispute.ts';
import type { Outcome } from '../ledger/outcome.ts';
import { refused } from '../ledger/outcome.ts';
import { deregisterProvider, registerProvider } from '../registry/providers.ts';
import { setQuota } from '../registry/quotas.ts';
import { removeShard } from '../registry/remove-shard.ts';
import type { LeaderTerm } from '../replica/leader-term.ts';
import { type AuditArguments, writeAudit } from './audit.ts';
import { failure } from './failure.ts';
import type { LeaderGate } from './leader-gate.ts';

export interface AdminOptions {
  readonly gate: LeaderGate;
  readonly runtime: Pick<Runtime, 'clock'>;
  readonly logger: Logger;
}

type CoordinatorMethod = 'assignDomain' | 'unassignDomain' | 'removeShard';
type AdminMethod =
  | 'setQuota'
  | 'registerProvider'
  | 'deregisterProvider'
  | 'bindCluster'
  | 'unbindCluster';

export function adminHandlers(
  options: AdminOptions,
): Pick<Handlers<typeof Coordinator>, CoordinatorMethod> {
  const { clock } = options.runtime;
  return {
    assignDomain: ({ topologyKey: key, topologyValue: value, shardId, disputedSubject }, call) =>
      disputedSubject === ''
        ? change(
            options,
            call,
            { key, value, shard: shardId },
            required({ value, shardId }),
            (at) => assignDomain(operations(at), { key, value }, shardId),
          )
        : change(options, call, { disputedSubject, shard: shardId }, required({ shardId }), (at) =>
            settleDispute(operations(at), disputedSubject, shardId),
          ),
    unassignDomain: ({ topologyKey: key, topologyValue: value }, call) =>
      change(options, call, { key, value }, required({ key, value }), (at) =>
        unassignDomain(operations(at), { key, value }),
      ),
    removeShard: ({ shardId, force }, call) =>
      change(options, call, { shard: shardId, force }, required({ shardId }), ({ ledger, desk }) =>
        removeShard(
          {
            ledger,
            soft: desk.soft,
            recovery: desk.recovery,
            nowMs: () => clock.monotonicMs(),
            onRemoved: (id) => desk.forgetShard(id),
          },
          shardId,
          force,
        ),
      ),
  };
}

export function registryHandlers(
  options: AdminOptions,
): Pick<Handlers<typeof CoordinatorAdmin>, AdminMethod> {
  return {
    setQuota: ({ provider, region, perShard }, call) => {
      const slices = toMap(perShard);
      const given = { provider, region, per_shard: JSON.stringify([...slices]) };
      return change(options, call, given, required({ provider, region }), ({ ledger }) =>
        setQuota(ledger, { provider, region, perShard: slices }),
      );
    },
    registerProvider: ({ provider: entry }, call) => {
      const { name = '', address = '', region = '', declaredQuota = 0, shards = [] } = entry ?? {};
      const row = { name, address, region, declaredQuota, shards };
      const given = { name, address, region, declared_quota: declaredQuota, shards: shards.join() };
      return change(options, call, given, required({ name, address, region }), (at) =>
        registerProvider(operations(at), row),
      );
    },
    deregisterProvider: ({ name, force }, call) =>
      change(options, call, { name, force }, required({ name }), (at) =>
        deregisterProvider(operations(at), name, force),
      ),
    bindCluster: ({ clusterId: cluster, shardId: shard, force }, call) =>
      change(options, call, { cluster, shard, force }, required({ cluster, shard }), ({ ledger }) =>
        bindCluster(ledger, { cluster, shard, force }),
      ),
    unbindCluster: ({ clusterId: cluster }, call) =>
      change(options, call, { cluster }, required({ cluster }), ({ ledger }) =>
        unbindCluster(ledger, cluster),
      ),
  };
}

function operations({ ledger, desk }: LeaderTerm): Pick<LeaderTerm, 'ledger'> & LeaderTerm['desk'] {
  return { ...desk, ledger };
}

/** The first missing argument, as a refusal. */
function required(given: Readonly<Record<string, string>>): Outcome | undefined {
  const missing = Object.entries(given).find(([, value]) => value === '')?.[0];
  return missing === undefined
    ? undefined
    : refused('INVALID_ARGUMENT', `coordinator: ${missing} is required`);
}

async function change(
  { gate, logger }: AdminOptions,
  call: CallContext,
  given: AuditArguments,
  problem: Outcome | undefined,
  operate: (leader: LeaderTerm) => Promise<Outcome>,
): Promise<Record<never, never>> {
  const leader = gate.leading();
  const ledger = callerLedger(leader.ledger, call.signal);
  const outcome = problem ?? (await operate({ ...leader, ledger }));
  writeAudit(logger, { call, arguments: given, outcome, term: leader.ledger.term });
  if (outcome.kind === 'refused') throw failure(gate, outcome);
  if (outcome.index === undefined) await gate.confirm(leader);
  return {};
}
