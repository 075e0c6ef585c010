// A kubeconfig file as kubectl reads it: clusters, users and contexts by name, `$KUBECONFIG` as a list
// of files whose first mention of a name wins, relative paths from the file that names them. Written
// here, because loading it through the common client costs a process more memory than the operator
// has for everything (record 0088). Legacy auth providers are refused by name: clouds replaced them
// with exec plugins.

import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { BigFleetError, type Clock, describeThrown } from '@bigfleet/base';
import { parseYaml } from '@bigfleet/process';
import { Secret } from '@bigfleet/telemetry';
import type { ClusterAccess, CredentialSource, ServerVerification } from './access.ts';
import { ExecCredentials, type ExecPlugin } from './exec-plugin.ts';
import { certificateFiles, fixedCredentials, TokenFile } from './credential-files.ts';
import { inClusterAccess, isInCluster } from './in-cluster.ts';

export interface AccessOptions {
  /** `--kubeconfig`; empty: `$KUBECONFIG`, then in-cluster, then the home directory's file. */
  readonly kubeconfig: string;
  /** `--context`; empty: the file's current one. */
  readonly context?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Refuses an address without TLS: tokens and secrets would pass in the clear. */
  readonly requireTls?: boolean | undefined;
}

/** Where and who the process is, decided in kubectl's order. */
export async function clusterAccess(options: AccessOptions): Promise<ClusterAccess> {
  const access = await foundAccess(options);
  if (options.requireTls === true && access.server.protocol !== 'https:') {
    const problem = `TLS is required, and the API server is ${access.server.origin}`;
    throw new BigFleetError('kube_insecure', problem);
  }
  return access;
}

async function foundAccess(options: AccessOptions): Promise<ClusterAccess> {
  const named = options.kubeconfig === '' ? (options.env['KUBECONFIG'] ?? '') : options.kubeconfig;
  if (named !== '') return fromFiles(named.split(path.delimiter).filter(Boolean), options);
  if (isInCluster(options.env)) return inClusterAccess(options.env);
  return fromFiles([path.join(homedir(), '.kube', 'config')], options);
}

async function fromFiles(files: readonly string[], options: AccessOptions): Promise<ClusterAccess> {
  const configs = await Promise.all(files.map(readConfig));
  const contextName = options.context ?? firstText(configs, 'current-context');
  if (contextName === '') fail(files[0], 'no current-context, and no --context');
  const context = entry(configs, { list: 'contexts', item: 'context', name: contextName });
  const cluster = entry(configs, {
    list: 'clusters',
    item: 'cluster',
    name: text(context, 'cluster'),
  });
  const userName = text(context, 'user');
  const user =
    userName === ''
      ? { file: context.file, value: {} }
      : entry(configs, { list: 'users', item: 'user', name: userName });
  return {
    server: serverOf(cluster),
    tls: await verificationOf(cluster),
    credentials: await credentialsOf(user, options),
    namespace: text(context, 'namespace') || 'default',
  };
}

/** A mapping of one file; paths in it are relative to that file. */
interface Part {
  readonly file: string;
  readonly value: Readonly<Record<string, unknown>>;
}

async function readConfig(file: string): Promise<Part> {
  const content = await readFile(file, 'utf8').catch((error: unknown) =>
    fail(file, describeThrown(error)),
  );
  const parsed = parseYaml(content);
  if (!parsed.ok) return fail(file, parsed.error);
  if (!isMapping(parsed.value)) return fail(file, 'not a mapping');
  return { file, value: parsed.value };
}

interface EntryName {
  readonly list: 'clusters' | 'contexts' | 'users';
  readonly item: 'cluster' | 'context' | 'user';
  readonly name: string;
}

function entry(configs: readonly Part[], { list, item, name }: EntryName): Part {
  for (const { file, value } of configs) {
    const entries: unknown = value[list];
    if (!Array.isArray(entries)) continue;
    const found: unknown = entries.find((one) => isMapping(one) && one['name'] === name);
    if (isMapping(found) && isMapping(found[item])) return { file, value: found[item] };
  }
  return fail(configs[0]?.file, `no ${item} named ${JSON.stringify(name)}`);
}

