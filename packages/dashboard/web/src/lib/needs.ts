// How a need reads: what it asks for and where it may run, in the words of a person and short enough for a
// table. The exact text stands in titles and on the Explain page.

/** `4 gpu, 30.4 cpu, 160 Gi memory`: devices first, since they tell needs apart and a table cuts the end. */
export function resourceText(resources: Readonly<Record<string, string>>): string {
  return Object.entries(resources)
    .toSorted(([a], [b]) => Number(b.includes('/')) - Number(a.includes('/')))
    .map(([name, amount]) => `${quantityText(amount, isBytes(name))} ${withoutDomain(name)}`)
    .join(', ');
}

/** As the cluster wrote it: `cpu 30400m, memory 160Gi`. */
export function exactResources(resources: Readonly<Record<string, string>>): string {
  return Object.entries(resources)
    .map(([name, amount]) => `${name} ${amount}`)
    .join(', ');
}

/** Kubernetes quantities: a number, and a power of 1000 or of 1024. */
const QUANTITY = /^([+-]?\d+(?:\.\d+)?)(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$/;
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const DECIMAL = ['', 'k', 'M', 'G', 'T', 'P', 'E'];
const byFraction = [0, 1, 2].map(
  (maximumFractionDigits) => new Intl.NumberFormat('en-US', { maximumFractionDigits }),
);
const tiny = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 2 });

/** Three digits say enough in a table; a little is not nothing. */
function rounded(size: number): string {
  if (Math.abs(size) < 0.01) return tiny.format(size);
  const fraction = Math.abs(size) < 10 ? 2 : Math.abs(size) < 100 ? 1 : 0;
  return byFraction[fraction]?.format(size) ?? String(size);
}

/** `30400m` is 30.4, `1536Gi` is 1.5 Ti; what is no quantity stays as it is. */
export function quantityText(quantity: string, isOfBytes = false): string {
  const [, digits, unit = ''] = QUANTITY.exec(quantity) ?? [];
  if (digits === undefined) return quantity;
  if (unit === 'm') return rounded(Number(digits) / 1_000);
  const isBinary = unit.endsWith('i') || (unit === '' && isOfBytes);
  const units = isBinary ? BINARY : DECIMAL;
  let power = units.indexOf(unit);
  let size = Number(digits);
  // A count stays a count: 1,200 cpu, not 1.2 k.
  if (unit === '' && !isOfBytes) return rounded(size);
  const base = isBinary ? 1_024 : 1_000;
  while (Math.abs(size) >= base && power < units.length - 1) {
    size /= base;
    power += 1;
  }
  return `${rounded(size)} ${units[power] || 'B'}`;
}

function isBytes(resource: string): boolean {
  return /^(?:memory|ephemeral-storage|hugepages-)/.test(resource);
}

function withoutDomain(label: string): string {
  return label.slice(label.lastIndexOf('/') + 1);
}

const REQUIREMENT = /^(\S+) (\S+)(?: \[(.*)\])?$/;

/**
 * Requirements as places and types: `c6i.4xlarge; zone-a or zone-b`. A label that lists what is allowed is
 * known by its values; any other keeps its name.
 */
export function requirementsText(requirements: readonly string[]): string {
  return requirements.map(requirementText).join('; ');
}

function requirementText(requirement: string): string {
  const [, key = '', operator = '', list = ''] = REQUIREMENT.exec(requirement) ?? [];
  const label = withoutDomain(key);
  const values = list.split(', ').join(' or ');
  switch (operator) {
    case 'In':
      // Nothing is allowed: only its own words say so.
      if (values === '') return requirement;
      return isTold(label) ? values : `${label} ${values}`;
    case 'NotIn':
      return `${label} not ${values}`;
    case 'Exists':
      return `has ${label}`;
    case 'DoesNotExist':
      return `no ${label}`;
    case 'Same':
      return `same ${label}`;
    default:
      return requirement;
  }
}

/** Labels whose values say by themselves what they are. */
function isTold(label: string): boolean {
  return ['instance-type', 'zone', 'region'].includes(label);
}

/** For sorting: an infinite penalty stands above every sum. */
export function penaltyOrder(bucket: string): number {
  const dollars = Number(bucket);
  return Number.isNaN(dollars) ? Infinity : dollars;
}
