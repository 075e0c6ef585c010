// The checks of the wire contract that need buf: lint, format, breaking changes against the
// committed image, and drift between the .proto files and what was generated from them.
// Each returns its problems; none changes a file of the repository. Paths are taken below a root,
// so that tests can plant faults in a copy.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Problem {
  readonly check: 'lint' | 'format' | 'breaking' | 'image' | 'generated';
  readonly detail: string;
  readonly remedy: string;
}

export const repositoryRoot: string = fileURLToPath(new URL('../../', import.meta.url));
export const imagePath: string = join('api', 'descriptor', 'bigfleet.binpb');
const generatedPath = join('packages', 'wire', 'src', 'gen');
const regenerate = 'run `make proto` and commit the result';

export function printProblems(problems: readonly Problem[]): void {
  for (const { check, detail, remedy } of problems) {
    console.error(`proto ${check}: ${detail}\n  → ${remedy}`);
  }
}

/** Runs the pinned buf of this repository inside a root that may be a copy. */
export function runBuf(root: string, args: readonly string[]): { ok: boolean; output: string } {
  const bin = join(repositoryRoot, 'node_modules', '.bin');
  const path = `${bin}${delimiter}${process.env['PATH'] ?? ''}`;
  const result = spawnSync(join(bin, 'buf'), args, {
    cwd: root,
    encoding: 'utf8',
    timeout: 120_000,
    env: { ...process.env, PATH: path },
  });
  if (result.error !== undefined) {
    throw new Error(`cannot run buf; install the packages first: npm ci`, { cause: result.error });
  }
  return { ok: result.status === 0, output: `${result.stdout}${result.stderr}`.trim() };
}

export function checkLint(root: string): Problem[] {
  const { ok, output } = runBuf(root, ['lint']);
  return ok ? [] : [{ check: 'lint', detail: output, remedy: 'fix the .proto files' }];
}

export function checkFormat(root: string): Problem[] {
  const { ok, output } = runBuf(root, ['format', '--diff', '--exit-code']);
  return ok ? [] : [{ check: 'format', detail: output, remedy: 'run `npx buf format -w`' }];
}

export function checkBreaking(root: string): Problem[] {
  if (!existsSync(join(root, imagePath))) {
    return [{ check: 'breaking', detail: `${imagePath} is missing`, remedy: regenerate }];
  }
  const { ok, output } = runBuf(root, ['breaking', '--against', imagePath]);
  const remedy =
    'established names and numbers never change; retire an addition with `reserved` ' +
    '(docs/spec/wire-additions.md §1)';
  return ok ? [] : [{ check: 'breaking', detail: output, remedy }];
}

/** A stale image would let a field that was added after it disappear again unnoticed. */
export function checkImage(root: string): Problem[] {
  return withTemporaryFolder((folder) => {
    const built = join(folder, 'image.binpb');
    const { ok, output } = runBuf(root, imageArguments(built));
    if (!ok) return [{ check: 'image', detail: output, remedy: 'fix the .proto files' }];
    const committed = join(root, imagePath);
    if (existsSync(committed) && readFileSync(committed).equals(readFileSync(built))) return [];
    const detail = `${imagePath} does not describe the .proto files`;
    return [{ check: 'image', detail, remedy: regenerate }];
  });
}

export function imageArguments(output: string): string[] {
  return ['build', '--exclude-source-info', '-o', output];
}

export function checkGenerated(root: string): Problem[] {
  return withTemporaryFolder((folder) => {
    const { ok, output } = runBuf(root, ['generate', '-o', folder]);
    if (!ok) return [{ check: 'generated', detail: output, remedy: 'fix the .proto files' }];
    return treeDifferences(join(folder, generatedPath), join(root, generatedPath)).map(
      (detail): Problem => ({ check: 'generated', detail, remedy: regenerate }),
    );
  });
}

function treeDifferences(wanted: string, actual: string): string[] {
  const wantedFiles = new Set(listFiles(wanted));
  const actualFiles = new Set(listFiles(actual));
  const differences: string[] = [];
  if (wantedFiles.size === 0) differences.push('buf generated no file');
  for (const path of wantedFiles) {
    const where = join(generatedPath, path);
    if (!actualFiles.has(path)) differences.push(`${where} is missing`);
    else if (!readFileSync(join(wanted, path)).equals(readFileSync(join(actual, path)))) {
      differences.push(`${where} is not what the .proto files generate`);
    }
  }
  for (const path of actualFiles) {
    if (!wantedFiles.has(path)) differences.push(`${join(generatedPath, path)} is left over`);
  }
  return differences;
}

function listFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

function withTemporaryFolder<T>(use: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'bigfleet-proto-check-'));
  try {
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
