// Volumes for claims, as the provisioner of a cluster makes them: each claim gets a folder of its own that
// outlives the Pods which use it. A fresh one belongs to root, as the root of a new file system does.

import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Api, Json } from '../api.ts';

interface Claim {
  readonly metadata: { readonly namespace: string; readonly name: string; readonly uid: string };
  readonly spec: {
    readonly storageClassName?: string;
    readonly resources: { readonly requests: Json };
  };
  readonly status?: { readonly phase?: string };
}

const CLAIMS = '/api/v1/persistentvolumeclaims';
const VOLUMES = '/api/v1/persistentvolumes';
const CLASSES = '/apis/storage.k8s.io/v1/storageclasses';
const CLASS = 'folders';
const CONFLICT = 409;

export class Claims {
  readonly #api: Api;
  readonly #folder: string;
  readonly #nodeName: string;

  constructor(api: Api, folder: string, nodeName: string) {
    this.#api = api;
    this.#folder = folder;
    this.#nodeName = nodeName;
  }

  /** The cluster's default class. */
  async install(): Promise<void> {
    await this.#api.must(
      this.#api.create(CLASSES, {
        metadata: {
          name: CLASS,
          annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
        },
        provisioner: 'bigfleet.test/folders',
        volumeBindingMode: 'Immediate',
      }),
    );
  }

  async refresh(): Promise<void> {
    const { items } = (await this.#api.must(this.#api.get(CLAIMS))) as unknown as {
      readonly items: readonly Claim[];
    };
    for (const claim of items) {
      if (claim.status?.phase === 'Pending') await this.#provision(claim);
    }
  }

  async #provision({ metadata, spec }: Claim): Promise<void> {
    const { namespace, name, uid } = metadata;
    const folder = path.join(this.#folder, uid);
    mkdirSync(folder, { recursive: true });
    const hostname = { key: 'kubernetes.io/hostname', operator: 'In', values: [this.#nodeName] };
    const { status, text } = await this.#api.create(VOLUMES, {
      metadata: { name: `folder-${uid}` },
      spec: {
        storageClassName: spec.storageClassName,
        capacity: spec.resources.requests,
        accessModes: ['ReadWriteOnce'],
        claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid },
        local: { path: folder },
        nodeAffinity: {
          required: { nodeSelectorTerms: [{ matchExpressions: [hostname] }] },
        },
      },
    });
    // The claim is bound a moment after its volume is there.
    if (status >= 300 && status !== CONFLICT) throw new Error(`volume of ${name}: ${text}`);
  }
}
