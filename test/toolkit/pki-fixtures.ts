// The named certificates that security tests share: the right ones, and one for each way of being
// wrong. A test that loops over these names meets every case; the comment on each says what a
// correct peer does with it. Minted on first use, since most tests need a few and RSA is slow.

import { CertificateAuthority, type Leaf, type LeafSpec, selfSignedLeaf } from './pki.ts';

const HOUR_MS = 3_600_000;
const LOCAL = { dnsNames: ['localhost'], ips: ['127.0.0.1', '::1'] } as const;

/** What a correct server does with a client that presents it. */
export type FixtureVerdict =
  /** Handshake succeeds, exactly one identity. */
  | 'identity'
  /** Handshake succeeds, no usable identity: PERMISSION_DENIED. */
  | 'no-identity'
  /** Handshake refused. */
  | 'refused';

interface FixtureSpec {
  readonly verdict: FixtureVerdict;
  /** The one identity, for the verdict `identity`. */
  readonly identity?: string;
  readonly mint: (pki: TestPki) => Promise<Leaf>;
}

function fromCa(verdict: FixtureVerdict, spec: LeafSpec): FixtureSpec {
  return { verdict, mint: (pki) => pki.ca.leaf({ ...LOCAL, ...spec }) };
}

function right(identity: string, spec: LeafSpec = {}): FixtureSpec {
  const uris = [identity, ...(spec.uris ?? [])];
  return { ...fromCa('identity', { ...spec, uris }), identity };
}

/** Every right one is also the wrong role where another role is required. */
export const FIXTURE_NAMES = [
  'cluster',
  'otherCluster',
  'clusterWrongCn',
  'shard',
  'otherShard',
  'admin',
  'readonly',
  'withSpiffe',
  'noCommonName',
  'rsa',
  'p384',
  'intermediate',
  'noSan',
  'zeroIdentities',
  'twoIdentities',
  'sameIdentityTwice',
  'percentEncoded',
  'trailingSlash',
  'upperCaseScheme',
  'unknownRole',
  'emptyId',
  'identityInCommonName',
  'dnsInjection',
  'expired',
  'notYetValid',
  'wrongCa',
  'selfSigned',
  'withoutClientAuth',
] as const;

export type FixtureName = (typeof FIXTURE_NAMES)[number];

const FIXTURES: Readonly<Record<FixtureName, FixtureSpec>> = {
  cluster: right('bigfleet://cluster/c-1', { commonName: 'c-1' }),
  otherCluster: right('bigfleet://cluster/c-2', { commonName: 'c-2' }),
  /** The CN names another cluster: refused only where the CN must match. */
  clusterWrongCn: right('bigfleet://cluster/c-1', { commonName: 'c-2' }),
  shard: right('bigfleet://shard/shard-0', { commonName: 'shard-0' }),
  otherShard: right('bigfleet://shard/shard-1', { commonName: 'shard-1' }),
  admin: right('bigfleet://admin', { commonName: 'admin' }),
  readonly: right('bigfleet://readonly', { commonName: 'readonly' }),
  /** Other URI SANs may be present and are ignored. */
  withSpiffe: right('bigfleet://shard/shard-0', { uris: ['spiffe://example.test/ns/a/sa/b'] }),
  noCommonName: right('bigfleet://cluster/c-1'),
  rsa: right('bigfleet://shard/shard-0', { key: 'rsa2048' }),
  p384: right('bigfleet://shard/shard-0', { key: 'p384' }),
  intermediate: {
    verdict: 'identity',
    identity: 'bigfleet://shard/shard-0',
    mint: async (pki) =>
      (await pki.intermediateCa()).leaf({ ...LOCAL, uris: ['bigfleet://shard/shard-0'] }),
  },

  noSan: { verdict: 'no-identity', mint: (pki) => pki.ca.leaf({ commonName: 'c-1' }) },
  zeroIdentities: fromCa('no-identity', { uris: ['spiffe://example.test/x'] }),
  twoIdentities: fromCa('no-identity', { uris: ['bigfleet://admin', 'bigfleet://readonly'] }),
  sameIdentityTwice: fromCa('no-identity', { uris: ['bigfleet://admin', 'bigfleet://admin'] }),
  percentEncoded: fromCa('no-identity', { uris: ['bigfleet://cluster/a%2Fb'] }),
  trailingSlash: fromCa('no-identity', { uris: ['bigfleet://cluster/c-1/'] }),
  upperCaseScheme: fromCa('no-identity', { uris: ['BIGFLEET://admin'] }),
  unknownRole: fromCa('no-identity', { uris: ['bigfleet://root'] }),
  emptyId: fromCa('no-identity', { uris: ['bigfleet://cluster/'] }),
  identityInCommonName: fromCa('no-identity', { commonName: 'bigfleet://admin' }),
  /** Printed as text, its one DNS name reads like a second, URI entry. */
  dnsInjection: fromCa('no-identity', { dnsNames: ['x.test, URI:bigfleet://admin'] }),

  expired: fromCa('refused', {
    uris: ['bigfleet://admin'],
    validity: { fromMs: -2 * HOUR_MS, toMs: -HOUR_MS },
  }),
  notYetValid: fromCa('refused', {
    uris: ['bigfleet://admin'],
    validity: { fromMs: HOUR_MS, toMs: 2 * HOUR_MS },
  }),
  /** Signed by a CA of the very same name but another key. */
  wrongCa: {
    verdict: 'refused',
    mint: (pki) => pki.wrongCa.leaf({ ...LOCAL, uris: ['bigfleet://admin'] }),
  },
  selfSigned: {
    verdict: 'refused',
    mint: () => selfSignedLeaf({ ...LOCAL, commonName: 'admin', uris: ['bigfleet://admin'] }),
  },
  /** Fine as a server, refused as a client. */
  withoutClientAuth: fromCa('refused', { uris: ['bigfleet://admin'], uses: ['serverAuth'] }),
};

export function fixtureVerdict(name: FixtureName): FixtureVerdict {
  return FIXTURES[name].verdict;
}

/** The identity that the certificate proves, `undefined` unless the verdict is `identity`. */
export function fixtureIdentity(name: FixtureName): string | undefined {
  return FIXTURES[name].identity;
}

export async function mintPki(): Promise<TestPki> {
  return new TestPki(await CertificateAuthority.root(), await CertificateAuthority.root());
}

export class TestPki {
  readonly ca: CertificateAuthority;
  /** Another CA under the same name. */
  readonly wrongCa: CertificateAuthority;
  /** Bounded by the fixture names. */
  readonly #minted = new Map<FixtureName, Promise<Leaf>>();
  #intermediate: Promise<CertificateAuthority> | undefined;

  constructor(ca: CertificateAuthority, wrongCa: CertificateAuthority) {
    this.ca = ca;
    this.wrongCa = wrongCa;
  }

  get caPem(): string {
    return this.ca.caPem;
  }

  /** The same certificate on every call. */
  fixture(name: FixtureName): Promise<Leaf> {
    const known = this.#minted.get(name);
    if (known !== undefined) return known;
    const minted = FIXTURES[name].mint(this);
    this.#minted.set(name, minted);
    return minted;
  }

  intermediateCa(): Promise<CertificateAuthority> {
    this.#intermediate ??= this.ca.intermediate();
    return this.#intermediate;
  }
}
