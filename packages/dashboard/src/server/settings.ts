// What a dashboard is told at its start.

import path from 'node:path';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { TeamPattern } from '../model/index.ts';
import type { Listening } from './http/http-server.ts';
import type { RegisteredShard } from './sources/coordinator-reader.ts';

export interface DashboardSettings {
  readonly listen: Listening;
  /** Followed whatever the coordinator says. */
  readonly shards: readonly RegisteredShard[];
  /** Replicas of the coordinator; empty is none. */
  readonly coordinators: readonly string[];
  /** Shard → the directory of its decision records and traces. */
  readonly recordsDirs: ReadonlyMap<string, string>;
  /** Labels that name a machine's rack, the first that it carries. */
  readonly rackLabels: readonly string[];
  /** Whose clusters are whose; the first pattern that matches. */
  readonly teams: readonly TeamPattern[];
  /** Provider → the report.json of its conformance run. */
  readonly conformanceReports: ReadonlyMap<string, string>;
  /** Supply that somebody simulates: marked on every page. */
  readonly isSimulated: boolean;
  /** The folder of the built web app; undefined is where a build puts it. */
  readonly webDir: string | undefined;
  readonly allowedHosts: readonly string[];
  readonly maxStreams: number;
  /** For pictures of past moments, and for decision records. */
  readonly historyBytes: number;
  readonly recordsBytes: number;
  readonly tls: {
    readonly cert: string;
    readonly key: string;
    readonly ca: string;
    readonly requireTls: boolean;
  };
  readonly build: { readonly version: string; readonly revision: string };
}

/** Where a build puts the web app: of a checkout, of the published package, of an image. */
const WEB_DIRS = ['../../dist/web', '../web', './web'];

export function builtWebDir(): string {
  const here = path.dirname(fileURLToPath(import.meta.url));
  const folders = WEB_DIRS.map((relative) => path.resolve(here, relative));
  const [first = here] = folders;
  return folders.find((folder) => existsSync(path.join(folder, 'index.html'))) ?? first;
}
