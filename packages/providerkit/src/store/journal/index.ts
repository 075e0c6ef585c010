// The durable store's public face.

export { createJournalStore, type JournalStoreOptions } from './journal-store.ts';
export type { JournalLimits } from './limits.ts';
export type { CommittedBatch, JournalObserver } from './observer.ts';
