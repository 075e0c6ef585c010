// The cursor of an incremental List: which store, and up to which revision (provider-contract §9). A cursor
// of another incarnation, beyond the head, damaged or simply not ours means "full list", never an
// error: after state loss the counter restarts lower than the cursors that shards hold, and
// believing one would hide every change until the counter caught up.

import { crc32 } from 'node:zlib';

const MAX_CURSOR_BYTES = 512;
const FORM = /^bf1\.(?<incarnation>[^.]+)\.(?<revision>0|[1-9][0-9]{0,15})\.(?<check>[0-9a-f]{8})$/;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

export function encodeCursor(incarnation: string, revision: number): Uint8Array {
  const body = `bf1.${encodeURIComponent(incarnation).replaceAll('.', '%2E')}.${revision}`;
  return encoder.encode(`${body}.${checkOf(body)}`);
}

export interface CursorScope {
  readonly incarnation: string;
  /** Names this process: cursors that must not outlive it stand under this instead. */
  readonly life: string;
  readonly head: number;
}

/** The revision to list after; undefined when the cursor says nothing about this store. */
export function decodeCursor(bytes: Uint8Array, scope: CursorScope): number | undefined {
  if (bytes.length === 0 || bytes.length > MAX_CURSOR_BYTES) return undefined;
  const text = textOf(bytes);
  const revisionText = text === undefined ? undefined : FORM.exec(text)?.groups?.['revision'];
  if (revisionText === undefined) return undefined;
  const revision = Number(revisionText);
  const isOurs = [scope.incarnation, scope.life].some(
    (name) => text === decoder.decode(encodeCursor(name, revision)),
  );
  return isOurs && revision <= scope.head ? revision : undefined;
}

/** Undefined for bytes that are no text: they come from a peer, who may send anything. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

function checkOf(body: string): string {
  return crc32(body).toString(16).padStart(8, '0');
}
