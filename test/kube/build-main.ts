// `make kube`: builds the programs of the modules in this folder, each once per go.sum. What
// $KUBEBUILDER_ASSETS brings is not built. Without Go, or without its module proxy, it says so and succeeds:
// `make e2e-kube` then counts its tests as skipped.

import { buildGoPrograms } from '../toolkit/index.ts';
import { assetsOf, KUBE_MODULES, type KubeModuleName } from './binaries.ts';

for (const name of Object.keys(KUBE_MODULES) as KubeModuleName[]) {
  const programs = Object.keys(KUBE_MODULES[name].programs).join(', ');
  if (assetsOf(name) === undefined) console.log(`${programs}: ${built(name)}`);
  else console.log(`${programs}: taken from $KUBEBUILDER_ASSETS`);
}

function built(name: KubeModuleName): string {
  const result = buildGoPrograms(KUBE_MODULES[name]);
  switch (result.kind) {
    case 'present':
      return `already built in ${result.folder}`;
    case 'built':
      return `built into ${result.folder}`;
    case 'failed':
      return `NOT BUILT, their tests will be skipped: ${result.problem}`;
  }
}
