// Reading a running shard: the services, to be added to a shard by `ShardOptions.extend`.

export { ThreadedRecordsReader } from './records-thread/threaded-reader.ts';
export type { RecordScan, RecordsReader } from './records-reader.ts';
export { serveReading, type ServeReadingOptions } from './serve-reading.ts';
