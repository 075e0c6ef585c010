// A Pod as the stand-in kubelet reads it: only the fields that BigFleet's charts use. What it cannot do it
// refuses by name, so that no chart passes here by a field that was overlooked.

import type { Json } from '../api.ts';

export interface PodObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly deletionTimestamp?: string;
  };
  readonly spec: PodSpec;
}

interface PodSpec {
  readonly serviceAccountName?: string;
  readonly securityContext?: {
    readonly runAsUser?: number;
    readonly runAsGroup?: number;
    readonly runAsNonRoot?: boolean;
    readonly fsGroup?: number;
    readonly fsGroupChangePolicy?: string;
  };
  readonly containers: readonly ContainerObject[];
  readonly initContainers?: readonly Json[];
  readonly hostNetwork?: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly volumes?: readonly VolumeObject[];
}

export interface ContainerObject {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvObject[];
  readonly envFrom?: readonly Json[];
  readonly lifecycle?: Json;
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly securityContext?: {
    readonly allowPrivilegeEscalation?: boolean;
    readonly readOnlyRootFilesystem?: boolean;
    readonly capabilities?: { readonly drop?: readonly string[]; readonly add?: readonly string[] };
  };
  readonly startupProbe?: ProbeObject;
  readonly livenessProbe?: ProbeObject;
  readonly readinessProbe?: ProbeObject;
  readonly volumeMounts?: readonly MountObject[];
}

interface EnvObject {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly fieldRef?: { readonly fieldPath: string } };
}

interface MountObject {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly?: boolean;
  readonly subPath?: string;
}

export interface ProbeObject {
  readonly httpGet?: { readonly path?: string; readonly port: string | number };
  readonly grpc?: { readonly port: number; readonly service?: string };
  readonly initialDelaySeconds?: number;
  readonly periodSeconds?: number;
  readonly timeoutSeconds?: number;
  readonly failureThreshold?: number;
  readonly successThreshold?: number;
}

export interface VolumeObject {
  readonly name: string;
  readonly configMap?: FilesSource;
  readonly secret?: FilesSource;
  readonly projected?: {
    readonly defaultMode?: number;
    readonly sources: readonly ProjectedSource[];
  };
  readonly emptyDir?: Json;
  readonly persistentVolumeClaim?: { readonly claimName: string };
}

export interface FilesSource {
  /** Of a ConfigMap, or of a Secret in a projection. */
  readonly name?: string;
  readonly secretName?: string;
  readonly defaultMode?: number;
  readonly items?: readonly { readonly key: string; readonly path: string }[];
}

export interface ProjectedSource {
  readonly configMap?: FilesSource;
  readonly secret?: FilesSource;
  readonly downwardAPI?: {
    readonly items: readonly {
      readonly path: string;
      readonly fieldRef: { readonly fieldPath: string };
    }[];
  };
  readonly serviceAccountToken?: {
    readonly path: string;
    readonly audience?: string;
    readonly expirationSeconds?: number;
  };
}

/** Why the stand-in cannot run it; undefined: it can. */
export function unsupported({ spec }: PodObject): string | undefined {
  if ((spec.initContainers ?? []).length > 0) return 'initContainers';
  if (spec.hostNetwork === true) return 'hostNetwork';
  for (const {
    envFrom,
    lifecycle,
    env = [],
    volumeMounts = [],
    securityContext,
  } of spec.containers) {
    if (envFrom !== undefined) return 'envFrom';
    if (lifecycle !== undefined) return 'lifecycle';
    if (env.some(({ valueFrom }) => valueFrom !== undefined && valueFrom.fieldRef === undefined)) {
      return 'env.valueFrom';
    }
    if (volumeMounts.some(({ subPath }) => subPath !== undefined)) return 'subPath';
    if (securityContext?.capabilities?.add !== undefined) return 'capabilities.add';
  }
  if (spec.securityContext?.runAsNonRoot === true && !((spec.securityContext.runAsUser ?? 0) > 0)) {
    return 'runAsNonRoot without a user';
  }
  return undefined;
}

/** A field as the downward API names it. */
export function fieldOf({ metadata, spec }: PodObject, fieldPath: string): string {
  switch (fieldPath) {
    case 'metadata.name':
      return metadata.name;
    case 'metadata.namespace':
      return metadata.namespace;
    case 'metadata.uid':
      return metadata.uid;
    case 'spec.serviceAccountName':
      return spec.serviceAccountName ?? '';
    default:
      throw new Error(`the stand-in kubelet does not know the field ${fieldPath}`);
  }
}

export function environmentOf(
  pod: PodObject,
  { env = [] }: ContainerObject,
): ReadonlyMap<string, string> {
  const known = new Map<string, string>();
  for (const { name, value = '', valueFrom } of env) {
    const path = valueFrom?.fieldRef?.fieldPath;
    known.set(name, path === undefined ? expanded(value, known) : fieldOf(pod, path));
  }
  return known;
}

/** `$(NAME)` of a known variable; any other stays as it is, and `$$` is one `$`. */
export function expanded(text: string, env: ReadonlyMap<string, string>): string {
  return text.replaceAll(/\$\$|\$\(([^)]+)\)/g, (found, name: string | undefined) =>
    found === '$$' ? '$' : (env.get(name ?? '') ?? found),
  );
}

/** What podman must be told so that the container is confined as the Pod says. */
export function confinement(
  { spec: { securityContext = {} } }: PodObject,
  container: ContainerObject,
): readonly string[] {
  const { runAsUser, runAsGroup, fsGroup } = securityContext;
  const own = container.securityContext ?? {};
  const user =
    runAsUser === undefined ? [] : [runAsUser, ...(runAsGroup === undefined ? [] : [runAsGroup])];
  return [
    ...(user.length === 0 ? [] : [`--user=${user.join(':')}`]),
    ...(fsGroup === undefined ? [] : [`--group-add=${fsGroup}`]),
    // Else podman mounts /tmp and /run writable over a read-only root.
    ...(own.readOnlyRootFilesystem === true ? ['--read-only', '--read-only-tmpfs=false'] : []),
    ...(own.allowPrivilegeEscalation === false ? ['--security-opt=no-new-privileges'] : []),
    ...(own.capabilities?.drop ?? []).map((one) => `--cap-drop=${one.toLowerCase()}`),
  ];
}
