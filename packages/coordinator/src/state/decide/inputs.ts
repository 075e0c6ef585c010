// Checks of single values in commands. Each answers with the problem as a sentence for the person
// who sent it, or undefined. Ids of shards and clusters follow the grammar of certificates
// (security §2); names and machine ids are opaque but must be storable.

import { parseClusterId, parseShardId } from '@bigfleet/base';
import type { Domain } from '../rows.ts';

const INT32_MAX = 2 ** 31 - 1;
const INT64_MAX = 2n ** 63n - 1n;
const MAX_TEXT_LENGTH = 1_024;
const MAX_PORT = 65_535;
const HOST_PORT = /^(?<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):(?<port>[0-9]{1,5})$/;
const UNIX_PATH = /^unix:\/[^?\s]+$/;

export function shardIdProblem(id: string): string | undefined {
  const parsed = parseShardId(id);
  return parsed.ok ? undefined : `shard id ${JSON.stringify(id)}: ${parsed.error.problem}`;
}

export function clusterIdProblem(id: string): string | undefined {
  const parsed = parseClusterId(id);
  return parsed.ok ? undefined : `cluster id ${JSON.stringify(id)}: ${parsed.error.problem}`;
}

/** A name that becomes part of a key: not empty, not endless, encodable. */
export function nameProblem(what: string, name: string): string | undefined {
  if (name === '') return `${what} is empty`;
  return textProblem(what, name);
}

export function textProblem(what: string, value: string): string | undefined {
  if (value.length > MAX_TEXT_LENGTH) return `${what} is longer than ${MAX_TEXT_LENGTH} characters`;
  if (!value.isWellFormed()) return `${what} is not well-formed Unicode`;
  return undefined;
}

export function domainProblem(domain: Domain): string | undefined {
  return nameProblem('topology key', domain.key) ?? nameProblem('topology value', domain.value);
}

/** A wire int32 of 0 or more. */
export function countProblem(what: string, value: number): string | undefined {
  if (Number.isSafeInteger(value) && value >= 0 && value <= INT32_MAX) return undefined;
  return `${what} ${value} is not between 0 and ${INT32_MAX}`;
}

export function epochProblem(epoch: bigint): string | undefined {
  return epoch >= 0n && epoch <= INT64_MAX ? undefined : `shard epoch ${epoch} is no epoch`;
}

/** Unix milliseconds: stamped by the leader, but a snapshot can hold anything. */
export function timeProblem(what: string, ms: number): string | undefined {
  return Number.isSafeInteger(ms) && ms >= 0 ? undefined : `${what} ${ms} is no time`;
}

/** `host:port` or `unix:/path`; user-info or a query could carry a credential and is refused. */
export function addressProblem(address: string): string | undefined {
  const tooLong = textProblem('address', address);
  if (tooLong !== undefined) return tooLong;
  if (UNIX_PATH.test(address)) return undefined;
  const port = Number(HOST_PORT.exec(address)?.groups?.['port'] ?? 0);
  if (port >= 1 && port <= MAX_PORT) return undefined;
  return `address ${JSON.stringify(address)} is neither host:port nor unix:/path`;
}
