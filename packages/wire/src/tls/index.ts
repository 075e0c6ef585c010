// TLS material and who a server must be.

export type { TlsFlags } from './flags.ts';
export { tlsFromFlags } from './flags.ts';
export type { TlsMode } from './material.ts';
export { TlsMaterial } from './material.ts';
export type { TlsReload, TlsReloadOptions } from './reload.ts';
export { startTlsReload } from './reload.ts';
export type { ServerIdentityRule } from './server-identity.ts';
