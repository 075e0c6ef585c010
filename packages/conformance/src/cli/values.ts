// Readers of flag values. Each gives the value or the reason why it is none.

import { err, ok, type Result } from '@bigfleet/base';
import { parseDuration } from '@bigfleet/process/flags';
import { isProfile, PROFILES, type Profile } from '../catalogue/behaviour.ts';
import { findBehaviour } from '../catalogue/catalogue.ts';

/** `8s`, `1m30s`, `500ms`. */
export function readDurationMs(text: string): Result<number, string> {
  const parsed = parseDuration(text);
  return parsed.ok ? parsed : err(`${JSON.stringify(text)} is no duration such as 8s or 1m30s`);
}

export function readCount(text: string, max: number): Result<number, string> {
  const value = Number(text);
  const isCount = /^\d+$/.test(text) && value >= 1 && value <= max;
  return isCount ? ok(value) : err(`${JSON.stringify(text)} is no whole number from 1 to ${max}`);
}

export function readFactor(text: string): Result<number, string> {
  const value = Number(text);
  const isFactor = /^\d+(?:\.\d+)?$/.test(text) && value > 0 && value <= 1_000;
  return isFactor ? ok(value) : err(`${JSON.stringify(text)} is no factor above 0 and up to 1000`);
}

export function readProfiles(text: string): Result<readonly Profile[], string> {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !isProfile(name));
  if (unknown !== undefined) {
    return err(`unknown profile ${JSON.stringify(unknown)}: ${PROFILES.join(' ')}`);
  }
  return ok([...new Set(names.filter(isProfile))]);
}

export function readIds(text: string): Result<ReadonlySet<string>, string> {
  const ids = text.split(',').map((id) => id.trim());
  const unknown = ids.find((id) => findBehaviour(id) === undefined);
  if (unknown !== undefined) return err(`unknown behaviour ${JSON.stringify(unknown)}: see -list`);
  return ok(new Set(ids));
}

/** `host:port`, `[::1]:port`, `unix:/path`: what a client can dial. */
export function readTarget(text: string): Result<string, string> {
  const tcp = /^(?:\[[0-9A-Fa-f:.]+(?:%[\w.-]+)?\]|[^\s:[\]/]+):(\d{1,5})$/.exec(text);
  const port = Number(tcp?.[1]);
  if (tcp !== null && port >= 1 && port <= 65_535) return ok(text);
  if (/^unix:[^\0]+$/.test(text)) return ok(text);
  return err(`${JSON.stringify(text)} is no target: write host:port, [::1]:port or unix:/path`);
}
