// The profiles that a provider of this repository claims, in its own package.json:
//   "bigfleet": { "profiles": ["core", "cloud", "spot", "fault", "durable", "scale"] }
// They live there and nowhere else, so that a copy of the template is certified without an edit
// of any other file.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describeThrown, err, type Result } from '@bigfleet/base';
import type { Profile } from '../catalogue/behaviour.ts';
import { readProfiles } from './values.ts';

export function declaredProfiles(
  root: string,
  provider: string,
): Result<readonly Profile[], string> {
  const file = path.join('providers', provider, 'package.json');
  const problem = (why: string): Result<never, string> => err(`${file}: ${why}`);
  let manifest: unknown;
  try {
    manifest = JSON.parse(readFileSync(path.join(root, file), 'utf8'));
  } catch (error) {
    return problem(describeThrown(error));
  }
  const profiles = member(member(manifest, 'bigfleet'), 'profiles');
  if (!Array.isArray(profiles) || profiles.length === 0) {
    return problem('declares no "bigfleet": {"profiles": […]}');
  }
  const read = readProfiles(profiles.map(String).join(','));
  return read.ok ? read : problem(read.error);
}

function member(value: unknown, key: string): unknown {
  const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
  return isObject ? (value as Record<string, unknown>)[key] : undefined;
}
