// The authorisation matrix: which role may call which method, and which id must match.
// Static and complete: a method without a row is denied, so a new RPC cannot ship ungated.
//
// Matching is strict, not hierarchical: admin is no shard and no cluster. The rows where
// admin and readonly stand together are the whole of "admin includes readonly".
//
// In plaintext every identity check is skipped on purpose: identity is only as strong as
// the transport. Which mode applies is what the process was configured with, never what a
// connection looks like.

import type { Message } from '@bufbuild/protobuf';
import type {
  ConfigureRequest,
  CreateRequest,
  DeleteRequest,
  DrainRequest,
} from '../gen/bigfleet/v1alpha1/provider_pb.ts';
import type { ShardReport } from '../gen/bigfleet/v1alpha1/coordinator_pb.ts';
import type { OperatorMessage } from '../gen/bigfleet/v1alpha1/shard_pb.ts';
import { RpcError } from '../transport/status.ts';
import type { CallContext } from '../transport/transport.ts';
import { sanOf } from '../identity/certificate.ts';
import type { PeerIdentity, Role } from '../identity/identity.ts';

interface Row {
  readonly roles: readonly Role[];
  /** The id that the request claims for the caller; undefined when it claims none. */
  readonly claimedId?: (request: Message) => string | undefined;
}

const everyone: Row = { roles: ['cluster', 'shard', 'admin', 'readonly'] };
const readers: Row = { roles: ['admin', 'readonly'] };
const admins: Row = { roles: ['admin'] };
const providerReaders: Row = { roles: ['shard', 'admin', 'readonly'] };

const mutatingShard: Row = {
  roles: ['shard'],
  claimedId: (request) =>
    (request as CreateRequest | ConfigureRequest | DrainRequest | DeleteRequest).shardId,
};
/** No id is a malformed request, not an impostor: the handler says what is missing (coordinator §4.1). */
const reportingShard: Row = {
  roles: ['shard'],
  claimedId: (request) => (request as ShardReport).shardId || undefined,
};
/**
 * Only Hello claims an id; the session handler binds every later frame to it, and refuses a Hello
 * without one.
 */
const sessionCluster: Row = {
  roles: ['cluster'],
  claimedId: (request) => {
    const { payload } = request as OperatorMessage;
    return (payload.case === 'hello' && payload.value.clusterId) || undefined;
  },
};

function rows(service: string, row: Row, methods: readonly string[]): [string, Row][] {
  return methods.map((method) => [`/${service}/${method}`, row]);
}

const matrix: ReadonlyMap<string, Row> = new Map([
  ...rows('bigfleet.v1alpha1.Shard', sessionCluster, ['Session']),
  ...rows('bigfleet.v1alpha1.ShardRead', readers, ['InspectNeeds']),
  ...rows('bigfleet.ext.v1alpha1.ShardQuery', readers, [
    'GetShardStatus',
    'ListMachines',
    'ListShortfalls',
    'ListSessions',
    'Watch',
    'ListRecords',
    'Explain',
    'ListBrakes',
  ]),
  ...rows('bigfleet.ext.v1alpha1.ShardAdmin', admins, [
    'SetActuation',
    'ForgetCluster',
    'ClearBrakes',
  ]),
  ...rows('bigfleet.v1alpha1.Coordinator', reportingShard, ['ReportShard']),
  ...rows('bigfleet.v1alpha1.Coordinator', admins, [
    'AssignDomain',
    'UnassignDomain',
    'RemoveShard',
    'JoinRaftCluster',
    'SnapshotSave',
  ]),
  ...rows('bigfleet.v1alpha1.Coordinator', readers, [
    'ListShards',
    'ListDomainAssignments',
    'ListQuotas',
    'ListProviders',
    'ListShardReports',
  ]),
  ...rows('bigfleet.ext.v1alpha1.CoordinatorAdmin', admins, [
    'SetQuota',
    'RegisterProvider',
    'DeregisterProvider',
    'BindCluster',
    'UnbindCluster',
  ]),
  ...rows('bigfleet.ext.v1alpha1.CoordinatorAdmin', readers, [
    'ListClusterBindings',
    'ListTransfers',
    'GetStatus',
  ]),
  ...rows('bigfleet.v1alpha1.CapacityProvider', mutatingShard, [
    'Create',
    'Configure',
    'Drain',
    'Delete',
  ]),
  ...rows('bigfleet.v1alpha1.CapacityProvider', providerReaders, ['Get', 'List']),
  ...rows('bigfleet.ext.v1alpha1.ProviderAdmin', admins, ['ResetFailed']),
  ...rows('grpc.health.v1.Health', everyone, ['Check', 'Watch']),
  ...rows('grpc.reflection.v1.ServerReflection', everyone, ['ServerReflectionInfo']),
]);

