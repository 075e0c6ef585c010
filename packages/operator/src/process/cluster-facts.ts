// What a template may say of the cluster itself. The authority is that of this process's own access, and so is
// the address unless the cluster's owner names an outer one: a Service address is of no use before the join; the version is asked, and asked again, because a cluster is upgraded under a running operator.

import { createHash, X509Certificate } from 'node:crypto';
import { BigFleetError, describeThrown, type Runtime, sleep } from '@bigfleet/base';
import { type ClusterAccess, describeRefusal, type KubeClient, textOf } from '@bigfleet/kube';
import type { ClusterFacts } from '../cluster/bootstrap.ts';

export interface FactsOptions {
  readonly runtime: Runtime;
  readonly client: KubeClient;
  readonly access: ClusterAccess;
  /** Empty: that of the access. */
  readonly endpoint: string;
  readonly onFailure: (problem: string) => void;
}

const ASK_AGAIN_MS = 600_000;
const RETRY_MS = 5_000;

/** The object that templates read; its version changes as the cluster's does. */
export class FollowedFacts implements ClusterFacts {
  readonly apiServerEndpoint: string;
  readonly caCertBase64: string;
  readonly caCertHash: string;
  #kubernetesVersion = '';
  readonly #options: FactsOptions;
  readonly #asked = Promise.withResolvers<void>();

  /** Throws `kubeconfig_invalid` for an authority that is no certificate. */
  constructor(options: FactsOptions) {
    const { endpoint, access } = options;
    const { server, tls } = access;
    this.#options = options;
    this.apiServerEndpoint = endpoint || server.href.replace(/\/$/, '');
    const { ca = '' } = tls;
    this.caCertBase64 = Buffer.from(ca).toString('base64');
    this.caCertHash = ca === '' ? '' : spkiHash(ca);
  }

  get kubernetesVersion(): string {
    return this.#kubernetesVersion;
  }

  /** Resolves when the server has answered once, whatever it said. */
  get asked(): Promise<void> {
    return this.#asked.promise;
  }

  async follow(signal: AbortSignal): Promise<void> {
    const { runtime, client, onFailure } = this.#options;
    while (!signal.aborted) {
      let waitMs = RETRY_MS;
      try {
        const answer = await client.version(signal);
        if (answer.kind === 'ok') {
          this.#kubernetesVersion = textOf(answer.object['gitVersion']);
          waitMs = ASK_AGAIN_MS;
        } else onFailure(describeRefusal(answer));
        this.#asked.resolve();
      } catch (error) {
        if (!signal.aborted && !(error instanceof BigFleetError)) throw error;
      }
      await sleep(runtime, waitMs, signal).catch(() => undefined);
    }
    this.#asked.resolve();
  }
}

/** As kubeadm's `--discovery-token-ca-cert-hash` wants it. */
function spkiHash(pem: string): string {
  try {
    const spki = new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'der' });
    return `sha256:${createHash('sha256').update(spki).digest('hex')}`;
  } catch (error) {
    const problem = `the certificate authority cannot be read: ${describeThrown(error)}`;
    throw new BigFleetError('kubeconfig_invalid', problem, { cause: error });
  }
}
