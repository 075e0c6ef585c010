// The identity in a verified leaf: exactly one bigfleet:// URI in the SubjectAltName
// extension, read from the DER as bytes. The human-readable SAN string that Node offers
// joins entries with commas and has had injection bugs; a DNS name that contains
// ", URI:bigfleet://admin" must stay a DNS name.
//
// Comparison is exact on bytes: no case folding, no percent-decoding, no URL library.

import { type DerElement, DerError, readAll } from './der.ts';
import type { PeerIdentity, Role } from './identity.ts';

const sequence = 0x30;
const octetString = 0x04;
const objectId = 0x06;
const extensionsField = 0xa3;
const uriName = 0x86;

const subjectAltName = '551d11';
const commonName = '550403';

const scheme = 'bigfleet://';
const idPattern = /^[A-Za-z0-9_.-]{1,253}$/;

/** Never throws: a leaf that cannot be read has no usable identity. */
export function identityOfCertificate(der: Uint8Array): PeerIdentity {
  try {
    const leaf = readLeaf(der);
    return identityOfSans(leaf.uris, leaf.commonName);
  } catch (error) {
    if (error instanceof DerError) {
      return { kind: 'unusable', reason: 'identity_malformed', presented: [] };
    }
    throw error;
  }
}

function identityOfSans(uris: readonly string[], cn: string | undefined): PeerIdentity {
  const presented = uris.filter((uri) => uri.startsWith(scheme));
  const [san, second] = presented;
  if (san === undefined) return { kind: 'unusable', reason: 'identity_missing', presented };
  if (second !== undefined) return { kind: 'unusable', reason: 'identity_ambiguous', presented };
  const parsed = parseIdentity(san);
  if (parsed === undefined) return { kind: 'unusable', reason: 'identity_malformed', presented };
  return { kind: 'verified', ...parsed, san, commonName: cn };
}

/** The grammar of security §2: bigfleet://(cluster|shard)/<id>, bigfleet://admin, bigfleet://readonly. */
export function parseIdentity(
  san: string,
): { readonly role: Role; readonly id: string } | undefined {
  if (!san.startsWith(scheme)) return undefined;
  const rest = san.slice(scheme.length);
  if (rest === 'admin' || rest === 'readonly') return { role: rest, id: '' };
  const slash = rest.indexOf('/');
  const role = rest.slice(0, slash);
  const id = rest.slice(slash + 1);
  if ((role !== 'cluster' && role !== 'shard') || !idPattern.test(id)) return undefined;
  return { role, id };
}

/** The SAN that a role and id must present. */
export function sanOf(role: Role, id: string): string {
  return role === 'cluster' || role === 'shard' ? `${scheme}${role}/${id}` : `${scheme}${role}`;
}

function readLeaf(der: Uint8Array): { uris: string[]; commonName: string | undefined } {
  const [certificate] = readAll(der);
  const [tbs] = readAll(expect(certificate, sequence));
  const fields = readAll(expect(tbs, sequence));
  const extensions = fields.find((field) => field.tag === extensionsField);
  return {
    uris: extensions === undefined ? [] : urisOf(extensions),
    commonName: commonNameOf(subjectOf(fields)),
  };
}

function urisOf(extensionsWrapper: DerElement): string[] {
  const [list] = readAll(extensionsWrapper.content);
  const uris: string[] = [];
  for (const extension of readAll(expect(list, sequence))) {
    const parts = readAll(expect(extension, sequence));
    if (hex(expect(parts[0], objectId)) !== subjectAltName) continue;
    const [names] = readAll(expect(parts.at(-1), octetString));
    for (const name of readAll(expect(names, sequence))) {
      if (name.tag === uriName) uris.push(latin1(name.content));
    }
  }
  return uris;
}

/** TBSCertificate: [0] version?, serial, algorithm, issuer, validity, subject, … */
function subjectOf(fields: readonly DerElement[]): DerElement | undefined {
  const versionFields = fields[0]?.tag === 0xa0 ? 1 : 0;
  return fields[versionFields + 4];
}

/** Several common names are as good as none: it may only restrict. */
function commonNameOf(subject: DerElement | undefined): string | undefined {
  const found: string[] = [];
  for (const set of readAll(expect(subject, sequence))) {
    for (const attribute of readAll(set.content)) {
      const [type, value] = readAll(expect(attribute, sequence));
      if (value !== undefined && hex(expect(type, objectId)) === commonName) {
        found.push(new TextDecoder().decode(value.content));
      }
    }
  }
  return found.length === 1 ? found[0] : undefined;
}

function expect(element: DerElement | undefined, tag: number): Uint8Array {
  if (element?.tag !== tag) throw new DerError(`expected tag ${tag.toString(16)}`);
  return element.content;
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** One character per byte, so that equality of strings is equality of bytes. */
function latin1(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
}
