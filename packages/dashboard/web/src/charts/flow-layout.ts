// Where the eight states stand in the lifecycle picture, and which way an edge runs. Places are fixed: a
// reader who has seen the picture once finds a state again without reading. The left loop buys and gives
// back a machine, the right loop lends it to a cluster; both meet in Idle.

import type { StateName as State } from '../../../src/words.ts';

export const FLOW_WIDTH = 1180;
export const FLOW_HEIGHT = 480;
export const NODE_WIDTH = 128;
export const NODE_HEIGHT = 62;

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Centres. */
export const PLACES: Readonly<Record<State, Point>> = {
  Speculative: { x: 80, y: 132 },
  Creating: { x: 330, y: 132 },
  Idle: { x: 590, y: 132 },
  Configuring: { x: 850, y: 132 },
  Configured: { x: 1100, y: 132 },
  Deleting: { x: 330, y: 290 },
  Draining: { x: 850, y: 290 },
  Failed: { x: 590, y: 434 },
};

/** The edges of a machine's ordinary life, whose way is drawn even while nobody has taken it. */
export const ORDINARY: readonly (readonly [State, State])[] = [
  ['Speculative', 'Creating'],
  ['Creating', 'Idle'],
  ['Idle', 'Configuring'],
  ['Configuring', 'Configured'],
  ['Configured', 'Draining'],
  ['Draining', 'Idle'],
  ['Idle', 'Deleting'],
  ['Deleting', 'Speculative'],
];

export interface Way {
  readonly path: string;
  /** Middle of the curve, where its figures stand. */
  readonly label: Point;
  /** Whether the figures stand above and below the curve, or beside it. */
  readonly isFlat: boolean;
  readonly anchor: 'start' | 'middle' | 'end';
}

/** A failure is a stub that points down from its state: seven curves into Failed would hide all else. */
export function isStub(from: State, to: State): boolean {
  return to === 'Failed' && from !== 'Failed';
}

export function stubOf(from: State): Way {
  const { x, y } = PLACES[from];
  const start = { x: x + NODE_WIDTH / 2 - 22, y: y + NODE_HEIGHT / 2 };
  const endY = start.y + 34;
  // The last state has no room at its right.
  const isLast = x + NODE_WIDTH > FLOW_WIDTH;
  return {
    path: `M${start.x} ${start.y}V${endY}`,
    // Close to the state: the figures of edges stand further down.
    label: { x: isLast ? start.x - 8 : start.x + 8, y: start.y + 14 },
    isFlat: false,
    anchor: isLast ? 'end' : 'start',
  };
}

export function wayOf(from: State, to: State): Way {
  const a = PLACES[from];
  const b = PLACES[to];
  if (a.y === b.y && b.x > a.x) {
    const hasNeighbour = b.x - a.x < 300;
    if (hasNeighbour) return straight(a, b);
  }
  return curved(a, b);
}

function straight(a: Point, b: Point): Way {
  const from = a.x + NODE_WIDTH / 2;
  const to = b.x - NODE_WIDTH / 2 - 7;
  return {
    path: `M${from} ${a.y}H${to}`,
    label: { x: (from + to) / 2, y: a.y },
    isFlat: true,
    anchor: 'middle',
  };
}

function curved(a: Point, b: Point): Way {
  if (a.y !== b.y) return corner(a, b);
  // Back along the same row, or over a neighbour: an arch above it, higher the farther it goes.
  const lift = 52 + Math.abs(b.x - a.x) / 14;
  const side = b.x > a.x ? 18 : -18;
  const start = { x: a.x + side, y: a.y - NODE_HEIGHT / 2 };
  const end = { x: b.x - side, y: b.y - NODE_HEIGHT / 2 - 7 };
  const top = Math.max(8, start.y - lift);
  const apex = start.y - (start.y - top) * 0.75;
  return {
    path: `M${start.x} ${start.y}C${start.x} ${top} ${end.x} ${top} ${end.x} ${end.y}`,
    // Under the arch: above it there may be no room. Two arches between the same states run over each
    // other, so each has its figures at the end where it starts.
    label: { x: (start.x * 3 + end.x * 2) / 5, y: apex + 34 },
    isFlat: false,
    anchor: 'middle',
  };
}

/** Between rows: leaves its state downwards or upwards, reaches the other from the side. */
function corner(a: Point, b: Point): Way {
  const down = b.y > a.y ? 1 : -1;
  const right = b.x > a.x ? 1 : -1;
  if (Math.abs(a.x - b.x) < NODE_WIDTH) {
    const start = { x: a.x - 30, y: a.y + (down * NODE_HEIGHT) / 2 };
    const end = { x: b.x - 30, y: b.y - down * (NODE_HEIGHT / 2 + 7) };
    const middleY = (start.y + end.y) / 2;
    return {
      path: `M${start.x} ${start.y}L${end.x} ${end.y}`,
      label: { x: start.x + BESIDE, y: middleY },
      isFlat: false,
      anchor: 'start',
    };
  }
  const bend =
    down === 1
      ? { x: a.x + right * 34, y: b.y, top: a.y + NODE_HEIGHT / 2 }
      : { x: b.x - right * 34, y: a.y, top: b.y + NODE_HEIGHT / 2 + 7 };
  const side = down === 1 ? b.x - right * (NODE_WIDTH / 2 + 7) : a.x + (right * NODE_WIDTH) / 2;
  const turn = `C${bend.x} ${bend.y} ${bend.x} ${bend.y}`;
  // Beside the upright part, on the side that the curve turns to: inside its loop.
  const inwards = side > bend.x ? 1 : -1;
  return {
    path:
      down === 1
        ? `M${bend.x} ${bend.top}${turn} ${side} ${bend.y}`
        : `M${side} ${bend.y}${turn} ${bend.x} ${bend.top}`,
    label: { x: bend.x + inwards * BESIDE, y: (bend.top + bend.y - NODE_HEIGHT / 2) / 2 },
    isFlat: false,
    anchor: inwards === 1 ? 'start' : 'end',
  };
}

/** From the middle of an upright edge to its figures. */
const BESIDE = 16;

/**
 * A machine may pass a state between two looks at it: its steps are then seen as one, between states that no
 * machine goes between. Such a step is `merged`, and drawn as the aside that it is.
 */
export type EdgeKind = 'unused' | 'failure' | 'merged' | 'taken';

export function edgeKind(from: State, to: State, count: number): EdgeKind {
  if (count === 0) return 'unused';
  if (isStub(from, to)) return 'failure';
  const isOrdinary = ORDINARY.some(([a, b]) => a === from && b === to);
  return isOrdinary || from === 'Failed' ? 'taken' : 'merged';
}

/** Width of an edge: by the square root, since one busy edge would make all others hairs. */
export function edgeWidth(kind: EdgeKind, count: number, largest: number): number {
  if (kind === 'unused') return 1.25;
  const share = Math.sqrt(count / Math.max(1, largest));
  return kind === 'merged' ? 1.25 + 1.75 * share : 2 + 10 * share;
}
