// Where the real control plane of the end-to-end tests is, and helm and kwok: built by `make kube` from the
// modules in this folder (kubernetes §7.1), or taken from the folder that $KUBEBUILDER_ASSETS names
// (assets.ts).

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtPrograms, type GoModule } from '../toolkit/index.ts';
import { type Origin, originOf } from './assets.ts';

type KubeModule<Program extends string> = GoModule & {
  readonly programs: Readonly<Record<Program, string>>;
};

interface KubeModules {
  readonly controlPlane: KubeModule<
    'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler' | 'kubectl'
  >;
  readonly helm: KubeModule<'helm'>;
  readonly kwok: KubeModule<'kwok'>;
}

export const KUBE_MODULES: KubeModules = {
  controlPlane: kubeModule('control-plane', {
    'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
    'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
    'kube-scheduler': 'k8s.io/kubernetes/cmd/kube-scheduler',
    kubectl: 'k8s.io/kubernetes/cmd/kubectl',
  }),
  helm: kubeModule('helm', { helm: 'helm.sh/helm/v3/cmd/helm' }),
  kwok: kubeModule('kwok', { kwok: 'sigs.k8s.io/kwok/cmd/kwok' }),
};

export type KubeModuleName = keyof KubeModules;

function kubeModule<Program extends string>(
  folder: string,
  programs: Readonly<Record<Program, string>>,
): KubeModule<Program> {
  const at = fileURLToPath(new URL(`./${folder}/`, import.meta.url));
  return { name: 'kube', folder: at, programs, variables: versionVariables(at) };
}

/** Kubernetes' programs tell a version that only their own build sets, and charts look at it. */
function versionVariables(folder: string): Readonly<Record<string, string>> {
  const { version, major, minor } = kubernetesVersion(folder);
  if (version === '') return {};
  const packages = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'];
  return Object.fromEntries(
    packages.flatMap((name) => [
      [`${name}.gitVersion`, version],
      [`${name}.gitMajor`, major],
      [`${name}.gitMinor`, minor],
    ]),
  );
}

/** Of the kube-apiserver that `make kube` builds. */
export function pinnedVersion(): { version: string; major: string; minor: string } {
  return kubernetesVersion(KUBE_MODULES.controlPlane.folder);
}

/** Empty for a module that does not build Kubernetes itself. */
function kubernetesVersion(folder: string): { version: string; major: string; minor: string } {
  const text = readFileSync(`${folder}go.mod`, 'utf8');
  const [, version = '', major = '', minor = ''] =
    /^\s*k8s\.io\/kubernetes (v(\d+)\.(\d+)\S*)/m.exec(text) ?? [];
  return { version, major, minor };
}

type Programs<Name extends KubeModuleName> = KubeModules[Name]['programs'];

const origins = new Map<KubeModuleName, Origin>();

/** Looked up once per process: a program may have to be asked for its version. */
export function kubeOrigin(name: KubeModuleName): Origin {
  let origin = origins.get(name);
  if (origin === undefined) {
    const { programs, folder } = KUBE_MODULES[name];
    const { version, major, minor } = kubernetesVersion(folder);
    origin = originOf({
      programs: Object.keys(programs),
      assets: assetsFolder(),
      minor: version === '' ? undefined : `${major}.${minor}`,
    });
    origins.set(name, origin);
  }
  return origin;
}

function assetsFolder(): string {
  return process.env['KUBEBUILDER_ASSETS'] ?? '';
}

/** The part of the module that the assets lack, for the builder and for what it left. */
export function moduleToBuild(name: KubeModuleName): GoModule {
  const module: GoModule = KUBE_MODULES[name];
  const { lacking } = kubeOrigin(name);
  const wanted = Object.entries(module.programs).filter(([program]) => lacking.includes(program));
  return { ...module, programs: Object.fromEntries(wanted) };
}

/** An etcd that the assets bring belongs to their API server. */
export function assetsEtcd(): string | undefined {
  if (Object.keys(kubeOrigin('controlPlane').taken).length === 0) return undefined;
  const path = join(assetsFolder(), 'etcd');
  return existsSync(path) ? path : undefined;
}

function findKubePrograms<Name extends KubeModuleName>(name: Name): Programs<Name> | undefined {
  const built = builtPrograms(moduleToBuild(name));
  if (built === undefined) return undefined;
  return { ...kubeOrigin(name).taken, ...built } as Programs<Name>;
}

export function kubePrograms<Name extends KubeModuleName>(name: Name): Programs<Name> {
  const found = findKubePrograms(name);
  if (found === undefined) throw new Error(`${missingText(name)}; run: make kube`);
  return found;
}

/** For the `skip` of a test: false when the programs are there, else what was not tested and why. */
export function skipWithout(...names: readonly KubeModuleName[]): string | false {
  const missing = names.filter((name) => findKubePrograms(name) === undefined);
  if (missing.length === 0) return false;
  const text = `NOT TESTED: ${missing.map(missingText).join('; ')}`;
  console.warn(text);
  return text;
}

function missingText(name: KubeModuleName): string {
  const { lacking, unusable } = kubeOrigin(name);
  const text = `${lacking.join(', ')}: neither built (Go is needed) nor in $KUBEBUILDER_ASSETS`;
  return unusable === undefined ? text : `${text} (${unusable})`;
}
