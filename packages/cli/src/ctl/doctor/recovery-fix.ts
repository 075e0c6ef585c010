// What to do about a recovery that waits, by the coordinator's own words: a line of recovering_providers
// is a provider's address, or the address, a colon and a space, and what it waits for. Words that are
// not known here, of a newer coordinator, are shown as they are.

export interface RecoveryLine {
  readonly provider: string;
  /** Empty: for nothing but time. */
  readonly waitsFor: string;
}

export function parseRecovery(line: string): RecoveryLine {
  const at = line.indexOf(': ');
  return at < 0
    ? { provider: line, waitsFor: '' }
    : { provider: line.slice(0, at), waitsFor: line.slice(at + 2) };
}

interface RecoveryFix {
  readonly severity: 'warning' | 'error';
  readonly fix: string;
}

const WAIT: RecoveryFix = {
  severity: 'warning',
  fix: 'Wait until every shard has reported; remove shards that are gone for good.',
};

export function recoveryFix(waitsFor: string): RecoveryFix {
  const silent = /^waits for shard (\S+), which has not/.exec(waitsFor)?.[1];
  if (silent !== undefined) {
    const fix = `Start it; if it is gone for good: bigfleetctl remove-shard --shard=${silent}`;
    return { severity: 'warning', fix };
  }
  const unknown = /^waits for shard (\S+), unknown to/.exec(waitsFor)?.[1];
  if (unknown !== undefined) {
    const remove = `bigfleetctl remove-shard --shard=${unknown} --yes`;
    return { severity: 'error', fix: `Start it; if its process is stopped for good: ${remove}` };
  }
  const disputed = /^waits for a decision: (\w+) (\S+) is claimed/.exec(waitsFor);
  if (disputed === null) return WAIT;
  return { severity: 'error', fix: `Say who keeps it: ${decision(disputed[1], disputed[2])}` };
}

function decision(kind: string | undefined, name = ''): string {
  switch (kind) {
    case 'domain': {
      const at = name.indexOf('=');
      const domain = `--key=${name.slice(0, at)} --value=${name.slice(at + 1)}`;
      return `bigfleetctl assign-domain ${domain} --shard=<id>`;
    }
    case 'machine':
      return `bigfleetctl settle --machine=${name} --shard=<id>`;
    case 'home':
      return `bigfleetctl settle --home=${name} --shard=<id>`;
    default:
      return `bigfleetctl register-provider --name=${name} …`;
  }
}
