// Builds and starts container images on this machine, in a storage of its own that is gone
// afterwards. Where the machine cannot do that, `open` says why: the caller skips by that name. What
// the images themselves do wrong is never such a reason.

import { execFile } from 'node:child_process';
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findCommand } from '../../toolkit/packages.ts';
import { createTempDir, monotonicMs, type TempDir } from '../../toolkit/index.ts';
import { type Container, startContainer } from './container.ts';

export const IMAGE_USER = 65_532;
const ROOT = path.join(import.meta.dirname, '../../..');
const NEEDED: readonly string[] = ['buildah', 'mmdebstrap', 'podman', 'runc', 'go', 'npm'];
const BUILD_WITHIN_MS = 20 * 60_000;
const ANSWER_WITHIN_MS = 2 * 60_000;
/** What podman exits with when it or the runtime failed, not the command inside. */
const RUNTIME_FAILED: readonly number[] = [125, 126];

export type Opened =
  | { readonly ok: true; readonly host: ContainerHost }
  | { readonly ok: false; readonly reason: string };

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** One call of build.sh. */
export interface Build {
  /** All images unless told. */
  readonly images?: readonly string[];
  readonly tag: string;
  /** What its processes call their build; that of the checkout unless told. */
  readonly revision?: string;
}

export interface PodContainerSpec {
  readonly name: string;
  /** As a Pod names it; without a registry it is one of this machine. */
  readonly image: string;
  readonly podmanArgs: readonly string[];
  readonly args: readonly string[];
  readonly logFile: string;
  readonly graceMs: number;
}

export interface RunSpec {
  readonly image: string;
  readonly args: readonly string[];
  /** Folder on this machine → where the container sees it. */
  readonly mounts?: Readonly<Record<string, string>>;
}

export class ContainerHost implements AsyncDisposable {
  readonly #folder: TempDir;
  readonly #env: NodeJS.ProcessEnv;
  #folderCount = 0;
  #cannotStart: string | undefined;

  private constructor(folder: TempDir, driver: string) {
    this.#folder = folder;
    const conf = path.join(folder.path, `${driver}.conf`);
    writeFileSync(conf, storageConf(folder.path, driver));
    this.#env = { ...process.env, CONTAINERS_STORAGE_CONF: conf };
  }

  /** Of this checkout: a build that fails twice throws. The second build takes the base images of the first. */
  static async open(builds: readonly Build[] = [{ tag: DEVELOPMENT }]): Promise<Opened> {
    const missing = NEEDED.filter((command) => findCommand(command) === undefined);
    if (missing.length > 0) return { ok: false, reason: `not installed: ${missing.join(', ')}` };
    if (process.getuid?.() !== 0) return { ok: false, reason: 'building images needs root' };
    const folder = createTempDir('images');
    const host = await withStorage(folder, (driver) => new ContainerHost(folder, driver));
    if (!host.ok) {
      await folder.remove();
      return host;
    }
    try {
      for (const build of builds) await host.host.#build(build, builds[0]?.tag ?? build.tag);
    } catch (error) {
      await host.host[Symbol.asyncDispose]();
      throw error;
    }
    const image = tagged('bigfleet', builds[0]?.tag);
    const tried = await host.host.#podman('run', ...RESTRICTED, ...NODE_RUNS, image, '--version');
    if (RUNTIME_FAILED.includes(tried.code)) {
      host.host.#cannotStart = `podman cannot start containers here: ${tried.stderr.trim()}`;
    }
    return host;
  }

  /** Why this machine builds images but starts none; undefined when it does. */
  get cannotStart(): string | undefined {
    return this.#cannotStart;
  }

