// What tests of other packages and the simulator use: the engine in memory, with faults, and the
// suite that every engine passes.

export {
  type BehaviourOptions,
  storeBehaviour,
  type StoreStage,
} from './behaviour.ts';
export { MemoryDisk } from './memory-disk.ts';
export { type CommitFault, MemoryStore, type MemoryStoreOptions } from './memory-store.ts';
