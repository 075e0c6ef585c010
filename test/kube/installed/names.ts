// The names of the cluster's Services as every Pod resolves them: one hosts file, written from the
// EndpointSlices that the real controller keeps. A name with a cluster address leads to the ready Pods
// behind it directly, on the Pod's own port: the charts use one number for both.

import { closeSync, openSync, writeSync } from 'node:fs';
import type { Api } from '../api.ts';

interface EndpointSlice {
  readonly metadata: {
    readonly namespace: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly endpoints:
    | readonly {
        readonly addresses: readonly string[];
        readonly hostname?: string;
        readonly conditions?: { readonly ready?: boolean };
      }[]
    | null;
}

const SLICES = '/apis/discovery.k8s.io/v1/endpointslices';
/** One page: a single write of it is seen whole or not at all by who reads meanwhile. */
const FILE_BYTES = 4_096;

export class Names {
  readonly file: string;
  readonly #api: Api;
  #written = '';

  constructor(api: Api, file: string) {
    this.#api = api;
    this.file = file;
    this.#write([]);
  }

  async refresh(): Promise<void> {
    const { items } = (await this.#api.must(this.#api.get(SLICES))) as unknown as {
      readonly items: readonly EndpointSlice[];
    };
    this.#write(items.flatMap(linesOf).sort());
  }

  /** Into the same file: containers have it mounted. */
  #write(lines: readonly string[]): void {
    const text = ['127.0.0.1 localhost', ...lines, ''].join('\n');
    if (text === this.#written) return;
    if (text.length > FILE_BYTES) throw new Error(`${lines.length} names do not fit into a page`);
    const file = openSync(this.file, this.#written === '' ? 'w' : 'r+');
    writeSync(file, text.padEnd(FILE_BYTES, '\n'), 0);
    closeSync(file);
    this.#written = text;
  }
}

function linesOf({ metadata, endpoints }: EndpointSlice): string[] {
  const service = metadata.labels?.['kubernetes.io/service-name'];
  if (service === undefined || endpoints === null) return [];
  const domain = `${service}.${metadata.namespace}`;
  return endpoints
    .filter(({ conditions }) => conditions?.ready !== false)
    .flatMap(({ addresses, hostname }) => {
      const names = hostname === undefined ? [domain] : [domain, `${hostname}.${domain}`];
      const all = names.flatMap((name) => [name, `${name}.svc`, `${name}.svc.cluster.local`]);
      return addresses.map((address) => `${address} ${all.join(' ')}`);
    });
}
