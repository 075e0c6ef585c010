// Which providers the process dials, where they are, who said so and whether other shards dial them
// too. One table for ownership, reports and reading; changed only by whoever dials.
//
// Bound: MAX_PROVIDERS, like the set it describes.

export interface DirectoryEntry {
  readonly address: string;
  readonly source: 'flag' | 'registry' | 'fake';
  /** Several shards dial it: the rules of ownership apply. */
  readonly isShared: boolean;
  readonly region: string;
  /** The registry dropped it: nothing is acquired, and the client goes with its last machine. */
  readonly isRetiring: boolean;
}

export class ProviderDirectory {
  readonly #entries = new Map<string, DirectoryEntry>();

  constructor(entries: Iterable<readonly [string, DirectoryEntry]> = []) {
    for (const [name, entry] of entries) this.set(name, entry);
  }

  get hasShared(): boolean {
    return [...this.#entries.values()].some(({ isShared }) => isShared);
  }

  get(name: string): DirectoryEntry | undefined {
    return this.#entries.get(name);
  }

  entries(): Iterable<readonly [string, DirectoryEntry]> {
    return this.#entries;
  }

  nameAt(address: string): string | undefined {
    for (const [name, entry] of this.#entries) if (entry.address === address) return name;
    return undefined;
  }

  set(name: string, entry: DirectoryEntry): void {
    this.#entries.set(name, entry);
  }

  delete(name: string): void {
    this.#entries.delete(name);
  }
}
