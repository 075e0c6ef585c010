// A snapshot as one tar: `meta.json`, then `state`, so that a reader knows the checksum before the
// bytes. The target appears by rename, whole, or not at all.

import { open } from 'node:fs/promises';
import { OWNER_ONLY, renameDurably, type StepHook } from './files.ts';
import { encodeSnapshotMeta, META_FILE, type SnapshotMeta, STATE_FILE } from './snapshot-meta.ts';
import { spooledChunks } from './spool.ts';
import { BLOCK_BYTES, encodeTarHeader, paddingOf } from './tar-header.ts';

export interface TarOptions {
  readonly meta: SnapshotMeta;
  /** The spooled state. */
  readonly stateFile: string;
  readonly target: string;
  readonly onStep?: StepHook;
}

export async function writeSnapshotTar(options: TarOptions): Promise<void> {
  const { meta, target, onStep } = options;
  const part = `${target}.part`;
  const handle = await open(part, 'w', OWNER_ONLY);
  try {
    for await (const chunk of tarChunks(meta, options.stateFile)) await handle.writeFile(chunk);
    onStep?.('sync tar');
    await handle.sync();
  } finally {
    await handle.close();
  }
  onStep?.('rename tar');
  await renameDurably(part, target);
}

async function* tarChunks(meta: SnapshotMeta, stateFile: string): AsyncIterable<Uint8Array> {
  const json = Buffer.from(encodeSnapshotMeta(meta));
  yield encodeTarHeader({ name: META_FILE, size: json.length });
  yield json;
  yield Buffer.alloc(paddingOf(json.length));
  yield encodeTarHeader({ name: STATE_FILE, size: meta.size });
  yield* spooledChunks(stateFile);
  yield Buffer.alloc(paddingOf(meta.size) + 2 * BLOCK_BYTES);
}
