// The wire: generated messages, services as plain handlers, two transports, identity,
// fencing tokens.

export * from './gen/bigfleet/ext/v1alpha1/services_pb.ts';
export * from './gen/bigfleet/ext/v1alpha1/types_pb.ts';
export * from './gen/bigfleet/v1alpha1/capacity_pb.ts';
export * from './gen/bigfleet/v1alpha1/coordinator_pb.ts';
export * from './gen/bigfleet/v1alpha1/provider_pb.ts';
export * from './gen/bigfleet/v1alpha1/shard_pb.ts';
export * from './gen/bigfleet/v1alpha1/shardread_pb.ts';
export { Health } from './gen/grpc/health/v1/health_pb.ts';
export { ServerReflection } from './gen/grpc/reflection/v1/reflection_pb.ts';

export { decode, encode, encodeInit, pathOf } from './codec.ts';
export type { FencingToken, FenceMark, FenceVerdict } from './fencing/fence.ts';
export {
  checkFence,
  isAbsentToken,
  isNewerThan,
  negativeToken,
  TokenSource,
} from './fencing/fence.ts';
export type { TermVerdict } from './fencing/term.ts';
export { TermMark } from './fencing/term.ts';
export * from './grpc/index.ts';
export type { HealthStatus } from './health/health.ts';
export { HealthRegistry } from './health/health.ts';
export type { AuthorisationOptions, Denial } from './identity/authorisation.ts';
export { createGate } from './identity/authorisation.ts';
export { parseIdentity, sanOf } from './identity/certificate.ts';
export type { Gate } from './identity/gate.ts';
export { openGate } from './identity/gate.ts';
export type { Peer, PeerIdentity, Role, VerifiedIdentity } from './identity/identity.ts';
export type { WireMap } from './maps.ts';
export { copyMap, entriesSorted, fromMap, getOwn, setOwn, toMap } from './maps.ts';
export type { Client } from './rpc/client.ts';
export { createClient } from './rpc/client.ts';
export type { Handler, Handlers, RawStream, RawUnary } from './rpc/handlers.ts';
export { rawStream, rawUnary } from './rpc/handlers.ts';
export type { RouterOptions } from './rpc/router.ts';
export { Router } from './rpc/router.ts';
export { reflectionHandlers } from './reflection/reflection.ts';
export type { FailureCode, Metadata, RpcErrorOptions, StatusCode } from './transport/status.ts';
export { noMetadata, RpcError, statusName, statusNumber } from './transport/status.ts';
export type {
  ByteMethod,
  ByteRouter,
  CallContext,
  CallOptions,
  Channel,
} from './transport/transport.ts';
export * from './tls/index.ts';
