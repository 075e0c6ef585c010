// The shard: its side of the provider contract, and the whole process around it.

export * from './offline/index.ts';
export * from './ownership/index.ts';
export * from './process/index.ts';
export * from './provider/index.ts';
export * from './read/index.ts';
