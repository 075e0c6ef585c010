// A copy of the engine's sources in a temporary folder, in which one file at a time is replaced
// by a mutant and put back. The repository itself is never written.

import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { areaOf, type Mutation, mutate } from './mutation.ts';

const sourceFolder = fileURLToPath(new URL('../../', import.meta.url));
const packageFolder = path.dirname(sourceFolder);
const modulesFolder = fileURLToPath(new URL('../../../../../node_modules', import.meta.url));

export function readSource(file: string): string {
  return readFileSync(path.join(sourceFolder, file), 'utf8');
}

export class Workspace implements Disposable {
  readonly root: string = mkdtempSync(path.join(tmpdir(), 'bigfleet-mutants-'));

  constructor() {
    cpSync(sourceFolder, this.#path(''), { recursive: true });
    cpSync(path.join(packageFolder, 'package.json'), path.join(this.root, 'package.json'));
    // Other packages and fast-check resolve from here; @bigfleet/base is the repository's own.
    symlinkSync(modulesFolder, path.join(this.root, 'node_modules'), 'dir');
    mkdirSync(path.join(this.root, 'compiled'));
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  /** A file that the repository does not have. */
  write(file: string, text: string): void {
    mkdirSync(path.dirname(this.#path(file)), { recursive: true });
    writeFileSync(this.#path(file), text);
  }

  /** Test files of the folder, the one beside the mutated file first. */
  testsBeside(mutation: Mutation): string[] {
    const area = areaOf(mutation);
    const beside = mutation.file.replace(/\.ts$/, '.test.ts');
    const all = this.testsIn(area);
    return [...all.filter((file) => file === beside), ...all.filter((file) => file !== beside)];
  }

  testsIn(area: string): string[] {
    return readdirSync(this.#path(area))
      .filter((name) => name.endsWith('.test.ts'))
      .sort()
      .map((name) => `${area}/${name}`);
  }

  /** False when the mutation does not fit the sources; then nothing is run. */
  async withMutant(mutation: Mutation, run: () => Promise<void>): Promise<boolean> {
    const file = this.#path(mutation.file);
    const original = readFileSync(file, 'utf8');
    const mutant = mutate(original, mutation);
    if (mutant === undefined) return false;
    writeFileSync(file, mutant);
    try {
      await run();
    } finally {
      writeFileSync(file, original);
    }
    return true;
  }

  #path(file: string): string {
    return path.join(this.root, 'src', file);
  }
}
