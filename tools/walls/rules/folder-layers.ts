// Folders are layers: in every directory the folders and files that lie directly in it depend on each
// other in one direction. A cycle through a folder means that the folder is two things, and a reader
// who opens it has to know the rest of the cycle first. Types count: what a name means is part of
// reading the code. Tests do not: a test may look at anything. Generated code follows the contract's
// packages. A module named by URL is started as a thread or a process of its own.

import path from 'node:path';
import type { Finding, Rule } from '../rule.ts';
import { areaOf, isSource, type Tree } from '../tree.ts';

export const folderLayers: Rule = {
  id: 'folder-layers',
  forbids: 'a cycle of imports through a folder, in any directory of an area',
  instead: 'move the file to the folder of its idea, or the type down to the layer that owns it',
  scope: isLayered,
  inspect: (file, tree) => findingsOf(tree).get(file.path) ?? [],
};

function isLayered(file: string): boolean {
  const isOutside = /\.(?:test|long|e2e|bench)\.[mc]?[jt]sx?$|\/src\/gen\//.test(file);
  return isSource(file) && areaOf(file) !== '' && !isOutside;
}

interface Import {
  readonly from: string;
  readonly line: number;
  readonly to: string;
}

/** Nodes of one directory: its files, and its folders with everything below them. */
type Graph = Map<string, Map<string, Import>>;

const byTree = new WeakMap<Tree, ReadonlyMap<string, readonly Finding[]>>();

/** Of the whole tree, by the file of the import that closes the cycle; found once. */
function findingsOf(tree: Tree): ReadonlyMap<string, readonly Finding[]> {
  const known = byTree.get(tree);
  if (known !== undefined) return known;
  const findings = new Map<string, Finding[]>();
  for (const [directory, graph] of graphsOf(tree)) {
    const told = new Set<string>();
    for (const folder of [...graph.keys()].filter((node) => node.endsWith('/')).sort()) {
      const cycle = told.has(folder) ? [] : shortestCycle(graph, folder);
      const [first] = cycle;
      if (first === undefined) continue;
      for (const { from } of cycle) told.add(nodeOf(from, directory));
      const finding = { line: first.line, message: describe(directory, cycle) };
      findings.set(first.from, [...(findings.get(first.from) ?? []), finding]);
    }
  }
  byTree.set(tree, findings);
  return findings;
}

function graphsOf(tree: Tree): ReadonlyMap<string, Graph> {
  const graphs = new Map<string, Graph>();
  for (const { path: from, source } of tree.files.values()) {
    if (!isLayered(from)) continue;
    for (const { ref, to } of source?.edges ?? []) {
      if (ref.kind === 'url' || to.kind !== 'file') continue;
      if (!isLayered(to.path) || areaOf(to.path) !== areaOf(from)) continue;
      addEdge(graphs, { from, line: ref.line, to: to.path });
    }
  }
  return graphs;
}

/** Two files are nodes of their own in one directory only: the lowest that holds both. */
function addEdge(graphs: Map<string, Graph>, edge: Import): void {
  const directory = commonFolder(edge.from, edge.to);
  const [from, to] = [nodeOf(edge.from, directory), nodeOf(edge.to, directory)];
  if (from === to) return;
  const graph = graphs.get(directory) ?? new Map<string, Map<string, Import>>();
  graphs.set(directory, graph);
  const targets = graph.get(from) ?? new Map<string, Import>();
  graph.set(from, targets);
  if (!targets.has(to)) targets.set(to, edge);
}

function commonFolder(a: string, b: string): string {
  let folder = path.posix.dirname(a);
  while (!b.startsWith(`${folder}/`)) folder = path.posix.dirname(folder);
  return folder;
}

/** The file itself, or the folder that holds it, with a slash at its end. */
function nodeOf(file: string, directory: string): string {
  const inside = file.slice(directory.length + 1);
  const slash = inside.indexOf('/');
  return slash < 0 ? inside : inside.slice(0, slash + 1);
}

/** Breadth first: one import per step, back to the folder where it starts; none without a cycle. */
function shortestCycle(graph: Graph, folder: string): readonly Import[] {
  const paths = new Map<string, readonly Import[]>([[folder, []]]);
  for (const [at, walked] of paths) {
    for (const [next, edge] of graph.get(at) ?? []) {
      if (next === folder) return [...walked, edge];
      if (!paths.has(next)) paths.set(next, [...walked, edge]);
    }
  }
  return [];
}

function describe(directory: string, cycle: readonly Import[]): string {
  const nodes = cycle.map(({ from }) => nodeOf(from, directory));
  const causes = cycle.map(({ from, line, to }) => {
    const [shortFrom, shortTo] = [from, to].map((file) => file.slice(directory.length + 1));
    return `${shortFrom}:${line} imports ${shortTo}`;
  });
  return `closes ${directory}: ${[...nodes, nodes[0]].join(' → ')} (${causes.join('; ')})`;
}
