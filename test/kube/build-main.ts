// `make kube`: builds the programs of the modules in this folder, each once per go.sum. What
// $KUBEBUILDER_ASSETS brings is not built. Without Go, or without its module proxy, it says so and succeeds:
// `make e2e-kube` then counts its tests as skipped.

import { buildGoPrograms } from '../toolkit/index.ts';
import { KUBE_MODULES, kubeOrigin, type KubeModuleName, moduleToBuild } from './binaries.ts';

for (const name of Object.keys(KUBE_MODULES) as KubeModuleName[]) {
  const { taken, lacking, unusable } = kubeOrigin(name);
  const takenNames = Object.keys(taken).join(', ');
  if (takenNames !== '') console.log(`${takenNames}: taken from $KUBEBUILDER_ASSETS`);
  if (unusable !== undefined) console.log(`NOT TAKEN: ${unusable}`);
  if (lacking.length > 0) console.log(`${lacking.join(', ')}: ${built(name)}`);
}

function built(name: KubeModuleName): string {
  const result = buildGoPrograms(moduleToBuild(name));
  switch (result.kind) {
    case 'present':
      return `already built in ${result.folder}`;
    case 'built':
      return `built into ${result.folder}`;
    case 'failed':
      return `NOT BUILT, their tests will be skipped: ${result.problem}`;
  }
}
