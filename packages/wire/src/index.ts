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
export {
  checkFence,
  type FenceMark,
  type FenceVerdict,
  type FencingToken,
  isAbsentToken,
  negativeToken,
  TermMark,
  type TermVerdict,
  TokenSource,
} from './fencing/fence.ts';
export { createGrpcChannel, type GrpcChannelOptions } from './grpc/channel.ts';
export { type Keepalive, type KeepalivePreset, maxMessageBytes } from './grpc/limits.ts';
export {
  createGrpcServer,
  type GrpcServer,
  type GrpcServerOptions,
  type ServerErrorReport,
} from './grpc/server.ts';
export { HealthRegistry, type HealthStatus } from './health/health.ts';
export {
  type AuthorisationOptions,
  createGate,
  type Denial,
  type Gate,
  openGate,
} from './rpc/authorisation.ts';
export { identityOfCertificate, parseIdentity, sanOf } from './identity/certificate.ts';
export type { Peer, PeerIdentity, Role, VerifiedIdentity } from './identity/identity.ts';
export { entriesSorted, fromMap, getOwn, toMap, type WireMap } from './maps.ts';
export { type Client, createClient } from './rpc/client.ts';
export {
  type Handler,
  type Handlers,
  type RawStream,
  rawStream,
  type RawUnary,
  rawUnary,
} from './rpc/handlers.ts';
export { Router, type RouterOptions } from './rpc/router.ts';
export { reflectionHandlers } from './reflection/reflection.ts';
export {
  type FailureCode,
  type Metadata,
  noMetadata,
  RpcError,
  type RpcErrorOptions,
  type StatusCode,
  statusName,
  statusNumber,
} from './transport/status.ts';
export type {
  ByteMethod,
  ByteRouter,
  CallContext,
  CallOptions,
  Channel,
} from './transport/transport.ts';
export { isTlsRequired, type TlsFlags, tlsFromFlags } from './tls/flags.ts';
export { TlsMaterial, type TlsMode } from './tls/material.ts';
export { startTlsReload, type TlsReload, type TlsReloadOptions } from './tls/reload.ts';
export type { ServerIdentityRule } from './tls/server-identity.ts';
