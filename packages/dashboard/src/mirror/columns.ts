// Machines as columns: 48 bytes a machine beside its id, so that half a million fit, can be copied in one
// go for a past moment, and are counted in one pass. A slot whose state is 0 is free.

const ROW_BYTES = 48;
const FIRST_SLOTS = 256;

export class Columns {
  id: Uint32Array;
  klass: Uint32Array;
  cluster: Uint32Array;
  need: Uint32Array;
  group: Uint32Array;
  node: Uint32Array;
  error: Uint32Array;
  pending: Uint32Array;
  priority: Int32Array;
  since: Float64Array;
  state: Uint8Array;
  interruption: Uint8Array;
  reclamation: Uint8Array;
  /** Declared risk when it was configured, as a bin from 1; 0 while it is not Configured. */
  riskBin: Uint8Array;
  /** Slots that were ever used. */
  length = 0;

  constructor(slots: number = FIRST_SLOTS) {
    this.id = new Uint32Array(slots);
    this.klass = new Uint32Array(slots);
    this.cluster = new Uint32Array(slots);
    this.need = new Uint32Array(slots);
    this.group = new Uint32Array(slots);
    this.node = new Uint32Array(slots);
    this.error = new Uint32Array(slots);
    this.pending = new Uint32Array(slots);
    this.priority = new Int32Array(slots);
    this.since = new Float64Array(slots);
    this.state = new Uint8Array(slots);
    this.interruption = new Uint8Array(slots);
    this.reclamation = new Uint8Array(slots);
    this.riskBin = new Uint8Array(slots);
  }

  get bytes(): number {
    return this.id.length * ROW_BYTES;
  }

  /** A new slot at the end. */
  append(): number {
    if (this.length === this.id.length) this.#resize(this.length * 2);
    return this.length++;
  }

  clone(): Columns {
    const copy = new Columns(Math.max(this.length, 1));
    copy.length = this.length;
    for (const name of NAMES) copy[name].set(this[name].subarray(0, this.length));
    return copy;
  }

  clear(slot: number): void {
    for (const name of NAMES) this[name][slot] = 0;
  }

  #resize(slots: number): void {
    const grown = new Columns(slots);
    for (const name of NAMES) grown[name].set(this[name]);
    for (const name of NAMES) Object.assign(this, { [name]: grown[name] });
  }
}

/** Also the bits of the undo encoding: appended, never reordered within a process. */
export const NAMES = [
  'id',
  'klass',
  'cluster',
  'need',
  'group',
  'node',
  'error',
  'pending',
  'priority',
  'since',
  'state',
  'interruption',
  'reclamation',
  'riskBin',
] as const;

export type ColumnName = (typeof NAMES)[number];
export type Row = Record<ColumnName, number>;

/** Those that hold numbers of texts. */
export const TEXT_COLUMNS = [
  'id',
  'cluster',
  'need',
  'group',
  'node',
  'error',
  'pending',
] as const satisfies readonly ColumnName[];

export function emptyRow(): Row {
  return Object.fromEntries(NAMES.map((name) => [name, 0])) as Row;
}
