// Walls on what a package reaches by any path, not only by its own imports. Types count: an
// `import type` ties releases together just as well, and turns into a value import unnoticed.

import { CORE } from '../policy.ts';
import type { Finding, Rule } from '../rule.ts';
import { isSource, type Target, type Tree, type TreeFile } from '../tree.ts';

export const shardWithoutCoordinator: Rule = {
  id: 'shard-without-coordinator',
  forbids: 'packages/shard reaching packages/coordinator by any path, tests included',
  instead: 'put what both need into wire or base; the shard must run with no coordinator at all',
  scope: (path) => path.startsWith('packages/shard/') && isSource(path),
  inspect: (file, tree) => reaching(file, tree, (to) => isIn(to, 'packages/coordinator/')),
};

/**
 * Tests are not excepted. Decision 22 lists who may use providerkit (sim, scaletest, the
 * self-test of conformance, the demo) and names no test of a core package; shard keeps its own
 * fake under shard/testing for that reason. A core whose tests need providerkit could not be
 * checked with providers/ and the kit removed.
 */
export const coreWithoutProviders: Rule = {
  id: 'core-without-providers',
  forbids: `what ships as BigFleet (${CORE.join(', ')}) reaching providerkit or providers/`,
  instead: 'reach providers over gRPC only; tests of core use the fake under shard/testing',
  scope: (path) => CORE.some((name) => path.startsWith(`packages/${name}/`)) && isSource(path),
  inspect: (file, tree) =>
    reaching(file, tree, (to) => isIn(to, 'packages/providerkit/') || isIn(to, 'providers/')),
};

function isIn(to: Target, folder: string): boolean {
  return to.kind === 'file' && to.path.startsWith(folder);
}

/** One finding per import of `file` that leads to a forbidden target, with the shortest path. */
export function reaching(
  file: TreeFile,
  tree: Tree,
  forbidden: (to: Target) => boolean,
): Finding[] {
  const findings: Finding[] = [];
  for (const { ref, to } of file.source?.edges ?? []) {
    const path = forbidden(to) ? [label(to)] : pathFrom(to, tree, forbidden);
    if (path === undefined) continue;
    findings.push({ line: ref.line, message: `reaches ${path.join(' → ')}` });
  }
  return findings;
}

function pathFrom(
  start: Target,
  tree: Tree,
  forbidden: (to: Target) => boolean,
): string[] | undefined {
  if (start.kind !== 'file') return undefined;
  const cameFrom = new Map<string, string | undefined>([[start.path, undefined]]);
  // Breadth first; every file enters the queue once, so the tree's size bounds it.
  const queue = [start.path];
  for (const at of queue) {
    for (const { to } of tree.files.get(at)?.source?.edges ?? []) {
      if (forbidden(to)) return [...backTo(cameFrom, at), label(to)];
      if (to.kind !== 'file' || cameFrom.has(to.path)) continue;
      cameFrom.set(to.path, at);
      queue.push(to.path);
    }
  }
  return undefined;
}

function backTo(cameFrom: ReadonlyMap<string, string | undefined>, end: string): string[] {
  const path: string[] = [];
  for (let at: string | undefined = end; at !== undefined; at = cameFrom.get(at)) path.push(at);
  return path.reverse();
}

export function label(to: Target): string {
  return to.kind === 'file' ? to.path : to.kind === 'unresolved' ? to.why : to.name;
}
