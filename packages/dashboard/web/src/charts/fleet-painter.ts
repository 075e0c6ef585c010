// Draws the machines of the fleet map and remembers how each one looks, so that a change draws the cells that
// look different and no others: at twenty thousand cells a whole picture takes longer than a frame.

import { STATE_NAMES } from '../../../src/words.ts';
import { STATES } from '../parts/palette.ts';
import type { FleetCells } from './fleet-cells.ts';
import { type ColourBy, lookKey, paintOf } from './fleet-colours.ts';
import { cellBox, type FleetLayout, type Leaf } from './fleet-layout.ts';

const MIN_GLYPH_CELL = 16;
const MIN_ISLAND_CELL = 6;
const CONFIGURED = STATE_NAMES.indexOf('Configured');

export interface Scene {
  readonly cells: FleetCells;
  readonly layout: FleetLayout;
  readonly colourBy: ColourBy;
  readonly atMs: number;
}

type Colour = (token: string) => string;

export class FleetPainter {
  /** How each cell was painted last: its look, and which of its edges are open water. */
  #painted = new Uint32Array(0);
  #layout: FleetLayout | null = null;
  #machines: readonly string[] = [];

  /** Everything. */
  paint(context: CanvasRenderingContext2D, scene: Scene, colour: Colour): void {
    const { cells, layout } = scene;
    this.#painted = new Uint32Array(cells.count);
    this.#layout = layout;
    this.#machines = cells.machine;
    // The water between islands is the same wherever a group lies, so that `repaint` can pour it again.
    context.fillStyle = colour('--surface');
    for (const leaf of layout.leaves) context.fillRect(leaf.x, leaf.y, leaf.width, leaf.height);
    const byLook = new Map<number, { readonly leaf: Leaf; readonly place: number }[]>();
    forEachCell(scene, (leaf, place, index) => {
      const key = keyOf(scene, leaf, place, index);
      this.#painted[index] = key;
      // One fill style at a time: changing it costs more than a rectangle.
      const look = key >>> 2;
      const list = byLook.get(look);
      if (list === undefined) byLook.set(look, [{ leaf, place }]);
      else list.push({ leaf, place });
    });
    for (const [look, list] of byLook) {
      context.fillStyle = paintOf(look, scene.colourBy, colour);
      for (const { leaf, place } of list) {
        const index = (cells.start[leaf.group] ?? 0) + place;
        fillCell(context, leaf, place, this.#painted[index] ?? 0);
      }
    }
    if (scene.colourBy === 'state') {
      forEachCell(scene, (leaf, place, index) => drawGlyph(context, cells, leaf, place, index));
    }
  }

  /** Whether `repaint` can bring what is drawn up to this scene. */
  canRepaint(scene: Scene): boolean {
    return scene.layout === this.#layout && isSameList(scene.cells.machine, this.#machines);
  }

  /** Only what looks different. */
  repaint(context: CanvasRenderingContext2D, scene: Scene, colour: Colour): void {
    const { cells } = scene;
    this.#machines = cells.machine;
    forEachCell(scene, (leaf, place, index) => {
      const key = keyOf(scene, leaf, place, index);
      if (this.#painted[index] === key) return;
      this.#painted[index] = key;
      const box = cellBox(leaf, place);
      context.fillStyle = colour('--surface');
      context.fillRect(box.x, box.y, box.width, box.height);
      context.fillStyle = paintOf(key >>> 2, scene.colourBy, colour);
      fillCell(context, leaf, place, key);
      if (scene.colourBy === 'state') drawGlyph(context, cells, leaf, place, index);
    });
  }
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && a.every((name, at) => name === b[at]));
}

function forEachCell(
  { cells, layout }: Scene,
  told: (leaf: Leaf, place: number, index: number) => void,
): void {
  for (const leaf of layout.leaves) {
    const first = cells.start[leaf.group] ?? 0;
    const count = cells.countOf(leaf.group);
    for (let place = 0; place < count; place += 1) told(leaf, place, first + place);
  }
}

/** The look, and a bit each for another cluster at the left and above: each cluster is an island. */
function keyOf(scene: Scene, leaf: Leaf, place: number, index: number): number {
  const { cells } = scene;
  const cluster = cells.cluster[index];
  const isLeftOpen = place % leaf.columns > 0 && cells.cluster[index - 1] !== cluster;
  const isTopOpen = place >= leaf.columns && cells.cluster[index - leaf.columns] !== cluster;
  const look = lookKey(cells, index, scene.colourBy, scene.atMs);
  return (look << 2) | (isLeftOpen ? 1 : 0) | (isTopOpen ? 2 : 0);
}

function fillCell(context: CanvasRenderingContext2D, leaf: Leaf, place: number, key: number): void {
  const { x, y, width, height } = cellBox(leaf, place);
  const shore = Math.min(width, height) >= MIN_ISLAND_CELL ? 2 : 0;
  const left = (key & 1) === 0 ? 0 : shore;
  const top = (key & 2) === 0 ? 0 : shore;
  context.fillRect(x + left, y + top, width - left, height - top);
}

const GLYPHS: readonly { readonly solid: Path2D | null; readonly line: Path2D | null }[] =
  STATE_NAMES.map((name) => {
    const { solid, line } = STATES[name].shape;
    return {
      solid: solid === undefined ? null : new Path2D(solid),
      line: line === undefined ? null : new Path2D(line),
    };
  });

/** Large cells carry their state's shape; the common one stays plain, so that the others stand out. */
function drawGlyph(
  context: CanvasRenderingContext2D,
  cells: FleetCells,
  leaf: Leaf,
  place: number,
  index: number,
): void {
  if (Math.min(leaf.cellWidth, leaf.cellHeight) < MIN_GLYPH_CELL) return;
  const state = cells.state[index] ?? 0;
  const glyph = GLYPHS[state];
  if (state === CONFIGURED || glyph === undefined) return;
  const box = cellBox(leaf, place);
  context.save();
  context.translate(box.x + box.width / 2 - 6, box.y + box.height / 2 - 6);
  context.fillStyle = 'rgb(10 12 16 / 70%)';
  context.strokeStyle = 'rgb(10 12 16 / 70%)';
  context.lineWidth = 1.6;
  if (glyph.line !== null) context.stroke(glyph.line);
  if (glyph.solid !== null) context.fill(glyph.solid);
  context.restore();
}
