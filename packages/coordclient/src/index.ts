// The shard-side client of the coordinator: the only code beside the shard that knows there is one.

export type { CoordClient, CoordClientOptions } from './coord-client.ts';
export { DEFAULT_INTERVAL_MS, startCoordClient } from './coord-client.ts';
export { resolveByDns } from './leader/endpoint.ts';
export type { Endpoint, Resolve } from './leader/endpoint.ts';
