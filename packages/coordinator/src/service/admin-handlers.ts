// Changing the fleet state by hand: check the arguments, do it, write the audit line. The operations
// themselves are in registry/. A success that wrote nothing is read from memory, so it is confirmed
// like a read: a deposed leader must not say "already so".

import type { Logger } from '@bigfleet/telemetry';
import {
  type CallContext,
  type Coordinator,
  type CoordinatorAdmin,
  type Handlers,
  toMap,
} from '@bigfleet/wire';
import { callerLedger } from '../ledger/ledger.ts';
import { type Outcome, outcomeOf, refused } from '../ledger/outcome.ts';
import { assignDomain, unassignDomain } from '../registry/domains.ts';
import { settleDispute } from '../registry/settle-dispute.ts';
import { deregisterProvider, registerProvider, setQuota } from '../registry/providers.ts';
import { removeShard } from '../registry/remove-shard.ts';
import type { LeaderTerm } from '../replica/leader-term.ts';
import { failure } from './leader-gate.ts';
import type { ServiceParts } from './router.ts';

type CoordinatorMethod = 'assignDomain' | 'unassignDomain' | 'removeShard';
type AdminMethod =
  | 'setQuota'
  | 'registerProvider'
  | 'deregisterProvider'
  | 'bindCluster'
  | 'unbindCluster';

export function adminHandlers(
  options: ServiceParts,
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
  options: ServiceParts,
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
    // Bindings normally come from reports (coordinator §7.3); these two are for the deliberate
    // rebind and for a cluster that is gone.
    bindCluster: ({ clusterId: cluster, shardId: shard, force }, call) => {
      const given = { cluster, shard, force };
      return change(options, call, given, required({ cluster, shard }), async ({ ledger }) =>
        outcomeOf(await ledger.apply({ kind: 'BindCluster', ...given })),
      );
    },
    unbindCluster: ({ clusterId: cluster }, call) =>
      change(options, call, { cluster }, required({ cluster }), async ({ ledger }) =>
        outcomeOf(await ledger.apply({ kind: 'UnbindCluster', cluster })),
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
  { gate, logger }: ServiceParts,
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

type AuditArguments = Readonly<Record<string, string | number | boolean>>;

interface AuditEntry {
  readonly call: CallContext;
  readonly arguments: AuditArguments;
  readonly outcome: Outcome;
  readonly term: bigint;
}

/**
 * One structured line per mutating call (security §6): caller, peer, arguments, outcome, term, index.
 * It is the change log that a restore is repaired from by hand, so refusals are in it too. Identity
 * is the SAN at most; arguments hold names and numbers, no secrets.
 */
export function writeAudit(logger: Logger, { call, outcome, term, ...entry }: AuditEntry): void {
  const { identity, address } = call.peer;
  logger.info('admin call', {
    rpc: call.path,
    identity: identity.kind === 'verified' ? identity.san : 'unauthenticated',
    peer: address,
    arguments: JSON.stringify(entry.arguments),
    outcome: outcome.kind === 'done' ? 'ok' : `${outcome.status}: ${outcome.message}`,
    term: String(term),
    index: outcome.kind === 'done' ? (outcome.index ?? 'unchanged') : 'none',
  });
}
