// Who may import whom: the rows of LAYERS, checked on every import and on the folders that
// exist, so that a new package cannot slip in without a row. The last rules of this file keep
// imports on a package's public face and the outer folders outside.

import { FOLDERS, LAYERS, SELF_TEST_ONLY } from '../policy.ts';
import type { Finding, Rule } from '../rule.ts';
import { areaOf, isSource, isTest, type Tree, type TreeFile } from '../tree.ts';

const OUTER: readonly string[] = ['providers', 'bench', 'test', 'tools'];

export const layers: Rule = {
  id: 'layers',
  forbids: 'importing a package that is not listed above in design.md, or sideways',
  instead: 'move the shared part down, or talk over the wire; rows: tools/walls/policy.ts',
  scope: (path) => isSource(path) && areaOf(path) !== '',
  inspect: inspectLayers,
};

export const publicFace: Rule = {
  id: 'public-face',
  forbids: "a relative import into another package's folder, past its exports",
  instead: 'import @bigfleet/<name>, and export there what others need',
  scope: isSource,
  inspect: (file) => crossings(file, isDeepImport, 'is inside another package'),
};

export const demoUnimported: Rule = {
  id: 'demo-unimported',
  forbids: 'importing demo/',
  instead: 'move what is worth sharing into a package',
  scope: (path) => isSource(path) && !path.startsWith('demo/'),
  inspect: (file) => crossings(file, (_from, to) => to.startsWith('demo/'), 'is the demo'),
};

export const packagesInward: Rule = {
  id: 'packages-inward',
  forbids: `packages/ importing ${OUTER.join('/, ')}/`,
  instead: 'move the test there, or the helper into a package (testing/)',
  scope: (path) => isSource(path) && path.startsWith('packages/'),
  inspect: (file) =>
    crossings(file, (_from, to) => OUTER.includes(to.split('/')[0] ?? ''), 'is outside packages/'),
};

function inspectLayers(file: TreeFile, tree: Tree): Finding[] {
  const area = areaOf(file.path);
  const row = LAYERS[area] ?? (area.startsWith('providers/') ? LAYERS['providers/*'] : undefined);
  if (row === undefined) return [{ line: 1, message: `${area} has no row in LAYERS (policy.ts)` }];
  const findings: Finding[] = [];
  for (const { ref, to } of file.source?.edges ?? []) {
    if (to.kind !== 'file') continue;
    const target = areaOf(to.path);
    if (target === area) continue;
    const why = refusal(file.path, area, row, target, tree);
    if (why !== undefined) findings.push({ line: ref.line, message: why });
  }
  return findings;
}

function refusal(
  from: string,
  area: string,
  row: readonly string[],
  target: string,
  tree: Tree,
): string | undefined {
  const [folder = '', name] = target.split('/');
  const isPackage = folder === 'packages' && name !== undefined;
  if (isPackage && !tree.workspaces.has(`@bigfleet/${name}`))
    return `${target} has no package.json`;
  const allowed = isPackage ? row : (FOLDERS[area.split('/')[0] ?? ''] ?? []);
  const needed = isPackage ? name : folder;
  if (!allowed.includes('*') && !allowed.includes(needed))
    return `${area} may not import ${target}`;
  const selfTest = SELF_TEST_ONLY[area]?.includes(needed) === true;
  const inSelfTest = isTest(from) || /\/self-test\//.test(from);
  return selfTest && !inSelfTest ? `only the self-test of ${area} may import ${target}` : undefined;
}

function isDeepImport(from: string, to: string, specifier: string): boolean {
  const target = areaOf(to);
  return specifier.startsWith('.') && target !== areaOf(from) && /\//.test(target);
}

function crossings(
  file: TreeFile,
  crosses: (from: string, to: string, specifier: string) => boolean,
  what: string,
): Finding[] {
  return (file.source?.edges ?? []).flatMap(({ ref, to }) =>
    to.kind === 'file' && crosses(file.path, to.path, ref.specifier ?? '')
      ? [{ line: ref.line, message: `${to.path} ${what}` }]
      : [],
  );
}
