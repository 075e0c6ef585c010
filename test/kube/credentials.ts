// Who may speak to a control plane of the tests: one authority, a certificate per user, and kubeconfig files.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CertificateAuthority } from '../toolkit/index.ts';

export interface KubeUser {
  readonly name: string;
  readonly groups?: readonly string[];
}

export type KubeconfigUser =
  | { readonly certPem: string; readonly keyPem: string }
  | { readonly tokenFile: string }
  | { readonly token: string };

export class Credentials {
  readonly #authority: CertificateAuthority;
  readonly #folder: string;
  readonly #server: string;
  #count = 0;

  private constructor(authority: CertificateAuthority, folder: string, server: string) {
    this.#authority = authority;
    this.#folder = folder;
    this.#server = server;
  }

  static async create(folder: string, server: string): Promise<Credentials> {
    const authority = await CertificateAuthority.root({ commonName: 'kubernetes' });
    return new Credentials(authority, folder, server);
  }

  get caPem(): string {
    return this.#authority.caPem;
  }

  file(name: string, text: string): string {
    const path = join(this.#folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }

  /** For all servers of the control plane. */
  async serverFiles(
    addresses: readonly string[] = [],
  ): Promise<{ cert: string; key: string; ca: string }> {
    const leaf = await this.#authority.leaf({
      commonName: 'kube-apiserver',
      dnsNames: ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'],
      ips: ['127.0.0.1', '10.0.0.1', ...addresses],
    });
    return {
      cert: this.file('server.crt', leaf.certPem),
      key: this.file('server.key', leaf.keyPem),
      ca: this.file('ca.crt', this.caPem),
    };
  }

  /** The pair that signs ServiceAccount tokens and checks them. */
  async signingFiles(): Promise<{ cert: string; key: string }> {
    const { certPem, keyPem } = await this.#authority.leaf({ commonName: 'service-accounts' });
    return {
      cert: this.file('service-accounts.crt', certPem),
      key: this.file('service-accounts.key', keyPem),
    };
  }

  async user({ name, groups = [] }: KubeUser): Promise<{ certPem: string; keyPem: string }> {
    return this.#authority.leaf({
      commonName: name,
      organizations: groups,
      uses: ['clientAuth'],
    });
  }

  /** Path of a kubeconfig; `server` may be a proxy in front of the real one. */
  kubeconfig(user: KubeconfigUser, server: string = this.#server): string {
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'test',
      clusters: [
        {
          name: 'test',
          cluster: { server, 'certificate-authority-data': base64(this.caPem) },
        },
      ],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
      users: [
        {
          name: 'test',
          user:
            'certPem' in user
              ? {
                  'client-certificate-data': base64(user.certPem),
                  'client-key-data': base64(user.keyPem),
                }
              : user,
        },
      ],
    };
    this.#count += 1;
    // JSON is YAML.
    return this.file(`kubeconfig-${this.#count}.yaml`, JSON.stringify(config, null, 2));
  }
}
