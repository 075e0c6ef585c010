// Where each group and each machine stands on the fleet map. A pure function of the groups and the size of
// the picture, so that a recorded moment looks as it did live. Areas follow counts in coarse steps: a
// machine that comes or goes moves nothing outside of its group.

import { hierarchy, treemap, treemapBinary } from 'd3-hierarchy';

export interface GroupShape {
  readonly path: readonly string[];
  readonly count: number;
}

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A group's cells in rows, from the left and from the top. */
export interface Leaf extends Box {
  readonly group: number;
  readonly columns: number;
  /** One cell with its gap, in pixels. */
  readonly cellWidth: number;
  readonly cellHeight: number;
  readonly path: readonly string[];
}

/** A named frame around groups, or around the cells of one. */
export interface Head extends Box {
  readonly path: readonly string[];
  readonly depth: number;
  readonly label: string;
  readonly hasLabel: boolean;
  readonly count: number;
}

export interface FleetLayout {
  readonly heads: readonly Head[];
  readonly leaves: readonly Leaf[];
}

interface Node {
  readonly name: string;
  readonly path: readonly string[];
  readonly children: Map<string, Node>;
  group: number;
  count: number;
}

/** rack-2 before rack-10. */
const byName = new Intl.Collator('en', { numeric: true });
const STEP = 1.12;
const LABEL_HEIGHT = 18;
const MIN_LABEL_WIDTH = 44;
const MIN_LABEL_BOX = 40;

export function layoutFleet(options: {
  readonly groups: readonly GroupShape[];
  readonly width: number;
  readonly height: number;
  /** Only what lies below this path. */
  readonly zoom: readonly string[];
}): FleetLayout {
  const { groups, width, height, zoom } = options;
  const root = treeOf(groups, zoom);
  if (root.count === 0 || width < 8 || height < 8) return { heads: [], leaves: [] };
  const tree = hierarchy<Node>(root, (node) =>
    node.children.size === 0
      ? undefined
      : [...node.children.values()].sort((a, b) => byName.compare(a.name, b.name)),
  ).sum((node) => (node.children.size === 0 ? steppedCount(node.count) : 0));
  const placed = treemap<Node>()
    .tile(treemapBinary)
    .size([width, height])
    .round(true)
    .paddingInner((node) => (node.depth === 0 ? 6 : node.depth === 1 ? 3 : 2))
    .paddingTop((node) => {
      if (node.depth === 0 && zoom.length === 0) return 0;
      const isWide = node.x1 - node.x0 >= MIN_LABEL_WIDTH;
      return isWide && node.y1 - node.y0 >= MIN_LABEL_BOX && node.data.name !== ''
        ? LABEL_HEIGHT
        : 1;
    })
    .paddingRight((node) => (node.depth === 0 ? 0 : 3))
    .paddingBottom((node) => (node.depth === 0 ? 0 : 3))
    .paddingLeft((node) => (node.depth === 0 ? 0 : 3))(tree);

  const heads: Head[] = [];
  const leaves: Leaf[] = [];
  placed.each((node) => {
    const box = { x: node.x0, y: node.y0, width: node.x1 - node.x0, height: node.y1 - node.y0 };
    const { data } = node;
    const isLeaf = data.children.size === 0;
    const hasLabel =
      data.name !== '' &&
      !(node.depth === 0 && zoom.length === 0) &&
      box.width >= MIN_LABEL_WIDTH &&
      box.height >= MIN_LABEL_BOX;
    if (data.name !== '' && (node.depth > 0 || zoom.length > 0)) {
      heads.push({
        ...box,
        path: data.path,
        depth: node.depth,
        label: shortName(data.name, node.parent?.data.name ?? zoom.at(-2) ?? ''),
        hasLabel,
        count: data.count,
      });
    }
    if (isLeaf) leaves.push(leafOf(box, data, hasLabel));
  });
  return { heads, leaves };
}

/** `eu-1a-r3` inside of `eu-1a` is `r3`: the frame around it says the rest. */
export function shortName(name: string, parent: string): string {
  if (parent === '' || !name.startsWith(parent)) return name;
  const rest = name.slice(parent.length).replace(/^[-_./:]+/, '');
  return rest === '' ? name : rest;
}

