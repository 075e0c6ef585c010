// Branded ids: a cluster id cannot be passed where a shard id belongs. Cluster and shard ids
// follow the grammar of the certificate identity (security §2) and are refused where they enter,
// with or without TLS, so that turning TLS on later cannot strand a cluster. Machine ids belong
// to the provider and are opaque: compared byte for byte, never interpreted.

import { err, ok, type Result } from './result.ts';

declare const brand: unique symbol;

export type Brand<Name extends string> = { readonly [brand]: Name };

export type ClusterId = string & Brand<'ClusterId'>;
export type ShardId = string & Brand<'ShardId'>;

export const MAX_ID_LENGTH = 253;

export interface IdError {
  readonly code: 'id_malformed';
  /** What was wrong, for the person who chose the id. */
  readonly problem: string;
}

export function parseClusterId(text: string): Result<ClusterId, IdError> {
  const problem = idProblem(text);
  return problem === undefined ? ok(text as ClusterId) : err({ code: 'id_malformed', problem });
}

export function parseShardId(text: string): Result<ShardId, IdError> {
  const problem = idProblem(text);
  return problem === undefined ? ok(text as ShardId) : err({ code: 'id_malformed', problem });
}

function idProblem(text: string): string | undefined {
  if (text === '') return 'the id is empty';
  if (text.length > MAX_ID_LENGTH) return `the id is longer than ${MAX_ID_LENGTH} characters`;
  for (let i = 0; i < text.length; i++) {
    if (!isIdCode(text.charCodeAt(i))) return `character ${i + 1} of the id is not allowed`;
  }
  return undefined;
}

/** ALPHA / DIGIT / "-" / "_" / "." — ASCII only, without case folding. */
function isIdCode(code: number): boolean {
  const isDigit = code >= 0x30 && code <= 0x39;
  const isUpper = code >= 0x41 && code <= 0x5a;
  const isLower = code >= 0x61 && code <= 0x7a;
  return isDigit || isUpper || isLower || code === 0x2d || code === 0x5f || code === 0x2e;
}
