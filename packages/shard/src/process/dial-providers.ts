// The provider set of a real process: one client, cursor, removal scope and failure domain each,
// one source of fencing tokens for all. Dialling is lazy: a provider that is down at start is a
// failed List, never a failed start.

import type { Runtime } from '@bigfleet/base';
import { type Logger, stableMessages } from '@bigfleet/telemetry';
import { type TlsMaterial, TokenSource } from '@bigfleet/wire';
import { ProviderDirectory } from '../ownership/provider-directory.ts';
import type { ConnectedProvider, ConnectProvider } from '../ownership/registry-follower.ts';
import { dialProvider } from '../provider/dial.ts';
import { ProviderSet } from '../provider/provider-set.ts';
import { ProviderSource } from '../provider/provider-source.ts';
import { WorkerScans } from '../provider/scan/worker-scans.ts';
import type { DurableFile } from '../rails/durable-file.ts';
import type { FakeSettings } from '../testing/fake-fleet.ts';
import type { ProcessSettings } from './process-settings.ts';
import { type ProviderTarget, readProvidersFile } from '../ownership/provider-targets.ts';

export interface DialProvidersOptions {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly settings: ProcessSettings;
  readonly epoch: bigint;
  readonly tls: TlsMaterial | undefined;
  readonly providersFile: DurableFile;
  /** What the reconcile thread measured of itself. */
  readonly onThreadDeltas: (deltas: Float64Array) => void;
}

export interface DialledProviders {
  readonly providers: ProviderSet;
  /** Where each provider is, and who said so. */
  readonly directory: ProviderDirectory;
  /** For entries that the registry adds later; undefined when the set is fixed. */
  readonly connect: ConnectProvider | undefined;
  readonly connected: ReadonlyMap<string, ConnectedProvider>;
  /** Whatever was connected, then or since. */
  close(): Promise<void>;
}

export async function dialProviders(options: DialProvidersOptions): Promise<DialledProviders> {
  const { settings, providersFile } = options;
  const { providers: source } = settings;
  switch (source.kind) {
    case 'fake':
      return fakeProviders(options, source.fake);
    case 'flags':
      return dialAll(options, source.targets, 'flag');
    case 'stored':
      return dialAll(options, await readProvidersFile(providersFile), 'registry');
  }
}

function dialAll(
  options: DialProvidersOptions,
  targets: readonly ProviderTarget[],
  source: 'flag' | 'registry',
): DialledProviders {
  const { runtime, logger, tls, settings, epoch } = options;
  const { fencing, mode, scans } = sharedParts(options);
  const open = new Set<ConnectedProvider>();
  const connect: ConnectProvider = ({ name, address }) => {
    logger.log(stableMessages.dialingProvider.level, stableMessages.dialingProvider.text, {
      addr: address,
      shard_id: settings.shardId,
      epoch: String(epoch),
      provider: name,
    });
    const keepalive = settings.providerKeepalive;
    const dialled = dialProvider({ runtime, address, fencing, keepalive, tls });
    const line = scans.connect(address);
    const { asker } = line;
    const client = {
      source: new ProviderSource({ name, provider: dialled.provider, mode, asker }),
      close: () => {
        open.delete(client);
        dialled.close();
        line.close();
      },
    };
    open.add(client);
    return client;
  };
  const connected = new Map(targets.map((target) => [target.name, connect(target)]));
  const entries = targets.map(
    ({ name, address, region = '', isShared = false, isRetiring = false }) => {
      const isSharedBySome = isShared || settings.isProviderShared;
      return [name, { address, region, source, isShared: isSharedBySome, isRetiring }] as const;
    },
  );
  return {
    providers: new ProviderSet([...connected.values()].map((client) => client.source)),
    directory: new ProviderDirectory(entries),
    connect: source === 'registry' ? connect : undefined,
    connected,
    close: async () => {
      for (const client of open) client.close();
      await scans.close();
    },
  };
}

async function fakeProviders(
  options: DialProvidersOptions,
  settings: FakeSettings,
): Promise<DialledProviders> {
  const { runtime, logger } = options;
  const { fencing: tokens, mode, scans } = sharedParts(options);
  const { createFakeFleet } = await import('../testing/fake-fleet.ts');
  const fleet = createFakeFleet({ runtime, logger, tokens, settings });
  const { provider } = fleet;
  return {
    providers: new ProviderSet([new ProviderSource({ name: 'fake', provider, mode, scans })]),
    directory: new ProviderDirectory([
      ['fake', { address: '', source: 'fake', isShared: false, region: '', isRetiring: false }],
    ]),
    connect: undefined,
    connected: new Map(),
    close: async () => {
      fleet.close();
      await scans.close();
    },
  };
}

interface SharedParts {
  readonly fencing: TokenSource;
  readonly mode: 'full' | 'incremental';
  /** One thread for all providers: their Lists wait for each other, the sockets for none. */
  readonly scans: WorkerScans;
}

function sharedParts(options: DialProvidersOptions): SharedParts {
  const { runtime, logger, settings, epoch, tls, onThreadDeltas } = options;
  return {
    fencing: new TokenSource(settings.shardId, epoch),
    mode: settings.shard.isIncremental ? 'incremental' : 'full',
    scans: new WorkerScans({
      runtime,
      keepalive: settings.providerKeepalive,
      tls,
      onThreadDeltas,
      onLost: (error) => logger.error('the reconcile thread was lost', { err: error }),
    }),
  };
}