function treeOf(groups: readonly GroupShape[], zoom: readonly string[]): Node {
  const root = nodeOf(zoom.at(-1) ?? '', zoom);
  groups.forEach((group, index) => {
    if (group.count === 0 || !zoom.every((part, at) => group.path[at] === part)) return;
    let node = root;
    node.count += group.count;
    for (let depth = zoom.length; depth < group.path.length; depth += 1) {
      const name = group.path[depth] ?? '';
      let child = node.children.get(name);
      if (child === undefined) {
        child = nodeOf(name, group.path.slice(0, depth + 1));
        node.children.set(name, child);
      }
      child.count += group.count;
      node = child;
    }
    node.group = index;
  });
  return root;
}

function nodeOf(name: string, path: readonly string[]): Node {
  return { name, path, children: new Map(), group: -1, count: 0 };
}

/** The next power of STEP: an area changes only when its group has grown or shrunk by about an eighth. */
function steppedCount(count: number): number {
  return STEP ** Math.ceil(Math.log(Math.max(1, count)) / Math.log(STEP) - 1e-9);
}

function leafOf(box: Box, node: Node, hasLabel: boolean): Leaf {
  const top = hasLabel ? LABEL_HEIGHT : 1;
  const inner = {
    x: box.x + 2,
    y: box.y + top,
    width: Math.max(1, box.width - 4),
    height: Math.max(1, box.height - top - 2),
  };
  const grid = gridOf(inner.width, inner.height, node.count);
  return { ...inner, ...grid, group: node.group, path: node.path };
}

/** The largest square with which all of them fit, then stretched a little to fill the box. */
function gridOf(
  width: number,
  height: number,
  count: number,
): { readonly columns: number; readonly cellWidth: number; readonly cellHeight: number } {
  const guess = Math.max(1, Math.round(Math.sqrt((count * width) / height)));
  let best = { columns: 1, rows: count, cell: 0 };
  for (let columns = Math.max(1, guess - 3); columns <= guess + 3; columns += 1) {
    const rows = Math.ceil(count / columns);
    const cell = Math.min(width / columns, height / rows);
    if (cell > best.cell) best = { columns, rows, cell };
  }
  const most = Math.min(best.cell * STRETCH, MAX_CELL);
  return {
    columns: best.columns,
    cellWidth: Math.min(width / best.columns, most),
    cellHeight: Math.min(height / best.rows, most),
  };
}

const STRETCH = 1.4;
const MAX_CELL = 44;

/** The place of a group's nth machine, on whole pixels: blurred edges cost more and show less. */
export function cellBox(leaf: Leaf, place: number): Box {
  const row = Math.floor(place / leaf.columns);
  const column = place % leaf.columns;
  const gap = Math.min(leaf.cellWidth, leaf.cellHeight) >= 3 ? 1 : 0;
  const x = Math.round(column * leaf.cellWidth);
  const y = Math.round(row * leaf.cellHeight);
  return {
    x: leaf.x + x,
    y: leaf.y + y,
    width: Math.max(1, Math.round((column + 1) * leaf.cellWidth) - x - gap),
    height: Math.max(1, Math.round((row + 1) * leaf.cellHeight) - y - gap),
  };
}

/** The nth machine of the leaf under a point; -1 beside all of them. */
export function placeAt(leaf: Leaf, x: number, y: number, count: number): number {
  const column = Math.floor((x - leaf.x) / leaf.cellWidth);
  const row = Math.floor((y - leaf.y) / leaf.cellHeight);
  if (column < 0 || column >= leaf.columns || row < 0) return -1;
  const place = row * leaf.columns + column;
  return place < count ? place : -1;
}

export function isInside(box: Box, x: number, y: number): boolean {
  return x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height;
}

/** `a/b`, each part encoded, for a URL. */
export function printPath(path: readonly string[]): string {
  return path.map(encodeURIComponent).join('/');
}

/** A path that nobody wrote is no path: the whole fleet is shown. */
export function parsePath(text: string): readonly string[] {
  if (text === '') return [];
  try {
    return text.split('/').map(decodeURIComponent);
  } catch {
    return [];
  }
}
