// Where the real control plane of the end-to-end tests is, and helm and kwok: built by `make kube` from the
// modules in this folder (kubernetes §7.1), or taken from the folder that $KUBEBUILDER_ASSETS names. A
// module's programs come from one place together, because their versions belong together.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { builtPrograms, type GoModule, programsIn } from '../toolkit/index.ts';

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
  const text = readFileSync(`${folder}go.mod`, 'utf8');
  const [, version = '', major = '', minor = ''] =
    /^\s*k8s\.io\/kubernetes (v(\d+)\.(\d+)\S*)/m.exec(text) ?? [];
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

type Programs<Name extends KubeModuleName> = KubeModules[Name]['programs'];

/** The folder of ready-made programs, when one is named and holds the whole module. */
export function assetsOf(name: KubeModuleName): Readonly<Record<string, string>> | undefined {
  const assets = process.env['KUBEBUILDER_ASSETS'] ?? '';
  return assets === '' ? undefined : programsIn(assets, KUBE_MODULES[name]);
}

function findKubePrograms<Name extends KubeModuleName>(name: Name): Programs<Name> | undefined {
  const found = assetsOf(name) ?? builtPrograms(KUBE_MODULES[name]);
  return found as Programs<Name> | undefined;
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
  const programs = Object.keys(KUBE_MODULES[name].programs).join(', ');
  return `${programs} are neither built (Go is needed) nor in $KUBEBUILDER_ASSETS`;
}
