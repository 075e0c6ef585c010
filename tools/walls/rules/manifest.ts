// package.json says exactly what the sources import, in both directions. An undeclared package
// works here by hoisting and fails for whoever installs ours from the registry; a declared one
// that nothing imports is attack surface and noise.

import { BUNDLED } from '../policy.ts';
import type { Finding, Rule } from '../rule.ts';
import { isTest, type Tree, type TreeFile, type Workspace } from '../tree.ts';

const MANIFEST = /^(?:packages\/[^/]+|providers\/[^/]+|demo)\/package\.json$/;

export const manifest: Rule = {
  id: 'manifest',
  forbids: 'a package imported but not declared, declared but not imported, or a stale pin',
  instead:
    'dependencies = what shipped files import, devDependencies = what only tests or bundled pages import',
  scope: (path) => MANIFEST.test(path),
  inspect: inspectManifest,
};

function inspectManifest(file: TreeFile, tree: Tree): Finding[] {
  const folder = file.path.replace(/\/package\.json$/, '');
  const workspace = [...tree.workspaces.values()].find((one) => one.folder === folder);
  if (workspace === undefined) return [{ line: 1, message: 'was not read as a workspace' }];
  const used = usedPackages(tree, workspace);
  const root = rootDevDependencies(tree);
  const lineOf = (name: string): number => lineIn(file.text, `"${name}"`);
  const findings: Finding[] = [];
  for (const [name, place] of used.shipped) {
    if (workspace.dependencies.has(name)) continue;
    findings.push({ line: lineOf('name'), message: `${place} imports ${name}: not declared` });
  }
  for (const [name, place] of used.tests) {
    const declared = workspace.dependencies.has(name) || workspace.devDependencies.has(name);
    if (declared || root.has(name)) continue;
    const message = `${place} (a test or a page) imports ${name}: not in devDependencies`;
    findings.push({ line: lineOf('name'), message });
  }
  for (const name of workspace.dependencies.keys()) {
    if (used.shipped.has(name)) continue;
    findings.push({ line: lineOf(name), message: `declares ${name}: no shipped file imports it` });
  }
  for (const name of workspace.devDependencies.keys()) {
    if (used.tests.has(name) || name.startsWith('@types/') || isRun(file.text, name)) continue;
    findings.push({
      line: lineOf(name),
      message: `declares ${name} for tests or pages: none imports it`,
    });
  }
  return [...findings, ...stalePins(workspace, tree, lineOf)];
}

/** What a provider's own scripts run: outside this repository they find no tools of the root. */
const COMMANDS: Readonly<Record<string, RegExp>> = { typescript: /\btsc\b/ };

function isRun(manifestText: string, name: string): boolean {
  const { scripts = {} } = JSON.parse(manifestText) as { scripts?: Record<string, string> };
  return Object.values(scripts).some((script) => COMMANDS[name]?.test(script) === true);
}

interface Used {
  readonly shipped: ReadonlyMap<string, string>;
  readonly tests: ReadonlyMap<string, string>;
}

/** Package name → the first place that imports it. */
function usedPackages(tree: Tree, workspace: Workspace): Used {
  const shipped = new Map<string, string>();
  const tests = new Map<string, string>();
  for (const file of tree.files.values()) {
    if (!file.path.startsWith(`${workspace.folder}/`)) continue;
    const used = isTest(file.path) || BUNDLED.test(file.path) ? tests : shipped;
    for (const { ref, to } of file.source?.edges ?? []) {
      const name = to.kind === 'npm' ? to.name : workspaceName(tree, ref.specifier ?? '');
      if (name === undefined || name === workspace.name || used.has(name)) continue;
      used.set(name, `${file.path}:${ref.line}`);
    }
  }
  return { shipped, tests };
}

function workspaceName(tree: Tree, specifier: string): string | undefined {
  const name = specifier.split('/').slice(0, 2).join('/');
  return tree.workspaces.has(name) ? name : undefined;
}

/** Sibling packages are released together: their pins are the exact present versions. */
function stalePins(workspace: Workspace, tree: Tree, lineOf: (name: string) => number): Finding[] {
  const declared = [...workspace.dependencies, ...workspace.devDependencies];
  return declared.flatMap(([name, pin]) => {
    const sibling = tree.workspaces.get(name);
    if (sibling === undefined) return [];
    const manifest = tree.files.get(`${sibling.folder}/package.json`)?.text ?? '{}';
    const version = (JSON.parse(manifest) as { version?: string }).version ?? '';
    if (pin === version) return [];
    return [{ line: lineOf(name), message: `pins ${name} ${pin}, which is at ${version}` }];
  });
}

function rootDevDependencies(tree: Tree): ReadonlySet<string> {
  const text = tree.files.get('package.json')?.text ?? '{}';
  const root = JSON.parse(text) as { devDependencies?: Record<string, string> };
  return new Set(Object.keys(root.devDependencies ?? {}));
}

function lineIn(text: string, needle: string): number {
  const at = text.indexOf(needle);
  return at < 0 ? 1 : text.slice(0, at).split('\n').length;
}
