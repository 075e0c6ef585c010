// What tests of other packages and the simulator use: the engine in memory, with faults, and the
// suite that every engine passes.

export { storeBehaviour } from './behaviour.ts';
export { MemoryDisk } from './memory-disk.ts';
export { MemoryStore } from './memory-store.ts';
