// The network adapter's public face.

export type { GrpcChannelOptions } from './channel.ts';
export { createGrpcChannel } from './channel.ts';
export type { Keepalive, KeepalivePreset } from './keepalive.ts';
export { maxMessageBytes } from './limits.ts';
export type { GrpcServer, GrpcServerOptions, ServerErrorReport } from './server.ts';
export { createGrpcServer } from './server.ts';
