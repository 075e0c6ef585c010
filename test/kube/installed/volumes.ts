// The volumes of a Pod as folders of this machine, with the owners and modes that a kubelet gives them:
// what a process may read and write is where an installation fails that renders well.

import {
  chmodSync,
  chownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import type { Api, Json } from '../api.ts';
import { fieldOf, type FilesSource, type PodObject, type VolumeObject } from './pod.ts';

const FILE_MODE = 0o644;
/** Of a token, when the Pod says whose process reads it. */
const PRIVATE_MODE = 0o600;
const SETGID = 0o2000;

interface Payload {
  readonly text: string | Buffer;
  readonly mode: number;
}

interface Claimed {
  readonly spec: { readonly volumeName?: string };
}

interface LocalVolume {
  readonly spec: { readonly local?: { readonly path: string } };
}

/** Volume name → its folder. */
export async function materialise(
  api: Api,
  pod: PodObject,
  folder: string,
): Promise<ReadonlyMap<string, string>> {
  const made = new Map<string, string>();
  for (const volume of pod.spec.volumes ?? []) {
    made.set(volume.name, await folderOf(api, pod, volume, path.join(folder, volume.name)));
  }
  return made;
}

async function folderOf(
  api: Api,
  pod: PodObject,
  volume: VolumeObject,
  folder: string,
): Promise<string> {
  const { fsGroup, fsGroupChangePolicy } = pod.spec.securityContext ?? {};
  if (volume.persistentVolumeClaim !== undefined) {
    const claimed = await claimedFolder(api, pod, volume.persistentVolumeClaim.claimName);
    const isKept = fsGroupChangePolicy === 'OnRootMismatch' && fsGroup === groupOf(claimed);
    if (fsGroup !== undefined && !isKept) giveToGroup(claimed, fsGroup);
    return claimed;
  }
  mkdirSync(folder, { recursive: true });
  if (volume.emptyDir === undefined) await writeFiles(api, pod, volume, folder);
  else chmodSync(folder, 0o777);
  if (fsGroup !== undefined) giveToGroup(folder, fsGroup);
  return folder;
}

async function claimedFolder(api: Api, { metadata }: PodObject, claim: string): Promise<string> {
  const at = `/api/v1/namespaces/${metadata.namespace}/persistentvolumeclaims/${claim}`;
  const { spec } = (await api.must(api.get(at))) as unknown as Claimed;
  const volume = `/api/v1/persistentvolumes/${spec.volumeName ?? ''}`;
  const { spec: found } = (await api.must(api.get(volume))) as unknown as LocalVolume;
  if (found.local === undefined) throw new Error(`${claim} is no local volume`);
  return found.local.path;
}

async function writeFiles(
  api: Api,
  pod: PodObject,
  volume: VolumeObject,
  folder: string,
): Promise<void> {
  const { securityContext = {} } = pod.spec;
  const owner = securityContext.runAsUser;
  const isOwned = owner !== undefined || securityContext.fsGroup !== undefined;
  for (const [name, { text, mode }] of await payloadOf(api, pod, volume, isOwned)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    chmodSync(file, mode);
    // A projection belongs to the one user that reads it; other volumes to root.
    if (volume.projected !== undefined && owner !== undefined) chownSync(file, owner, 0);
  }
}

async function payloadOf(
  api: Api,
  pod: PodObject,
  { name, configMap, secret, projected }: VolumeObject,
  isOwned: boolean,
): Promise<ReadonlyMap<string, Payload>> {
  const { namespace } = pod.metadata;
  if (configMap !== undefined) return filesOf(api, namespace, 'configmaps', configMap);
  if (secret !== undefined) return filesOf(api, namespace, 'secrets', secret);
  if (projected === undefined) throw new Error(`the stand-in kubelet has no volume ${name}`);
  const all = new Map<string, Payload>();
  const { defaultMode = FILE_MODE } = projected;
  for (const { serviceAccountToken, downwardAPI, ...files } of projected.sources) {
    if (serviceAccountToken !== undefined) {
      const text = await tokenOf(api, pod, serviceAccountToken);
      all.set(serviceAccountToken.path, { text, mode: isOwned ? PRIVATE_MODE : defaultMode });
    }
    for (const { path: at, fieldRef } of downwardAPI?.items ?? []) {
      all.set(at, { text: fieldOf(pod, fieldRef.fieldPath), mode: defaultMode });
    }
    for (const [kind, source] of [
      ['configmaps', files.configMap],
      ['secrets', files.secret],
    ] as const) {
      if (source === undefined) continue;
      const found = await filesOf(api, namespace, kind, { defaultMode, ...source });
      for (const [at, payload] of found) all.set(at, payload);
    }
  }
  return all;
}

async function filesOf(
  api: Api,
  namespace: string,
  kind: 'configmaps' | 'secrets',
  { name, secretName, defaultMode = FILE_MODE, items }: FilesSource,
): Promise<ReadonlyMap<string, Payload>> {
  const object = await api.must(
    api.get(`/api/v1/namespaces/${namespace}/${kind}/${name ?? secretName ?? ''}`),
  );
  const data = (object['data'] ?? {}) as Readonly<Record<string, string>>;
  const wanted = items ?? Object.keys(data).map((key) => ({ key, path: key }));
  return new Map(
    wanted.map(({ key, path: at }) => {
      const text = data[key];
      if (text === undefined) throw new Error(`${kind} ${name ?? secretName} has no key ${key}`);
      const value = kind === 'secrets' ? Buffer.from(text, 'base64') : text;
      return [at, { text: value, mode: defaultMode }];
    }),
  );
}

/** Bound to the Pod, as a kubelet asks for it. No test outlives its hour: it is never renewed. */
async function tokenOf(
  api: Api,
  { metadata, spec }: PodObject,
  wanted: { readonly audience?: string; readonly expirationSeconds?: number },
): Promise<string> {
  const { namespace, name, uid } = metadata;
  const account = spec.serviceAccountName ?? 'default';
  const { status } = await api.must(
    api.create(`/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: {
        ...(wanted.audience === undefined ? {} : { audiences: [wanted.audience] }),
        expirationSeconds: wanted.expirationSeconds,
        boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
      },
    }),
  );
  return String((status as Json)['token']);
}

function groupOf(folder: string): number {
  return lstatSync(folder).gid;
}

/** Everything below it can be read and written by the group, and what is added belongs to it. */
function giveToGroup(place: string, group: number): void {
  const stat = lstatSync(place);
  lchownSync(place, stat.uid, group);
  if (stat.isSymbolicLink()) return;
  chmodSync(place, (stat.mode & 0o7777) | (stat.isDirectory() ? SETGID | 0o770 : 0o660));
  if (!stat.isDirectory()) return;
  for (const name of readdirSync(place)) giveToGroup(path.join(place, name), group);
}