  /** Twice at most: it needs package registries, and npm was seen to end by a signal in a chroot. */
  async #build(build: Build, baseTag: string): Promise<void> {
    const sinceMs = monotonicMs();
    const first = await this.#buildOnce(build, baseTag, BUILD_WITHIN_MS);
    if (first.code === 0) return;
    const told = `build.sh exits ${first.code}:\n${first.stdout}${first.stderr}`;
    const leftMs = BUILD_WITHIN_MS - (monotonicMs() - sinceMs);
    if (leftMs <= 0) throw new Error(told);
    console.error(`${told}\nbuild.sh runs once more`);
    const { code, stdout, stderr } = await this.#buildOnce(build, baseTag, leftMs);
    if (code !== 0) throw new Error(`build.sh exits ${code} again:\n${stdout}${stderr}`);
  }

  async #buildOnce(
    { images = [], tag, revision }: Build,
    baseTag: string,
    withinMs: number,
  ): Promise<Outcome> {
    const script = path.join(ROOT, 'deploy/images/build.sh');
    const env = {
      TAG: tag,
      ...(revision === undefined ? {} : { REVISION: revision }),
      ...(await this.#bases(baseTag)),
    };
    return this.#call('sh', [script, ...images], Math.ceil(withinMs), env);
  }

  /** Those that an earlier run has made; the layers of that run are good only on them. */
  async #bases(tag: string): Promise<Readonly<Record<string, string>>> {
    const made: Record<string, string> = {};
    for (const one of ['build', 'etcd', 'base']) {
      const image = tagged(`bigfleet-${one}`, tag);
      const { code } = await this.#podman('image', 'exists', image);
      if (code === 0) made[`${one.toUpperCase()}_IMAGE`] = image;
    }
    return made;
  }

  /** Whether an image can be made at all with this storage. */
  async tryStorage(): Promise<string | undefined> {
    const made = await this.#call('buildah', ['from', 'scratch'], ANSWER_WITHIN_MS);
    if (made.code !== 0) return made.stderr.trim();
    const container = made.stdout.trim();
    const file = path.join(ROOT, 'package.json');
    const added = await this.#call('buildah', ['add', container, file, '/'], ANSWER_WITHIN_MS);
    await this.#call('buildah', ['rm', container], ANSWER_WITHIN_MS);
    return added.code === 0 ? undefined : added.stderr.trim();
  }

  /** As a cluster starts it: read-only, its own user, no capability, no new privileges. */
  start({ image, args, mounts = {} }: RunSpec): Promise<Container> {
    const volumes = Object.entries(mounts).flatMap(([from, to]) => ['--volume', `${from}:${to}`]);
    return startContainer({
      name: image,
      image: tagged(image),
      env: this.#env,
      podmanArgs: [...RUNTIME, 'run', ...RESTRICTED, ...volumes],
      args,
      podman: (...rest) => this.#podman(...rest),
    });
  }

  /** Restricted by nothing but what `podmanArgs` says. */
  startInPod({ podmanArgs, ...spec }: PodContainerSpec): Promise<Container> {
    return startContainer({
      ...spec,
      env: this.#env,
      podmanArgs: [...RUNTIME, 'run', ...CONFINED, ...podmanArgs],
      podman: (...rest) => this.#podman(...rest),
    });
  }

  /** Ends when the command does. */
  run({ image, args }: RunSpec): Promise<Outcome> {
    return this.#podman('run', '--rm', ...RESTRICTED, tagged(image), ...args);
  }

  async inspect(image: string): Promise<unknown> {
    const found = JSON.parse(await this.#must('image', 'inspect', tagged(image))) as unknown[];
    return found[0];
  }

  /** Where its files can be read until the host closes. */
  async mount(image: string): Promise<string> {
    return (await this.#must('image', 'mount', tagged(image))).trim();
  }

  /** An empty folder that the user of the images may write. */
  folder(): string {
    this.#folderCount += 1;
    const made = path.join(this.#folder.path, 'mounted', String(this.#folderCount));
    mkdirSync(made, { recursive: true });
    chownSync(made, IMAGE_USER, IMAGE_USER);
    return made;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#podman('rm', '--all', '--force', '--time', '0');
    // A build that failed leaves its stage mounted.
    await this.#call('buildah', ['rm', '--all'], ANSWER_WITHIN_MS);
    await this.#podman('image', 'umount', '--all', '--force');
    await this.#podman('rmi', '--all', '--force');
    await this.#folder.remove();
  }

  async #must(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.#podman(...args);
    if (code !== 0) throw new Error(`podman ${args.join(' ')} exits ${code}: ${stderr}`);
    return stdout;
  }

  #podman(...args: readonly string[]): Promise<Outcome> {
    return this.#call('podman', [...RUNTIME, ...args], ANSWER_WITHIN_MS);
  }

  #call(
    command: string,
    args: readonly string[],
    timeout: number,
    env: Readonly<Record<string, string>> = {},
  ): Promise<Outcome> {
    return new Promise((resolve) => {
      const options = { env: { ...this.#env, ...env }, timeout, maxBuffer: 64 << 20 };
      execFile(command, args, options, (error, stdout, stderr) => {
        if (error === null) resolve({ code: 0, stdout, stderr });
        else if (typeof error.code === 'number') resolve({ code: error.code, stdout, stderr });
        else resolve({ code: -1, stdout, stderr: `${stderr}${error.message}` });
      });
    });
  }
}

/** crun, podman's own choice, refuses machines that have both versions of cgroups. */
const RUNTIME: readonly string[] = ['--runtime', 'runc', '--cgroup-manager', 'cgroupfs'];
/** What a machine without a registry, whose root is confined itself, needs. */
const CONFINED: readonly string[] = [
  '--pull=never',
  // Podman's own limits are higher than a confined root may set.
  '--ulimit=nofile=4096:4096',
  '--ulimit=nproc=4096:4096',
];
const RESTRICTED: readonly string[] = [
  ...CONFINED,
  '--network=host',
  '--read-only',
  // Else podman mounts /tmp and /run writable over a read-only root.
  '--read-only-tmpfs=false',
  '--cap-drop=all',
  '--security-opt=no-new-privileges',
];
const NODE_RUNS: readonly string[] = ['--rm', '--entrypoint=/usr/local/bin/node'];
const DEVELOPMENT = 'dev';

function tagged(image: string, tag: string = DEVELOPMENT): string {
  return `localhost/${image}:${tag}`;
}

/** The first that works here: layers by the kernel, else by copies. */
async function withStorage(
  folder: TempDir,
  make: (driver: string) => ContainerHost,
): Promise<Opened> {
  const problems: string[] = [];
  for (const driver of ['overlay', 'vfs']) {
    const host = make(driver);
    const problem = await host.tryStorage();
    if (problem === undefined) return { ok: true, host };
    problems.push(`${driver}: ${problem}`);
  }
  return { ok: false, reason: `no storage for images in ${folder.path}: ${problems.join('; ')}` };
}

function storageConf(folder: string, driver: string): string {
  return [
    '[storage]',
    `driver = "${driver}"`,
    `graphroot = "${folder}/${driver}"`,
    `runroot = "${folder}/run-${driver}"`,
    // A mount over itself would keep the folder from being removed after a crash.
    ...(driver === 'overlay' ? ['[storage.options.overlay]', 'skip_mount_home = "true"'] : []),
    '',
  ].join('\n');
}