function firstText(configs: readonly Part[], key: string): string {
  return configs.map((config) => text(config, key)).find((found) => found !== '') ?? '';
}

function serverOf(cluster: Part): URL {
  const server = text(cluster, 'server');
  if (!URL.canParse(server)) return fail(cluster.file, `server is not a URL: ${server}`);
  const url = new URL(server);
  if (!/^https?:$/.test(url.protocol)) fail(cluster.file, `server is not http or https: ${server}`);
  if (text(cluster, 'proxy-url') !== '') fail(cluster.file, 'proxy-url is not supported');
  return url;
}

async function verificationOf(cluster: Part): Promise<ServerVerification> {
  if (cluster.value['insecure-skip-tls-verify'] === true) {
    fail(cluster.file, 'insecure-skip-tls-verify is refused; give certificate-authority-data');
  }
  return {
    ca: await dataOrFile(cluster, 'certificate-authority'),
    servername: text(cluster, 'tls-server-name') || undefined,
    rejectUnauthorized: true,
  };
}

async function credentialsOf(user: Part, options: AccessOptions): Promise<CredentialSource> {
  if (isMapping(user.value['auth-provider'])) {
    const name = String(user.value['auth-provider']['name']);
    return fail(user.file, `auth-provider ${name} is not supported; use an exec plugin`);
  }
  if (isMapping(user.value['exec'])) {
    return new ExecCredentials(execOf({ file: user.file, value: user.value['exec'] }), options);
  }
  const tokenFile = text(user, 'tokenFile');
  if (tokenFile !== '') return new TokenFile(resolved(user, tokenFile));
  const cert = text(user, 'client-certificate');
  const key = text(user, 'client-key');
  if (cert !== '' && key !== '') {
    return certificateFiles(resolved(user, cert), resolved(user, key));
  }
  return fixedCredentials(await fixedOf(user));
}

async function fixedOf(user: Part): Promise<Parameters<typeof fixedCredentials>[0]> {
  const token = text(user, 'token');
  if (token !== '') return { bearerToken: new Secret(token) };
  const certPem = await dataOrFile(user, 'client-certificate');
  const keyPem = await dataOrFile(user, 'client-key');
  if (certPem !== undefined && keyPem !== undefined) {
    return { certificate: { certPem, keyPem: new Secret(keyPem) } };
  }
  if (certPem !== undefined || keyPem !== undefined) {
    fail(user.file, 'client-certificate and client-key must come together');
  }
  const name = text(user, 'username');
  if (name === '') return {};
  const pair = Buffer.from(`${name}:${text(user, 'password')}`).toString('base64');
  return { basic: new Secret(pair) };
}

function execOf(part: Part): ExecPlugin {
  const command = text(part, 'command');
  if (command === '') fail(part.file, 'exec without a command');
  const pairs = Array.isArray(part.value['env']) ? part.value['env'].filter(isMapping) : [];
  const args: unknown = part.value['args'];
  return {
    apiVersion: text(part, 'apiVersion'),
    // As kubectl: a path is relative to the file, a bare name is looked up in PATH.
    command: command.includes('/') ? resolved(part, command) : command,
    args: Array.isArray(args) ? args.map(String) : [],
    env: Object.fromEntries(pairs.map((pair) => [String(pair['name']), String(pair['value'])])),
    installHint: text(part, 'installHint'),
  };
}

async function dataOrFile(part: Part, key: string): Promise<string | undefined> {
  const data = text(part, `${key}-data`);
  if (data !== '') return Buffer.from(data, 'base64').toString('utf8');
  const file = text(part, key);
  if (file === '') return undefined;
  return readFile(resolved(part, file), 'utf8').catch((error: unknown) =>
    fail(part.file, `${key}: ${describeThrown(error)}`),
  );
}

function resolved(part: Part, file: string): string {
  return path.resolve(path.dirname(part.file), file);
}

function text(part: Part, key: string): string {
  const value = part.value[key];
  return typeof value === 'string' ? value : '';
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fail(file: string | undefined, problem: string): never {
  throw new BigFleetError('kubeconfig_invalid', `kubeconfig ${file ?? ''}: ${problem}`);
}
