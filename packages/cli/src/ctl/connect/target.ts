// Addresses as they are written and registered: `host:port`, `[v6]:port`, `unix:/path`. A shard that
// was told no host registers `:7780`, which means its own machine: from here that is only right on
// the same one, and a failing dial then says where it went.

export interface HostPort {
  readonly host: string;
  readonly port: string;
}

export function hostPortOf(target: string): HostPort | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:/]*)):(\d{1,5})$/.exec(target);
  if (match === null) return undefined;
  const [, v6, name, port = ''] = match;
  return { host: v6 ?? name ?? '', port };
}

export function joinHostPort(host: string, port: string): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** What can be dialled; undefined when it is no address at all. */
export function dialTarget(address: string): string | undefined {
  if (/^unix:./.test(address)) return address;
  const parts = hostPortOf(address);
  if (parts === undefined) return undefined;
  return parts.host === '' ? joinHostPort('localhost', parts.port) : address;
}
