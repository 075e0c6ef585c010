// The test API server's core; `testing/index.ts` adds its two faces.

export * from './faults.ts';
export type { Obj } from './json.ts';
export type { User } from './rbac.ts';
export type { ServerRequest } from './request.ts';
export * from './server.ts';
export type { JournalEntry } from './store.ts';