/** The paths that have a row, for the test that every served method has one. */
export function gatedPaths(): readonly string[] {
  return [...matrix.keys()];
}

export interface Denial {
  readonly path: string;
  /** The id that the request claimed, if it claimed one. */
  readonly assertedId: string | undefined;
  readonly presented: string;
  readonly peerAddress: string;
}

export interface AuthorisationOptions {
  /** What the process was configured with. Under mTLS, no verified identity means refused. */
  readonly transport: 'plaintext' | 'mtls';
  /** A denial is a security event: count it and log it. */
  readonly onDenied?: (denial: Denial) => void;
}

/** The gate that every BigFleet server uses. */
export function createGate({ transport, onDenied }: AuthorisationOptions): Gate {
  const deny = (call: CallContext, required: string, assertedId?: string): RpcError => {
    const presented = describe(call.peer.identity);
    onDenied?.({ path: call.path, assertedId, presented, peerAddress: call.peer.address });
    const text = `identity_denied: ${call.path} needs ${required}; presented ${presented}`;
    return new RpcError('PERMISSION_DENIED', text);
  };

  return {
    admit(call) {
      const row = matrix.get(call.path);
      if (row === undefined) {
        const text = `method_not_in_table: ${call.path} has no row in the authorisation matrix`;
        return new RpcError('PERMISSION_DENIED', text);
      }
      if (isExempt(transport, call)) return undefined;
      const { identity } = call.peer;
      if (identity.kind === 'verified' && row.roles.includes(identity.role)) return undefined;
      return deny(call, row.roles.join(' or '));
    },

    bind(call, request) {
      const claimed = matrix.get(call.path)?.claimedId?.(request);
      if (claimed === undefined || isExempt(transport, call)) return undefined;
      const refused = requireId(call.peer.identity, claimed);
      return refused === undefined ? undefined : deny(call, refused, claimed);
    },
  };
}

/** Undefined when the verified identity carries this id, else the SAN that was required. */
function requireId(identity: PeerIdentity, id: string): string | undefined {
  if (identity.kind !== 'verified') return 'a verified identity';
  return identity.id === id ? undefined : sanOf(identity.role, id);
}

/** A Unix socket is guarded by its file mode, even when the process has TLS files. */
function isExempt(transport: 'plaintext' | 'mtls', call: CallContext): boolean {
  if (call.peer.identity.kind !== 'unverified') return false;
  return transport === 'plaintext' || call.peer.address.startsWith('unix:');
}

/** Names the SAN at most; never more of a certificate. */
function describe(identity: PeerIdentity): string {
  switch (identity.kind) {
    case 'verified':
      return identity.san;
    case 'unverified':
      return 'no verified certificate';
    case 'unusable':
      return `${identity.reason} [${identity.presented.map((san) => JSON.stringify(san)).join(' ')}]`;
  }
}

/**
 * What the router asks of authorisation. The matrix behind it is security §3; a simulator without identities may use `openGate`.
 */
export interface Gate {
  /** May this peer call this method at all? Before anything is decoded. */
  admit(call: CallContext): RpcError | undefined;
  /** Does the peer's id match the one that the request claims? After decoding. */
  bind(call: CallContext, request: Message): RpcError | undefined;
}

/** Admits everything, for tests of transports and services that have no row in the matrix. */
export const openGate: Gate = { admit: () => undefined, bind: () => undefined };
