// base imports nothing and engine imports base only, so that the same engine runs in a shard,
// in the simulator and in a browser tab. Checked by any path, and for the globals that are I/O:
// one process.env deep inside base would end "same inputs, same bytes".

import { globalUses } from '../globals.ts';
import { PURE_TEST_IMPORTS, REAL_RUNTIME, words } from '../policy.ts';
import type { Finding, Rule } from '../rule.ts';
import { isSource, isTest, type Target, type Tree, type TreeFile } from '../tree.ts';
import { label, reaching } from './reach.ts';

const IMPURE_GLOBALS: readonly string[] = words(
  'process Buffer console fetch WebSocket XMLHttpRequest EventSource navigator',
  'localStorage sessionStorage indexedDB __dirname __filename',
);

export const basePure: Rule = {
  id: 'base-pure',
  forbids: 'packages/base importing or using anything outside itself (real.ts: node: only)',
  instead: 'take it as an argument through Runtime; only runtime/real.ts touches the machine',
  scope: (path) => path.startsWith('packages/base/') && isSource(path),
  inspect: (file, tree) => inspectPure(file, tree, 'packages/base/'),
};

export const enginePure: Rule = {
  id: 'engine-pure',
  forbids: 'packages/engine reaching anything but itself and the pure part of @bigfleet/base',
  instead: 'pass values in: (inventory, demand, now) → (actions, records)',
  scope: (path) => path.startsWith('packages/engine/') && isSource(path),
  inspect: (file, tree) => inspectPure(file, tree, 'packages/engine/'),
};

function inspectPure(file: TreeFile, tree: Tree, own: string): Finding[] {
  if (file.path === REAL_RUNTIME) return file.source?.edges.flatMap(realRuntimeImport) ?? [];
  const edges = file.source?.edges ?? [];
  if (isTest(file.path)) {
    return edges.flatMap(({ ref, to }) =>
      to.kind === 'file' || PURE_TEST_IMPORTS.includes(label(to))
        ? []
        : [{ line: ref.line, message: `a test of a pure package imports ${label(to)}` }],
    );
  }
  const impure = (to: Target): boolean =>
    to.kind === 'builtin' ||
    to.kind === 'npm' ||
    (to.kind === 'file' &&
      (to.path === REAL_RUNTIME ||
        !(to.path.startsWith(own) || to.path.startsWith('packages/base/'))));
  const uses = globalUses(file.source?.tokens ?? [], IMPURE_GLOBALS);
  return [
    ...reaching(file, tree, impure),
    ...uses.map(({ name, line }) => ({ line, message: `uses the global ${name}` })),
  ];
}

function realRuntimeImport(edge: {
  readonly ref: { readonly line: number };
  readonly to: Target;
}): Finding[] {
  const { ref, to } = edge;
  const allowed =
    to.kind === 'builtin' || (to.kind === 'file' && to.path.startsWith('packages/base/'));
  return allowed ? [] : [{ line: ref.line, message: `real.ts imports ${label(to)}` }];
}
