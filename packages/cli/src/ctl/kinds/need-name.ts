// A need as people name it: `<cluster>/<need>[/<group>]`, where <need> is the fingerprint of its
// profile or the short form that tables show. A fingerprint is made of label keys and is too long to
// type; the short form is the head of a hash and is looked up where the need is.

import { createHash } from 'node:crypto';
import { err, ok, type Result } from '@bigfleet/base';

export interface NeedRef {
  readonly clusterId: string;
  readonly profileFingerprint: string;
  readonly group: string;
}

export type NeedName =
  | { readonly kind: 'exact'; readonly clusterId: string; readonly ref: NeedRef }
  | { readonly kind: 'short'; readonly clusterId: string; readonly short: string };

const SHORT_LENGTH = 8;
const SPREAD = '[^:;|]+:\\d+:\\d+';
/** The engine's layout; label keys in it hold slashes, so it is matched whole. */
const FINGERPRINT = `p=-?\\d+\\|ipb=\\d+\\|rpb=\\d+\\|reqs=[^|]*\\|spr=(?:${SPREAD}(?:;${SPREAD})*)?`;
const EXACT = new RegExp(`^([^/]+)/(${FINGERPRINT})(?:/([\\s\\S]*))?$`);
const SHORT = new RegExp(`^([^/]+)/([0-9a-f]{${SHORT_LENGTH}})$`);

export function parseNeedName(text: string): Result<NeedName, string> {
  const [, clusterId = '', profileFingerprint = '', group = ''] = EXACT.exec(text) ?? [];
  if (clusterId !== '') {
    return ok({ kind: 'exact', clusterId, ref: { clusterId, profileFingerprint, group } });
  }
  const [, cluster = '', short = ''] = SHORT.exec(text) ?? [];
  if (cluster !== '') return ok({ kind: 'short', clusterId: cluster, short });
  return err('write <cluster>/<need> as get needs shows it, or <cluster>/<fingerprint>[/<group>]');
}

/** For tables, and to be typed again. */
export function shortNeed(fingerprint: string, group: string): string {
  const hash = createHash('sha256').update(`${fingerprint}\n${group}`).digest('hex');
  return hash.slice(0, SHORT_LENGTH);
}

/** The short form of a profile, which brakes and shortfalls show, names each gang of the profile. */
export function isNamedNeed(name: NeedName, ref: NeedRef): boolean {
  const { clusterId, profileFingerprint, group } = ref;
  if (name.clusterId !== clusterId) return false;
  if (name.kind === 'short') {
    return [group, ''].some((each) => shortNeed(profileFingerprint, each) === name.short);
  }
  return name.ref.profileFingerprint === profileFingerprint && name.ref.group === group;
}
