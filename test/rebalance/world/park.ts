// The machines behind the one provider of both shards. Each kind of metal is wanted by nobody but the
// test that names it, so that no move waits for the rest after another one. All start in the zone of
// the giver, but for the base machines, which each shard has for itself.

export const LEFT_ZONE = 'zone-left';
export const RIGHT_ZONE = 'zone-right';
export const BASE_TYPE = 'base';
export const CLOUD_TYPE = 'cloud';
/** Bare metal, idle from the start; all in the right zone. */
export const METAL_TYPES: readonly string[] = Array.from({ length: 8 }, (_, at) => `metal-${at}`);
export const METAL_COUNT = 4;
const CLOUD_COUNT = 4;
export const CORES = 4;

export interface ParkMachine {
  readonly id: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: 'BareMetal' | 'OnDemand';
}

export function parkMachines(): readonly ParkMachine[] {
  const zones = [LEFT_ZONE, RIGHT_ZONE];
  return [
    ...zones.flatMap((zone) => machines(BASE_TYPE, zone, 'BareMetal', 1)),
    ...zones.flatMap((zone) => machines(CLOUD_TYPE, zone, 'OnDemand', CLOUD_COUNT)),
    ...METAL_TYPES.flatMap((type) => machines(type, RIGHT_ZONE, 'BareMetal', METAL_COUNT)),
  ];
}

function machines(
  instanceType: string,
  zone: string,
  capacityType: ParkMachine['capacityType'],
  count: number,
): readonly ParkMachine[] {
  return Array.from({ length: count }, (_, at) => ({
    id: `${instanceType}/${zone}/${at}`,
    instanceType,
    zone,
    capacityType,
  }));
}
